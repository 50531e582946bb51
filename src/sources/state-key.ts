import { createHash } from "node:crypto";

/** Keys have 200 characters at most; a provider's ids have no limit. */
const LONGEST_ID = 150;

/** The state key for this id. */
export function stateKeyOf(kind: string, id: string): string {
  const isLong = id.length > LONGEST_ID;
  return `${kind}:${isLong ? createHash("sha256").update(id).digest("base64url") : id}`;
}
