import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deriveFolderKey, FOLDER_KEY_FILE, makeOperatorProof, OPERATOR_HEADER } from "#core/operator-proof.ts";

/** The header of somebody who can read a data folder. */
export function operatorOf(dataDir: string): Record<string, string> {
  const key = deriveFolderKey(readFileSync(join(dataDir, FOLDER_KEY_FILE)), "operator");
  return { [OPERATOR_HEADER]: makeOperatorProof(key, Date.now()) };
}
