import { accessSync, closeSync, constants, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { ApiError } from "#api/errors.ts";
import { deriveFolderKey, FOLDER_KEY_BYTES, FOLDER_KEY_FILE } from "#core/operator-proof.ts";
import { closeToOthers, makeFolder, type Readers } from "./private-files.ts";
import { isBusy } from "./failure.ts";

/** The purpose of a sub-key. Two purposes never share key material. */
export type KeyPurpose = "cursor" | "vault" | "oauth" | "instance" | "operator" | "check";

/** Derives 32 bytes for one purpose from the installation's key. */
export type DeriveKey = (purpose: KeyPurpose) => Uint8Array;

/** The folder with all data of this server, locked by this process. */
export type DataFolder = ReturnType<typeof openDataFolder>;

/**
 * Opens the data folder, creates it if needed, makes it private and locks it, so that only one server uses it.
 *
 * @throws ApiError `data_folder_unusable` when it can't be written or made private, or when its database is lost;
 * `data_folder_in_use` when another server has it
 */
export function openDataFolder(path: string, readers: Readers = "owner") {
  makeWritable(path);
  const closed = closeToOthers(path, readers);
  const databaseFile = join(path, "kb.db");
  const keyFile = join(path, FOLDER_KEY_FILE);
  const release = lock(path);
  try {
    requireDatabase(databaseFile, keyFile);
  } catch (error) {
    release();
    throw error;
  }
  return {
    path,
    databaseFile,
    /** Paths that other users of this machine could read until now. */
    closed,
    /**
     * Returns the installation's key. Creates it if the database isn't used yet.
     *
     * @param isUsed whether the database holds anything that was sealed or signed with a key
     * @throws ApiError `data_folder_unusable` when the key of a used database is missing
     */
    openKey: (isUsed: boolean): DeriveKey => openKey(keyFile, { databaseFile, isUsed }),
    /** Unlocks the folder for other processes. */
    release,
  };
}

/**
 * Reads the keys of a data folder, even while a server uses it.
 *
 * @throws ApiError `data_folder_unusable` when its key file is missing or damaged
 */
export function readFolderKey(path: string): DeriveKey {
  return openKey(join(path, FOLDER_KEY_FILE), { databaseFile: join(path, "kb.db"), isUsed: true });
}

function makeWritable(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new ApiError("data_folder_unusable", {
      message: `The data folder ${path} can't be written. Choose another with --data-dir, or give this user write permission there.`,
      cause,
    });
  }
}

/**
 * Takes an exclusive lock on `<folder>/lock`. It uses SQLite's own file lock, because the operating system releases
 * that lock whenever the process dies; a pid file would outlive a kill -9.
 */
function lock(path: string): () => void {
  const file = join(path, "lock");
  let db: DatabaseSyncInstance | undefined;
  try {
    // The file is created as private, because SQLite makes its files readable by everyone.
    closeSync(openSync(file, "a", 0o600));
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec("PRAGMA locking_mode=EXCLUSIVE");
    db.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    db?.close();
    if (!isBusy(cause)) {
      throw new ApiError("data_folder_unusable", {
        message: `${file} can't be opened (${cause instanceof Error ? cause.message : String(cause)}). Give this user read and write permission for everything in the data folder.`,
        cause,
      });
    }
    throw new ApiError("data_folder_in_use", {
      message: `Another kb server is using the data folder ${path}. Stop it (kb stop), or start this one with another --data-dir.`,
      cause,
    });
  }
  const held = db;
  return () => held.close();
}

/**
 * Checks that the database isn't lost. The key is created after the database, so a key, or a log of changes, without a
 * database means that the database was lost.
 */
function requireDatabase(databaseFile: string, keyFile: string): void {
  if (sizeOf(databaseFile) > 0) return;
  const sign = [keyFile, `${databaseFile}-wal`].find((file) => sizeOf(file) > 0);
  if (sign === undefined) return;
  const what = sizeOf(databaseFile) === 0 ? "is empty" : "is missing";
  throw new ApiError("data_folder_unusable", {
    message: `The database ${databaseFile} ${what}, but ${sign} shows that it was used. Restore the data folder from a backup. To start over without the old data, move everything out of the folder.`,
  });
}

function openKey(file: string, { databaseFile, isUsed }: { databaseFile: string; isUsed: boolean }): DeriveKey {
  if (sizeOf(file) === -1) {
    if (isUsed) {
      throw new ApiError("data_folder_unusable", {
        message: `The key file ${file} is missing, and ${databaseFile} was used with it. Restore it from a backup. Without one, run "umask 077 && openssl rand -out ${file} ${FOLDER_KEY_BYTES}", then "kb admin accept-key": then stored credentials of connectors are lost, and clients sign in again.`,
      });
    }
    writeFileSync(file, randomBytes(FOLDER_KEY_BYTES), { mode: 0o600, flag: "wx" });
  }
  const key = readFileSync(file);
  if (key.length !== FOLDER_KEY_BYTES) {
    throw new ApiError("data_folder_unusable", {
      message: `The key file ${file} has ${key.length} bytes instead of ${FOLDER_KEY_BYTES}. Restore it from a backup.`,
    });
  }
  return (purpose) => deriveFolderKey(key, purpose);
}

/** Returns the size in bytes; -1 when the file doesn't exist. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? -1;
}
