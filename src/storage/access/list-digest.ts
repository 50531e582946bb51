import { hash } from "node:crypto";

/**
 * The look-up key of a stored list of principals: 48 bits, so two lists may share one. It is stored in the database;
 * another function needs a migration.
 */
export function listDigest(workspaceId: string, principals: string): number {
  return Number.parseInt(hash("sha256", `${workspaceId}\n${principals}`, "hex").slice(0, 12), 16);
}
