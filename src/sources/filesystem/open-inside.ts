/**
 * The only functions that open a root's files. Every read of sync, browse, original and watcher uses `openInside` or
 * `openFolderInside`, so no check can be forgotten and no link can be replaced between check and use. Source: S36.
 */
import { constants, fstatSync, readlinkSync, watch, type BigIntStats, type Dirent, type FSWatcher } from "node:fs";
import { lstat, open, readdir, realpath, type FileHandle } from "node:fs/promises";
import { ApiError } from "#api/errors.ts";
import { findShortage } from "#core/shortage.ts";
import { segmentOf } from "#sources/file-scope/paths.ts";
import {
  absolutePath,
  errorCode,
  identityOf,
  isCleanRelativePath,
  isForbidden,
  isWithin,
  systemPath,
  type RootFolder,
} from "./root.ts";

/**
 * An open folder, which the caller closes. Its results refer to the folder that was opened, even if the path now leads
 * elsewhere.
 */
export type OpenFolder = Awaited<ReturnType<typeof openFolderInside>>;

/**
 * Opens the regular file with this id.
 *
 * @throws ApiError `source_not_found` if the root contains no such file (links, FIFOs, other devices, forbidden folders
 * and paths outside the root are treated as missing), `source_unavailable` if the disk fails, `resources_exhausted`
 */
export async function openInside(root: RootFolder, rel: string) {
  const { handle, stats } = await openVerified(root, rel, FILE_FLAGS, (found) => found.isFile());
  return {
    stats,
    /** Reads all bytes of the file. @throws ApiError `payload_too_large` beyond `maxBytes` */
    read: (maxBytes: number): Promise<Uint8Array> => readAll(handle, rel, Number(stats.size), maxBytes),
    /** Reads the file in chunks. The file is closed at the end, and when reading stops early. */
    pieces: (maxBytes: number): AsyncGenerator<Uint8Array, void> => readPieces(handle, rel, maxBytes),
    close: (): Promise<void> => handle.close(),
  };
}

/** Opens the folder with this id; `""` is the root. Throws the same errors as `openInside`. */
export async function openFolderInside(root: RootFolder, rel: string) {
  const { handle, stats, path } = await openVerified(root, rel, FOLDER_FLAGS, (found) => found.isDirectory());
  // Linux exposes the open folder under a separate path, so names and stats are read through the open folder, as with
  // openat(2). On other systems, the path is used again. Content is still safe there, since it is read through
  // `openInside`.
  const place = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path.toString();
  return {
    stats,
    /** Returns the id segments of the names in the folder, in code unit order. */
    names: async (): Promise<string[]> => (await namesIn(place)).sort(byCodeUnits),
    /** Returns the names with their kinds, without an `lstat` of each, in code unit order. */
    entries: async (): Promise<{ name: string; isFolder: boolean; isFile: boolean }[]> =>
      (await entriesIn(place)).sort((a, b) => byCodeUnits(a.name, b.name)),
    lstat: (segment: string): Promise<BigIntStats> => lstat(systemPath(place, segment), { bigint: true }),
    /**
     * Watches for changes of names directly in the folder, or also below it with `isRecursive`. Reports null for an
     * unknown name. The watch continues after `close`, and never keeps the process alive. It reports only names:
     * nothing is read. Throws the system's error.
     */
    watch: (
      onChange: (name: string | null) => void,
      { isRecursive }: { isRecursive: boolean } = { isRecursive: false },
    ): FSWatcher => {
      const options = { persistent: false, recursive: isRecursive } as const;
      // Node's own recursive watch reports names only as text.
      if (isRecursive) return watch(path, options, (_type, name) => onChange(name));
      return watch(place, { ...options, encoding: "buffer" }, (_type, name) => onChange(name && segmentOf(name)));
    },
    close: (): Promise<void> => handle.close(),
  };
}

/**
 * Lists the names in a folder. Node decodes names as UTF-8, with U+FFFD for invalid bytes. Only if a name contains
 * U+FFFD is the folder listed again, as bytes.
 */
async function namesIn(place: string): Promise<string[]> {
  const names = await readdir(place);
  return names.some(isDoubtful) ? (await readdir(place, { encoding: "buffer" })).map(segmentOf) : names;
}

async function entriesIn(place: string): Promise<{ name: string; isFolder: boolean; isFile: boolean }[]> {
  const found = await readdir(place, { withFileTypes: true });
  const kindOf = (entry: Pick<Dirent, "isDirectory" | "isFile">) => ({
    isFolder: entry.isDirectory(),
    isFile: entry.isFile(),
  });
  if (!found.some(({ name }) => isDoubtful(name)))
    return found.map((entry) => ({ name: entry.name, ...kindOf(entry) }));
  const named = await readdir(place, { withFileTypes: true, encoding: "buffer" });
  return named.map((entry) => ({ name: segmentOf(entry.name), ...kindOf(entry) }));
}

function isDoubtful(name: string): boolean {
  return name.includes("\ufffd");
}

/** Compares two names in the order of the walk: by UTF-16 code units, which is the same in every locale. */
export function byCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

// O_NONBLOCK: opening a FIFO without a writer would block forever. O_NOCTTY: a terminal must not become the process's
// controlling terminal.
const FILE_FLAGS =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const FOLDER_FLAGS = FILE_FLAGS | (constants.O_DIRECTORY ?? 0);
const COMPARISONS = 8;
const READ_CHUNK_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

async function openVerified(
  root: RootFolder,
  rel: string,
  flags: number,
  isWanted: (stats: BigIntStats) => boolean,
): Promise<{ handle: FileHandle; stats: BigIntStats; path: string | Buffer }> {
  const judged = absolutePath(root, rel);
  const isInside = rel === "" || isCleanRelativePath(rel);
  if (!isInside || !isWithin(judged, root.path) || isForbidden(judged, root.forbidden)) throw notFound(rel);

  const path = systemPath(root.path, rel);
  const handle = await open(path, flags).catch((cause: unknown) => {
    throw openFailure(rel, cause);
  });
  try {
    // `open` has just looked the file up, so the system answers this call too without reading the disk
    // (`isWhereItSeems`).
    const stats = fstatSync(handle.fd, { bigint: true });
    if (!isWanted(stats) || stats.dev !== root.dev) throw notFound(rel);
    if (!(await isWhereItSeems(handle, stats, path))) throw notFound(rel);
    if (rel === "" && identityOf(stats) !== root.identity) throw notFound(rel);
    return { handle, stats, path };
  } catch (error) {
    await handle.close();
    throw error instanceof ApiError ? error : openFailure(rel, error);
  }
}

/**
 * Whether the open file really is at `path`. The handle may have come through a link in a parent folder, or through a
 * link that another process swaps back and forth as fast as it can. On Linux, the system reports where an open file is,
 * which is safe from races. Measured: comparing with `stat` of the real path instead let 4 of 2,000 reads through (the
 * path was real for `realpath`, and a link again for `stat`). On other systems only the comparison is available, so it
 * must succeed several times in a row.
 */
async function isWhereItSeems(handle: FileHandle, stats: BigIntStats, path: string | Buffer): Promise<boolean> {
  const bytes = Buffer.from(path);
  // The kernel answers from memory, whatever disk the file is on. A round trip to another thread would cost more.
  if (process.platform === "linux") return readlinkSync(`/proc/self/fd/${handle.fd}`, "buffer").equals(bytes);
  for (let round = 0; round < COMPARISONS; round++) {
    const isReal = (await realpath(path, "buffer")).equals(bytes);
    if (!isReal || identityOf(await lstat(path, { bigint: true })) !== identityOf(stats)) return false;
  }
  return true;
}

async function readAll(handle: FileHandle, rel: string, sizeHint: number, maxBytes: number): Promise<Uint8Array> {
  // One extra byte beyond the size reveals a file that grew.
  let bytes = Buffer.allocUnsafe(Math.min(sizeHint, maxBytes) + 1);
  let length = 0;
  for (;;) {
    if (length > maxBytes) throw tooLarge(rel, maxBytes);
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.allocUnsafe(READ_CHUNK_BYTES)]);
    const wanted = Math.min(bytes.length - length, READ_CHUNK_BYTES, maxBytes + 1 - length);
    const { bytesRead } = await handle.read(bytes, length, wanted, length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    // The read returned exactly as many bytes as the system reported, although more were requested. This is the end of
    // the file, without another call.
    if (bytesRead < wanted && length === sizeHint) return bytes.subarray(0, length);
  }
}

async function* readPieces(handle: FileHandle, rel: string, maxBytes: number): AsyncGenerator<Uint8Array, void> {
  try {
    for (let length = 0; ;) {
      const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      const { bytesRead } = await handle.read(piece, 0, piece.length, length);
      if (bytesRead === 0) return;
      length += bytesRead;
      if (length > maxBytes) throw tooLarge(rel, maxBytes);
      yield piece.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

function tooLarge(rel: string, maxBytes: number): ApiError {
  return new ApiError("payload_too_large", { message: `${rel} is larger than ${maxBytes} bytes.` });
}

function notFound(rel: string, cause?: unknown): ApiError {
  return new ApiError("source_not_found", {
    message: `This folder has no readable file or folder ${JSON.stringify(rel)}.`,
    cause,
  });
}

const ABSENT = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO", "EISDIR", "ENAMETOOLONG", "EINVAL", "ENODEV"]);

function openFailure(rel: string, cause: unknown): ApiError {
  const shortage = findShortage(cause);
  if (shortage) return shortage;
  const code = errorCode(cause);
  if (code !== undefined && ABSENT.has(code)) return notFound(rel, cause);
  if (code === "EACCES" || code === "EPERM") {
    return new ApiError("source_not_found", {
      message: `kb's user has no permission to read ${JSON.stringify(rel)}.`,
      details: { denied: true },
      cause,
    });
  }
  return new ApiError("source_unavailable", {
    message: `Reading ${JSON.stringify(rel)} failed (${code ?? "unknown error"}).`,
    cause,
  });
}
