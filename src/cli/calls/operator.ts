/**
 * Proves to a server that a command runs where its data folder can be read. A command there, run by a user who can read it, is treated as the
 * operator's.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  deriveFolderKey,
  FOLDER_KEY_BYTES,
  FOLDER_KEY_FILE,
  makeOperatorProof,
  OPERATOR_HEADER,
} from "#core/operator-proof.ts";
import type { Deps } from "#cli/host/deps.ts";

/**
 * Makes the header that proves access to a data folder. Returns no header when the folder can't be read, so that the server reports what is missing.
 *
 * @param dataDir  of the called server
 */
export async function operatorHeaders(
  dataDir: string,
  { clock }: Pick<Deps, "clock">,
): Promise<Record<string, string>> {
  const key = await readFile(join(dataDir, FOLDER_KEY_FILE)).catch(() => undefined);
  if (key?.length !== FOLDER_KEY_BYTES) return {};
  return { [OPERATOR_HEADER]: makeOperatorProof(deriveFolderKey(key, "operator"), clock.now()) };
}
