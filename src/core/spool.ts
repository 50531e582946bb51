import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "#api/errors.ts";

/** Bytes of a file, in memory or, if there are many, in a spool file. */
export type HeldBytes = Uint8Array | SpooledBytes;

/** Bytes in an unlinked file. The reader must close them; the file's space is then free. */
export type SpooledBytes = ReturnType<typeof makeSpooled>;

/** Writes bytes that arrive in chunks. */
export interface SpoolWriter {
  /** Queues a chunk for writing, in the order of the calls. The chunk must not change until it is written. */
  write(piece: Uint8Array): void;
  /** Resolves when all queued chunks are written, or when one can't be written. Never rejects. */
  written(): Promise<void>;
  /** Why a chunk can't be written: the disk is full or fails. */
  readonly fault: ApiError | undefined;
  /** Returns the written bytes, split into pieces of these lengths. Nothing may be written afterwards. */
  end(lengths: readonly number[]): SpooledBytes[];
  /** Discards the written bytes. */
  abandon(): void;
}

export type Spool = ReturnType<typeof makeSpool>;

/** Bytes up to this size stay in memory. */
export const SPOOLED_FROM_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

/**
 * Stores bytes that are too many for memory in files of a folder. Each file is unlinked as soon as it is open, so
 * neither a killed process nor a copy of the folder leaves any of its bytes behind. Source: S44.
 *
 * @param folder  created with mode 0700 when it is first needed
 */
export function makeSpool(folder: string, openFile = () => openNameless(folder)) {
  return {
    /** Returns a writer that writes bytes into a file as they arrive. */
    begin: (): SpoolWriter => makeWriter(openFile),
    /**
     * Stores the chunks. Stops reading and returns undefined when they exceed `maxBytes`.
     *
     * @throws ApiError `storage_full`, `database_unusable` when the disk accepts no more; errors of the chunks
     */
    async keep(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<HeldBytes | undefined> {
      let small: Uint8Array[] = [];
      let writer: SpoolWriter | undefined;
      let length = 0;
      try {
        for await (const piece of pieces) {
          length += piece.length;
          if (length > maxBytes) return undefined;
          small.push(piece);
          if (length <= SPOOLED_FROM_BYTES) continue;
          writer ??= makeWriter(openFile);
          for (const each of small) writer.write(each);
          small = [];
          await writer.written();
          if (writer.fault) throw writer.fault;
        }
        if (writer === undefined) return small.length === 1 && small[0] ? small[0] : Buffer.concat(small, length);
        const [kept] = writer.end([length]);
        writer = undefined;
        return kept;
      } finally {
        writer?.abandon();
      }
    },
    /** Removes files of a process that was killed between opening and unlinking a file. */
    clear(): void {
      let names: string[];
      try {
        names = readdirSync(folder);
      } catch {
        // The folder was never needed.
        return;
      }
      for (const name of names) rmSync(join(folder, name), { force: true });
    },
  };
}

async function openNameless(folder: string): Promise<FileHandle> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomBytes(12).toString("hex"));
  const handle = await open(path, "wx+", 0o600);
  try {
    await unlink(path);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Returns the first bytes, at most `most`. */
export async function firstOf(bytes: HeldBytes, most: number): Promise<Uint8Array> {
  for await (const piece of piecesOf(bytes)) return piece.subarray(0, most);
  return new Uint8Array();
}

/** Releases bytes that are no longer read. Bytes in memory are garbage-collected. */
export function letGo(bytes: HeldBytes): void {
  if (!(bytes instanceof Uint8Array)) bytes.close();
}

/** Yields the bytes chunk by chunk, whether they are in memory or in a file. */
export async function* piecesOf(bytes: HeldBytes): AsyncGenerator<Uint8Array, void> {
  if (bytes instanceof Uint8Array) yield bytes;
  else yield* bytes.pieces();
}

/** Reads the bytes into memory, for callers that need them all at once, and always closes them. */
export async function takeWhole(bytes: HeldBytes): Promise<Uint8Array> {
  if (bytes instanceof Uint8Array) return bytes;
  try {
    const whole = Buffer.allocUnsafeSlow(bytes.length);
    let at = 0;
    for await (const piece of bytes.pieces()) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  } finally {
    bytes.close();
  }
}

function makeWriter(openFile: () => Promise<FileHandle>): SpoolWriter {
  const file = shareFile(openFile());
  let fault: ApiError | undefined;
  let last: Promise<void> = Promise.resolve();
  let length = 0;

  async function writeAt(piece: Uint8Array, at: number): Promise<void> {
    if (fault) return;
    try {
      const handle = await file.handle;
      for (let done = 0; done < piece.length;) {
        const { bytesWritten } = await handle.write(piece, done, piece.length - done, at + done);
        done += bytesWritten;
      }
    } catch (error) {
      fault ??= toFault(error);
    }
  }

  return {
    write(piece) {
      const at = length;
      length += piece.length;
      last = last.then(() => writeAt(piece, at));
    },
    written: () => last,
    get fault() {
      return fault;
    },
    end(lengths) {
      let from = 0;
      const held = lengths.map((each) => {
        const start = from;
        from += each;
        return makeSpooled(file, start, each);
      });
      // The writer gives up its own hold on the file.
      file.release();
      return held;
    },
    abandon: () => file.release(),
  };
}

/**
 * A file with several holders. It is closed when the last one releases it and the operations in progress have finished.
 */
type SharedFile = ReturnType<typeof shareFile>;

function shareFile(opening: Promise<FileHandle>) {
  let holders = 1;
  // The writer reports the failure.
  opening.catch(() => undefined);
  return {
    handle: opening,
    hold: (): void => void holders++,
    release(): void {
      if (--holders !== 0) return;
      // Closing waits for reads and writes in progress. An error is ignored, because an unlinked file has nothing to
      // lose.
      opening.then((handle) => handle.close()).catch(() => undefined);
    },
  };
}

function makeSpooled(file: SharedFile, start: number, length: number) {
  let isClosed = false;
  file.hold();
  return {
    length,
    /** Reads all bytes from the beginning, at any time until they are closed. */
    async *pieces(): AsyncGenerator<Uint8Array, void> {
      const handle = await file.handle;
      for (let at = 0; at < length;) {
        if (isClosed) throw new Error("The spooled bytes are closed.");
        const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, length - at));
        const { bytesRead } = await handle.read(piece, 0, piece.length, start + at);
        if (bytesRead === 0) throw new Error("The spooled bytes end early.");
        at += bytesRead;
        yield piece.subarray(0, bytesRead);
      }
    },
    close(): void {
      if (!isClosed) file.release();
      isClosed = true;
    },
  };
}

const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

function toFault(cause: unknown): ApiError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  if (FULL.has(code)) {
    const message = "The disk of kb's data folder is full. Free some space; kb reads the file again by itself.";
    return new ApiError("storage_full", { message, cause });
  }
  const message = `kb's data folder can't take a file that is being read (${code}). Check the disk; kb tries again by itself.`;
  return new ApiError("database_unusable", { message, cause });
}
