/** Small private JSON files: only their owner can read them, and they are replaced atomically. */
import { mkdir, open, readFile, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { CliFailure, failure } from "./failure.ts";

/**
 * Reads the object in a file; undefined when the file doesn't exist.
 *
 * @throws CliFailure when it can't be read, or isn't a JSON object
 */
export async function readStateFile(path: string): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw failure(
      "usage",
      "settings_unreadable",
      `${path} can't be read (${error.code}).`,
      "Give this user read permission, or choose another folder with KB_CONFIG_DIR.",
      { cause: error },
    );
  });
  if (text === undefined) return undefined;
  const value = parseObject(text);
  if (value !== undefined) return value;
  throw new CliFailure({
    code: "settings_invalid",
    exit: 2,
    message: `${path} is not a JSON object.`,
    hint: `Fix it, or move it away: mv ${path} ${path}.broken`,
  });
}

/**
 * Creates a folder and its missing parents, mode 0700. It creates one folder at a time from the top, because Node's own recursive `mkdir` never
 * returns below a folder that fails with ENOENT, as /proc does.
 *
 * @throws CliFailure when that isn't possible
 */
export async function makeFolder(path: string): Promise<void> {
  const above = dirname(path);
  if (above !== path && !(await isThere(above))) await makeFolder(above);
  await mkdir(path, { mode: 0o700 }).catch(async (cause: NodeJS.ErrnoException) => {
    // Another process may create it at the same moment.
    if (cause.code === "EEXIST" && (await stat(path)).isDirectory()) return;
    throw failure(
      "unreachable",
      "folder_unusable",
      `The folder ${path} can't be made (${cause.code}).`,
      "Choose another one, or give this user write permission there.",
      { cause },
    );
  });
}

const UNWRITABLE = new Set(["file_unwritable", "folder_unusable"]);

/**
 * True for failures because files can't be written there: the folder is read-only, on a full disk, or belongs to another user. Checked by code,
 * because lazily loaded modules have separate copies of the classes in the built program.
 */
export function isUnwritable(error: unknown): error is CliFailure {
  return error instanceof Error && "code" in error && UNWRITABLE.has(String(error.code));
}

/** Converts a system error on writing to a failure with that explanation; any other error is returned unchanged. */
export function unwritable(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || !("syscall" in cause) || !("code" in cause)) return cause;
  return failure(
    "failure",
    "file_unwritable",
    `${path} can't be written (${String(cause.code)}).`,
    "Make room, or give this user write permission in that folder.",
    { cause },
  );
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/**
 * Writes an object with mode 0600 into a folder of mode 0700, so that a reader sees either the complete old object or the complete new one.
 *
 * @throws CliFailure when files can't be written to the folder
 */
export async function writeStateFile(path: string, value: Record<string, unknown>): Promise<void> {
  await makeFolder(dirname(path));
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await fill(await open(temporary, "wx", 0o600), value);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw unwritable(path, error);
  }
}

/** Creates a file with mode 0600 that contains this object; returns false when it already exists. */
export async function createStateFile(path: string, value: Record<string, unknown>): Promise<boolean> {
  await makeFolder(dirname(path));
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") return undefined;
    throw error;
  });
  if (file !== undefined) await fill(file, value);
  return file !== undefined;
}

async function fill(file: FileHandle, value: Record<string, unknown>): Promise<void> {
  try {
    await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Returns the file's mode (such as "0644") when other users of this machine can read or change it. Windows has no mode bits. */
export async function modeForOthers(path: string, platform: NodeJS.Platform): Promise<string | undefined> {
  if (platform === "win32") return undefined;
  const info = await stat(path).catch(() => undefined);
  if (info === undefined || (info.mode & 0o077) === 0) return undefined;
  return `0${(info.mode & 0o777).toString(8)}`;
}

/** Parses a JSON object from text; undefined when it is anything else. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // The cast is safe because an object that is neither null nor an array has string keys.
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Text that isn't JSON also returns undefined.
    return undefined;
  }
}

/** Returns the value if it is an object; undefined when it is anything else. */
export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return parseObject(JSON.stringify(value ?? null));
}

/** Returns the value as text; undefined when it isn't a string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
