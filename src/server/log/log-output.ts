/** Log output that lets the server continue when its log fails. */
import { close, closeSync, fstatSync, open, openSync, renameSync, write } from "node:fs";
import { promisify } from "node:util";

/** Accepts log lines. Lines that can't be written are dropped and counted. */
export interface LogOutput {
  /** Accepts one line that ends with a line break. Never throws and never waits. */
  write(line: string): void;
  /**
   * Resolves when all accepted lines are written or dropped, or after `waitMs`.
   *
   * @returns the number of lines lost since the last notice
   */
  flush(waitMs: number): Promise<number>;
}

export interface LogOutputOptions {
  /** Writes some of these bytes. @returns the number written */
  append(bytes: Uint8Array): Promise<number>;
  /** Returns the line that reports how many lines were lost. It is written as soon as the log works again. */
  notice(lost: number): string;
}

/** The maximum number of bytes that wait for a slow reader. When more wait, new lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** The number of bytes per write. A failure loses at most this many. */
const CHUNK_BYTES = 64 * 1024;

/** Writes lines in order, one write at a time, off the main thread. A blocked reader doesn't block the server. */
export function makeLogOutput({ append, notice }: LogOutputOptions): LogOutput {
  const waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let isMidLine = false;
  let running: Promise<void> | undefined;

  async function put(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await append(bytes.subarray(at));
      isMidLine = bytes[at - 1] !== NEWLINE;
    }
  }

  async function putChunk(lines: readonly Uint8Array[]): Promise<void> {
    const reported = lost;
    try {
      const head = `${isMidLine ? "\n" : ""}${reported > 0 ? notice(reported) : ""}`;
      if (head !== "") await put(Buffer.from(head));
      lost -= reported;
      await put(Buffer.concat(lines));
    } catch {
      // The failure can't be logged now. The next line that can be written says how many lines are missing.
      lost += lines.length;
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const lines = takeChunk(waiting);
      waitingBytes -= sizeOf(lines);
      await putChunk(lines);
    }
    running = undefined;
  }

  return {
    write(line) {
      const bytes = Buffer.from(line);
      if (waitingBytes + bytes.length > MAX_WAITING_BYTES) {
        lost += 1;
        return;
      }
      waiting.push(bytes);
      waitingBytes += bytes.length;
      running ??= drain();
    },
    async flush(waitMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMs)));
      await Promise.race([running, late]);
      clearTimeout(timer);
      return lost + waiting.length;
    },
  };
}

/** Returns why lines can't be appended to this file, as the system's message; undefined if they can. */
export function findFileFault(path: string): string | undefined {
  try {
    closeSync(openSync(path, "a", 0o600));
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
}

/** Returns a function that appends to an open descriptor, such as standard output. */
export function appendTo(fd: number): LogOutputOptions["append"] {
  return (bytes) => writeAsync(fd, bytes);
}

/**
 * Appends to a file with mode 0600. When the file would grow beyond `maxBytes`, it is renamed to `<path>.1`, and one
 * previous file is kept. The file is reopened after a failure, so the log resumes when its folder is back.
 */
export function appendToFile(path: string, maxBytes: number): LogOutputOptions["append"] {
  let file: { fd: number; size: number } | undefined;
  return async (bytes) => {
    if (file !== undefined && file.size > 0 && file.size + bytes.length > maxBytes) {
      await closeAsync(file.fd);
      file = undefined;
      renameSync(path, `${path}.1`);
    }
    file ??= await openFile(path, maxBytes);
    try {
      const written = await writeAsync(file.fd, bytes);
      file.size += written;
      return written;
    } catch (error) {
      const { fd } = file;
      file = undefined;
      await closeAsync(fd);
      throw error;
    }
  };
}

const NEWLINE = 10;
const openAsync = promisify(open);
const closeAsync = promisify(close);

async function openFile(path: string, maxBytes: number): Promise<{ fd: number; size: number }> {
  const fd = await openAsync(path, "a", 0o600);
  const { size } = fstatSync(fd);
  if (size < maxBytes) return { fd, size };
  await closeAsync(fd);
  renameSync(path, `${path}.1`);
  return { fd: await openAsync(path, "a", 0o600), size: 0 };
}

function writeAsync(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => (error === null ? resolve(written) : reject(error)));
  });
}

function takeChunk(waiting: Uint8Array[]): Uint8Array[] {
  let count = 0;
  for (let bytes = 0; count < waiting.length; count++) {
    bytes += waiting[count]?.length ?? 0;
    if (count > 0 && bytes > CHUNK_BYTES) break;
  }
  return waiting.splice(0, count);
}

function sizeOf(lines: readonly Uint8Array[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}
