import { createHmac } from "node:crypto";
import type { RandomBytes } from "#core/clock.ts";

/** The metadata of a delivery that is signed together with its body. */
export interface SignedHeaders {
  "webhook-id": string;
  "webhook-timestamp": string;
  "webhook-signature": string;
}

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** Makes a new secret in the form that a receiver enters: `whsec_` and 32 random bytes in base64. */
export function makeSigningSecret(randomBytes: RandomBytes): string {
  return PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString("base64");
}

/**
 * Signs a body with each secret. A receiver that has any of them can verify the sender and the time.
 *
 * @param at  when this try is sent, in epoch milliseconds; a receiver refuses deliveries older than some minutes
 * Source: https://www.standardwebhooks.com.
 */
export function sign(
  { id, at, body }: { id: string; at: number; body: string },
  secrets: readonly string[],
): SignedHeaders {
  const timestamp = String(Math.floor(at / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}
