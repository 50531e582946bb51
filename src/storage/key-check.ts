import { ApiError } from "#api/errors.ts";
import type { DeriveKey } from "./data-folder.ts";

/** What the database keeps of the key that it was used with. */
export interface KeyRecords {
  findKeyCheck(): Promise<string | undefined>;
  noteKeyCheck(check: string): Promise<void>;
}

/**
 * Compares the key of the data folder with the one that its database was used with before, and notes it the first time:
 * with another key the server would start, and find out later that no stored credential can be decrypted.
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

/** Notes the present key as the one of this database. */
export async function noteKey(records: KeyRecords, deriveKey: DeriveKey): Promise<void> {
  await records.noteKeyCheck(checkOf(deriveKey));
}

/** A key of its own for this purpose: nobody gets from it to another one. */
function checkOf(deriveKey: DeriveKey): string {
  return Buffer.from(deriveKey("check")).toString("base64url");
}
