import { createHash } from "node:crypto";

/**
 * Returns a short digest of a value, for use as a version or as part of a version. Different values have different
 * digests.
 */
export function digestOf(value: unknown, length: number): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, length);
}
