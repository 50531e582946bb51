import { hash } from "node:crypto";

/**
 * Returns the look-up key of a stored list of principals: 48 bits, so two lists may have the same key. The key is
 * stored in the database, so changing this function requires a migration.
 */
export function listDigest(workspaceId: string, principals: string): number {
  return Number.parseInt(hash("sha256", `${workspaceId}\n${principals}`, "hex").slice(0, 12), 16);
}
