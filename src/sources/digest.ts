import { createHash } from "node:crypto";

/** A short digest of a value, as a version or a part of one: another value has another one. */
export function digestOf(value: unknown, length: number): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, length);
}
