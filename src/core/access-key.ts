import { hash } from "node:crypto";
import type { SourceAccess } from "./principals.ts";

/**
 * Returns a key that is equal for accesses that admit the same people. The order of the lists and of the names in them
 * doesn't matter.
 */
export function accessKeyOf(access: SourceAccess): string {
  if (!access.known) return "nobody";
  const lists = access.all.map((list) => JSON.stringify([...new Set(list)].sort()));
  return hash("sha256", [...new Set(lists)].sort().join("\n"), "base64url").slice(0, 22);
}
