import { readHookJson, type WebhookRequest, hmacOf, isSame } from "#sources/webhook.ts";

/**
 * Verifies an administrator's webhook. The signature is the delivery's id, since the body contains the time. `body` is
 * undefined if the body is signed but isn't JSON.
 */
export function readSigned(
  secret: string,
  { headers, rawBody }: WebhookRequest,
): { delivery: string; body: unknown } | "refused" {
  const delivery = `sha256=${hmacOf(secret, rawBody)}`;
  return isSame(headers.get("x-hub-signature"), delivery) ? { delivery, body: readHookJson(rawBody) } : "refused";
}
