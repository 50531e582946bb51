/** Creates folders and files that no other user of this machine can read. */
import { chmodSync, mkdirSync, readdirSync, statSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";

/** Who may read the data folder: only its owner, or also the folder's group. */
export type Readers = "owner" | "group";

/**
 * The files that kb writes at the top of its data folder. The group, if it has access, can read files with `isShared`.
 */
const OWN_FILES: readonly { name: string; isShared: boolean }[] = [
  ...["kb.db", "kb.db-wal", "kb.db-shm", "kb.db-journal", "secret.key", "lock", "lock-journal"].map(shared),
  ...["server.log", "server.log.1"].map(shared),
  // The first admin's password that `quickstart` created, and its process.
  { name: "admin.json", isShared: false },
  { name: "server.json", isShared: false },
];

/** Files that may be in any folder. Next to kb's own files, they don't show whose folder it is. */
const OF_ANYBODY = /^(?:\..*|lost\+found|server\.yaml|git)$/;

const STICKY = 0o1000;

/** Returns the umask that makes new files as private as `readers` requires. */
export function umaskFor(readers: Readers): number {
  return readers === "group" ? 0o027 : 0o077;
}

/**
 * Creates a folder and its missing parents with mode 0700. It creates them one at a time from the top, because Node's
 * own recursive `mkdir` never returns below a folder that fails with ENOENT, such as /proc.
 */
export function makeFolder(path: string): void {
  const above = dirname(path);
  if (above !== path && !isThere(above)) makeFolder(above);
  if (!isThere(path)) mkdirSync(path, { mode: 0o700 });
}

/**
 * Removes other users' access to the data folder and kb's files in it.
 *
 * @returns the paths that other users could read until now
 * @throws ApiError `data_folder_unusable` when that fails, or when the folder isn't kb's own
 */
export function closeToOthers(folder: string, readers: Readers): string[] {
  // Windows has no mode bits.
  if (process.platform === "win32") return [];
  const group = { mode: 0o750, allowed: 0o770 };
  const closed = setMode(folder, readers === "group" ? group : { mode: 0o700, allowed: 0o700 }, requireOwn);
  const files = OWN_FILES.flatMap(({ name, isShared }) => {
    const path = join(folder, name);
    const isOpen = isShared && readers === "group";
    return setMode(path, isOpen ? { mode: 0o640, allowed: 0o770 } : { mode: 0o600, allowed: 0o700 });
  });
  return [...closed, ...files];
}

/**
 * Sets the path's mode. If that is refused, bits within `allowed` may stay, because a volume often belongs to root and
 * to the group of the server's user.
 */
function setMode(
  path: string,
  wanted: { mode: number; allowed: number },
  check: (path: string, stats: Stats) => void = () => undefined,
): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & 0o777) === wanted.mode) return [];
  const isOpen = (stats.mode & 0o077 & ~wanted.mode) !== 0;
  if (isOpen) check(path, stats);
  const cause = tryChmod(path, (stats.mode & ~0o777) | wanted.mode);
  const left = statSync(path).mode & 0o777;
  if ((left & ~wanted.allowed) === 0) return isOpen && left === wanted.mode ? [path] : [];
  throw unusable(
    `Other users can read ${path}, and kb can't change that (mode ${left.toString(8)}). Run "chmod ${wanted.mode.toString(8)} ${path}" as its owner, or choose another folder with --data-dir.`,
    cause,
  );
}

/** Checks that the folder is kb's own: making a folder with other people's files private would lock them out. */
function requireOwn(folder: string, { mode }: Stats): void {
  const names = readdirSync(folder);
  const isOwn = (name: string) => OF_ANYBODY.test(name) || OWN_FILES.some((own) => own.name === name);
  const isUsed = names.some((name) => name === "kb.db" || name === "secret.key");
  if ((mode & STICKY) === 0 && (isUsed || names.every(isOwn))) return;
  throw unusable(
    `Other users can read the data folder ${folder}, and it contains files that are not kb's. Give kb its own folder with --data-dir, or run "chmod 700 ${folder}".`,
  );
}

function tryChmod(path: string, mode: number): unknown {
  try {
    chmodSync(path, mode);
    return undefined;
  } catch (error) {
    return error;
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function shared(name: string) {
  return { name, isShared: true };
}

function unusable(message: string, cause?: unknown): ApiError {
  return new ApiError("data_folder_unusable", { message, ...defined({ cause }) });
}
