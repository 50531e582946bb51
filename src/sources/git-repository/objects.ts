import { unavailable } from "#sources/errors.ts";
import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { bytesOf, hasByteSegment } from "#sources/file-scope/paths.ts";
import { type GitProgram, startGit } from "./program.ts";

/** An id of an object, or a path in a commit. */
export type ObjectName = string | Buffer;

/** Returns the name of the object at a path of a commit. */
export function objectAt(commit: string, path: string): ObjectName {
  const name = `${commit}:`;
  return hasByteSegment(path) ? Buffer.concat([Buffer.from(name), bytesOf(path)]) : `${name}${path}`;
}

/** The id, type and size of an object. */
export interface ObjectInfo {
  oid: string;
  type: string;
  size: number;
}

/** Reads objects of one mirror with one long-lived git process. Answers come in the order of the requests. */
export interface ObjectReader {
  /**
   * Returns an object's data; undefined if the mirror doesn't have the object. `name` is an object id or a result of
   * `objectAt`, and must be one line.
   */
  info(name: ObjectName): Promise<ObjectInfo | undefined>;
  /** Returns an object's contents; undefined if the object is missing or is larger than `maxBytes`. */
  contents(name: ObjectName, maxBytes: number): Promise<Buffer | undefined>;
  /**
   * Returns the contents, in chunks if they are large. The caller reads the chunks to their end or stops early. Other
   * requests wait until then.
   */
  open(name: ObjectName, maxBytes: number): Promise<Buffer | AsyncGenerator<Buffer, void> | undefined>;
  close(): void;
}

const IN_ONE_PIECE_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

/** The process ends after this long without a request. */
const IDLE_MS = 30_000;

/** Makes a reader. The first request starts git. */
export function makeObjectReader(program: GitProgram, gitDir: string): ObjectReader {
  let running: Conversation | undefined;
  let idle: NodeJS.Timeout | undefined;
  const stop = () => {
    running?.end();
    running = undefined;
  };
  const ask = <Answer>(
    command: string,
    name: ObjectName,
    read: (from: ByteStream) => Promise<Answer>,
  ): Promise<Answer> => {
    // The answer for a missing object repeats the requested name. If the name contained a line feed, it could be
    // mistaken for another answer.
    if (name.includes("\0") || name.includes("\n")) throw new RangeError("A name of an object is one line.");
    if (!running || running.isOver()) running = startConversation(program, gitDir);
    clearTimeout(idle);
    idle = setTimeout(stop, IDLE_MS);
    idle.unref();
    return running.ask(Buffer.concat([Buffer.from(`${command} `), Buffer.from(name), Buffer.from("\0")]), read);
  };
  const info = (name: ObjectName) => ask("info", name, readHeader);
  const readWhole = (oid: string) =>
    ask("contents", oid, async (from) => {
      const header = await readHeader(from);
      if (!header) return undefined;
      const bytes = await from.take(header.size);
      // A line feed follows the contents.
      await from.take(1);
      return bytes;
    });

  /** Yields the chunks. The contents are requested with the first chunk. */
  async function* readPieces(oid: string): AsyncGenerator<Buffer, void> {
    const { resolve: end, promise: ended } = promised<void>();
    const { resolve, reject, promise: begun } = promised<ByteStream>();
    const asked = ask("contents", oid, async (from) => {
      resolve(from);
      await ended;
    });
    asked.catch(reject);
    const from = await begun;
    let left = 0;
    try {
      left = (await readHeader(from))?.size ?? 0;
      while (left > 0) {
        const piece = await from.take(Math.min(left, PIECE_BYTES));
        left -= piece.length;
        yield piece;
      }
      await from.take(1);
      left = -1;
    } finally {
      // Unread bytes precede the next answer.
      for (left += 1; left > 0; left -= Math.min(left, PIECE_BYTES)) await from.take(Math.min(left, PIECE_BYTES));
      end();
    }
  }

  return {
    info,
    async contents(name, maxBytes) {
      const known = await info(name);
      return known && known.size <= maxBytes ? readWhole(known.oid) : undefined;
    },
    async open(name, maxBytes) {
      const known = await info(name);
      if (!known || known.size > maxBytes) return undefined;
      return known.size <= IN_ONE_PIECE_BYTES ? readWhole(known.oid) : readPieces(known.oid);
    },
    close() {
      clearTimeout(idle);
      stop();
    },
  };
}

type Conversation = ReturnType<typeof startConversation>;

function startConversation(program: GitProgram, gitDir: string) {
  const child = startGit(program, ["cat-file", "-z", "--batch-command"], { gitDir, input: undefined, keepStdin: true });
  let failure: Error | undefined;
  const bytes = makeByteStream(child.stdout);
  const fail = (error: Error) => {
    failure ??= error;
    bytes.fail(failure);
  };
  child.on("error", fail);
  child.on("close", () => fail(unavailable("Reading the mirror has ended.")));
  child.stderr.resume();
  hold(child, false);
  let open = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask<Answer>(question: Buffer, read: (from: ByteStream) => Promise<Answer>): Promise<Answer> {
      if (open++ === 0) hold(child, true);
      child.stdin?.write(question);
      const answer = last.then(() => read(bytes));
      const close = () => {
        if (--open === 0) hold(child, false);
      };
      // The next answer is read even if this one fails.
      last = answer.then(close, close);
      return answer;
    },
    isOver: () => failure !== undefined,
    end: (): void => void child.stdin?.end(),
  };
}

/**
 * Allows this process to end while git is idle: git's stdin then closes, and git ends too. While an answer is pending,
 * this process doesn't end.
 */
function hold(child: ChildProcess, isHeld: boolean): void {
  // The pipes are sockets, which have the method. The declared type of a pipe doesn't include it.
  const streams = [child.stdin, child.stdout, child.stderr] as (((Readable | Writable) & Partial<Holdable>) | null)[];
  for (const each of [child, ...streams]) {
    if (isHeld) each?.ref?.();
    else each?.unref?.();
  }
}

interface Holdable {
  ref(): void;
  unref(): void;
}

function promised<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  return { promise, resolve, reject };
}

type ByteStream = ReturnType<typeof makeByteStream>;

function makeByteStream(stream: Readable) {
  let chunks: Buffer[] = [];
  let length = 0;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    // Limits how much is read ahead of the consumer.
    if (length >= PIECE_BYTES) stream.pause();
    wake();
  });
  const more = async () => {
    if (failure) throw failure;
    stream.resume();
    await new Promise<void>((resolve) => (wake = resolve));
  };
  const cut = (count: number): Buffer => {
    const all = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
    chunks = count < all.length ? [all.subarray(count)] : [];
    length = all.length - count;
    return all.subarray(0, count);
  };
  return {
    async take(count: number): Promise<Buffer> {
      for (;;) {
        if (length >= count) return count === 0 ? Buffer.alloc(0) : cut(count);
        await more();
      }
    },
    /** Reads up to the next line feed, and returns the line without it. */
    async line(): Promise<string> {
      for (;;) {
        let before = 0;
        for (const chunk of chunks) {
          const at = chunk.indexOf(0x0a);
          if (at !== -1) return cut(before + at + 1).toString("utf8", 0, before + at);
          before += chunk.length;
        }
        await more();
      }
    },
    fail(error: Error): void {
      failure ??= error;
      wake();
    },
  };
}

async function readHeader(from: ByteStream): Promise<ObjectInfo | undefined> {
  const line = await from.line();
  const [, oid, type, size] = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/.exec(line) ?? [];
  return oid === undefined || type === undefined ? undefined : { oid, type, size: Number(size) };
}
