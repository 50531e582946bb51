/** Translates the database's errors for callers. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { ApiError } from "#api/errors.ts";
import { shortageOf } from "#core/shortage.ts";
import { UNWRITABLE_RETRY_MS } from "./unless-unwritable.ts";

/** SQLite's result codes. Source: https://www.sqlite.org/rescode.html */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
/** Code for a lack of space for the WAL's shared memory. */
const IOERR_SHMSIZE = 4874;
/** errno values: no space left, and quota exceeded. */
const NO_ROOM = new Set([28, 122]);
/** errno values: too many open files, in the system and in this process. */
const NO_FILES: ReadonlyMap<number, string> = new Map([
  [23, "ENFILE"],
  [24, "EMFILE"],
]);

/** True when another process or connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return codesOf(error)?.primary === BUSY;
}

/**
 * Translates an error for callers: `storage_full` when nothing more can be written, `database_unusable` when the file
 * is damaged or unreachable, `resources_exhausted` when no more files can be opened. Any other error is returned
 * unchanged.
 */
export function explainFailure(error: unknown): unknown {
  const codes = codesOf(error);
  if (codes === undefined) return isNoRoom(error) ? storageFull(error) : error;
  const { primary, extended, system } = codes;
  if (primary === FULL || extended === IOERR_SHMSIZE || (primary === IOERR && NO_ROOM.has(system))) {
    return storageFull(error);
  }
  if (![CORRUPT, NOTADB, IOERR, CANTOPEN, READONLY].includes(primary)) return error;
  const noFile = primary === CANTOPEN ? findNoFile(system) : undefined;
  if (noFile !== undefined) return shortageOf(noFile, error);
  const reason = error instanceof Error ? error.message : String(error);
  return new ApiError([CORRUPT, NOTADB].includes(primary) ? "database_damaged" : "database_unusable", {
    message: `The server's database is unavailable (${reason}). Contact your administrator.`,
    cause: error,
  });
}

/**
 * Returns the errno code if a file couldn't be opened for lack of file descriptors. If the driver gives no reason,
 * tests whether a file can be opened now.
 */
function findNoFile(system: number): string | undefined {
  if (system !== 0) return NO_FILES.get(system);
  try {
    closeSync(openSync(devNull, "r"));
    return undefined;
  } catch (error) {
    return error instanceof Error && "errno" in error ? NO_FILES.get(-Number(error.errno)) : undefined;
  }
}

/** Runs `work`. Translates its errors and passes them to `note`. */
export function explaining<T>(work: () => T, note: (error: unknown) => void): T {
  try {
    return work();
  } catch (thrown) {
    const error = explainFailure(thrown);
    note(error);
    throw error;
  }
}

/** Explains to the server's operator why the file couldn't be opened. */
export function explainOpening(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || error instanceof ApiError) return error;
  const codes = codesOf(error);
  const isOfSystem = "syscall" in error;
  const explained = explainFailure(error);
  if (!isOfSystem && !(explained instanceof ApiError)) return error;
  const isFull = explained instanceof ApiError && explained.code === "storage_full";
  const isDamaged = codes !== undefined && [CORRUPT, NOTADB].includes(codes.primary);
  const next = isDamaged
    ? "It is damaged. Restore it from a backup."
    : isFull
      ? "Free space on its disk."
      : "Check its disk, and that this user can read and write the file and its folder.";
  return new ApiError(isFull ? "storage_full" : isDamaged ? "database_damaged" : "database_unusable", {
    message: `The database ${file} can't be opened (${error.message}). ${next}`,
    cause: error,
  });
}

/** Recognizes the system's own error for a file next to the database. */
function isNoRoom(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

function storageFull(cause: unknown): ApiError {
  return new ApiError("storage_full", {
    message:
      "The server's disk is full and nothing was stored. Tell your administrator, and try again when there is space.",
    retryAfterMs: UNWRITABLE_RETRY_MS,
    cause,
  });
}

/**
 * SQLite's message for each code, because the driver reports only the message when it reads a statement's rows. Source:
 * https://www.sqlite.org/rescode.html
 */
const WORDS: ReadonlyMap<string, number> = new Map([
  ["database is locked", BUSY],
  ["attempt to write a readonly database", READONLY],
  ["disk I/O error", IOERR],
  ["database disk image is malformed", CORRUPT],
  ["database or disk is full", FULL],
  ["unable to open database file", CANTOPEN],
  ["file is not a database", NOTADB],
]);

function codesOf(error: unknown): { primary: number; extended: number; system: number } | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!("sqliteCode" in error)) {
    const primaryCode = "code" in error && error.code === "ERR_SQLITE_ERROR" ? WORDS.get(error.message) : undefined;
    return primaryCode === undefined ? undefined : { primary: primaryCode, extended: primaryCode, system: 0 };
  }
  const { sqliteCode } = error;
  const extended = "sqliteExtendedCode" in error ? Number(error.sqliteExtendedCode) : Number(sqliteCode);
  const system = "systemErrno" in error ? Number(error.systemErrno) : 0;
  return { primary: Number(sqliteCode) & 0xff, extended, system };
}
