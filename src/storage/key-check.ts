import { ApiError } from "#api/errors.ts";
import type { DeriveKey } from "./data-folder.ts";

/** The database's record of the key with which it was used. */
export interface KeyRecords {
  findKeyCheck(): Promise<string | undefined>;
  noteKeyCheck(check: string): Promise<unknown>;
}

/**
 * Compares the key of the data folder with the one with which the database was used before, and records it the first
 * time. With another key, the server would start and only later find that it can't decrypt stored credentials.
 *
 * @throws ApiError `data_folder_unusable` for another key
 */
export async function requireSameKey(records: KeyRecords, deriveKey: DeriveKey, folder: string): Promise<void> {
  const known = await records.findKeyCheck();
  if (known === undefined) return noteKey(records, deriveKey);
  if (known === checkOf(deriveKey)) return;
  throw new ApiError("data_folder_unusable", {
    message: `The key file in ${folder} (secret.key) is not the one that its database was used with. Restore it from a backup of this folder. If it is lost, run "kb admin accept-key --data-dir ${folder}": then stored credentials of connectors are lost, and clients sign in again.`,
  });
}

/** Records the current key as the key of this database. */
export async function noteKey(records: KeyRecords, deriveKey: DeriveKey): Promise<void> {
  await records.noteKeyCheck(checkOf(deriveKey));
}

/** Returns a sub-key for this purpose only. No other sub-key can be derived from it. */
function checkOf(deriveKey: DeriveKey): string {
  return Buffer.from(deriveKey("check")).toString("base64url");
}
