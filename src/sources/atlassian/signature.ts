import { createHmac, timingSafeEqual } from "node:crypto";
import { readHookJson, type WebhookRequest } from "#sources/webhook.ts";

/**
 * Verifies an administrator's webhook. The delivery's id is its signature, since the body contains the time. `body` is
 * undefined if it is signed but isn't JSON.
 */
export function readSigned(
  secret: string,
  { headers, rawBody }: WebhookRequest,
): { delivery: string; body: unknown } | "refused" {
  const told = Buffer.from(headers.get("x-hub-signature") ?? "");
  const expected = Buffer.from(`sha256=${createHmac("sha256", secret).update(rawBody).digest("hex")}`);
  if (told.length !== expected.length || !timingSafeEqual(told, expected)) return "refused";
  return { delivery: told.toString("latin1"), body: readHookJson(rawBody) };
}
