import { createHash } from "node:crypto";

/** The longest id that is part of a state key. A key has at most 200 characters, but a provider's ids have no limit. */
const LONGEST_ID = 150;

/** Returns the state key for this id. */
export function stateKeyOf(kind: string, id: string): string {
  const isLong = id.length > LONGEST_ID;
  return `${kind}:${isLong ? createHash("sha256").update(id).digest("base64url") : id}`;
}
