import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hkdfSync, randomBytes } from "node:crypto";
import { DatabaseSync } from "@photostructure/sqlite";
import { ApiError } from "#api/errors.ts";

/** What a sub-key is for; two purposes never share key material. */
export type KeyPurpose = "cursor" | "vault" | "oauth";

/** The folder that holds everything this server keeps, locked for this process. */
export interface DataFolder {
  path: string;
  databaseFile: string;
  /** 32 bytes for one purpose, derived from the installation's key. */
  deriveKey(purpose: KeyPurpose): Uint8Array;
  /** Lets another process use the folder. */
  release(): void;
}

const KEY_BYTES = 32;

/**
 * Opens (and makes, 0700) the data folder and locks it: one server per folder.
 *
 * @throws ApiError `data_folder_unusable` when it can't be written or its key can be read by others,
 *   `data_folder_in_use` when another server has it
 */
export function openDataFolder(path: string): DataFolder {
  makeWritable(path);
  const release = lock(path);
  try {
    const key = readKey(join(path, "secret.key"));
    return {
      path,
      databaseFile: join(path, "kb.db"),
      deriveKey: (purpose) => new Uint8Array(hkdfSync("sha256", key, "kb", purpose, KEY_BYTES)),
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

function makeWritable(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new ApiError("data_folder_unusable", {
      message: `The data folder ${path} can't be written. Choose another with --data-dir, or give this user the right to write there.`,
      cause,
    });
  }
}

/**
 * Takes an exclusive lock on `<folder>/lock`. SQLite's own file lock is used because the operating system drops it
 * when the process dies, however it dies; a pid file would outlive a kill -9.
 */
function lock(path: string): () => void {
  const db = new DatabaseSync(join(path, "lock"), { timeout: 0 });
  try {
    db.exec("PRAGMA locking_mode=EXCLUSIVE");
    db.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    db.close();
    throw new ApiError("data_folder_in_use", {
      message: `Another kb server is using the data folder ${path}. Stop it (kb stop), or start this one with another --data-dir.`,
      cause,
    });
  }
  return () => db.close();
}

function readKey(file: string): Uint8Array {
  if (!existsSync(file)) {
    writeFileSync(file, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx" });
    chmodSync(file, 0o600);
  }
  const { mode } = statSync(file);
  if ((mode & 0o077) !== 0) {
    throw new ApiError("data_folder_unusable", {
      message: `The key file ${file} can be read by other users. Run "chmod 600 ${file}", and replace the key if others had access.`,
    });
  }
  const key = readFileSync(file);
  if (key.length !== KEY_BYTES) {
    throw new ApiError("data_folder_unusable", {
      message: `The key file ${file} has ${key.length} bytes instead of ${KEY_BYTES}. Restore it from a backup.`,
    });
  }
  return key;
}
