import { createHash } from "node:crypto";

/** Keys have 200 characters at most, and the ids of a provider as many as it likes. */
const LONGEST_ID = 150;

/** Under which key the state has something of this id. */
export function stateKeyOf(kind: string, id: string): string {
  const isLong = id.length > LONGEST_ID;
  return `${kind}:${isLong ? createHash("sha256").update(id).digest("base64url") : id}`;
}
