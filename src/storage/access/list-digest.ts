import { hash } from "node:crypto";

/**
 * What a list of principals is found by, as it is stored: 48 bits, so two lists may have the same one. It stands in the
 * database; another function needs a migration.
 */
export function listDigest(workspaceId: string, principals: string): number {
  return Number.parseInt(hash("sha256", `${workspaceId}\n${principals}`, "hex").slice(0, 12), 16);
}
