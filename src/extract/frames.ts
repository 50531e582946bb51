import type { ApiError } from "#api/errors.ts";
import type { SpooledBytes, SpoolWriter } from "#core/spool.ts";

/**
 * Messages between the pool and a child over a pipe: a JSON head and byte bodies, each with its length before it. There is no base64, and only one
 * copy. Numbers are unsigned 32-bit little-endian: `[head bytes][count of bodies][bytes of each body …][head][bodies …]`.
 */

export interface Frame {
  head: unknown;
  bodies: Uint8Array[];
  /** Bodies that are too large for memory: those from index `SpooledBodies.from` on. */
  spooled?: SpooledBytes[];
  /** Why the bodies couldn't be written; they are incomplete in that case. */
  fault?: ApiError;
  /** Frees the memory of the bodies, which are empty afterwards. Absent if they are small. */
  release?(): void;
}

/** Which bodies a reader spools when they have more than `maxBytes` in total. */
export interface SpooledBodies {
  from: number;
  maxBytes: number;
  begin(): SpoolWriter;
}

/** Both limits are higher than any valid frame needs; a peer that announces more is broken. */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const MAX_BODIES = 1_200;

/** Returns a frame as the chunks to write, in order; bodies aren't copied. */
export function encodeFrame(head: unknown, bodies: readonly Uint8Array[]): Uint8Array[] {
  return [framePrefix(head, bodies), ...bodies.filter((body) => body.length > 0)];
}

/** Returns the part of a frame before its bodies. */
export function framePrefix(head: unknown, bodies: readonly { length: number }[]): Uint8Array {
  const json = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.allocUnsafe(8 + 4 * bodies.length + json.length);
  prefix.writeUInt32LE(json.length, 0);
  prefix.writeUInt32LE(bodies.length, 4);
  bodies.forEach((body, index) => prefix.writeUInt32LE(body.length, 8 + 4 * index));
  json.copy(prefix, 8 + 4 * bodies.length);
  return prefix;
}

/** Assembles frames from chunks of any size, with one copy each. */
export class FrameReader {
  /** The start of the next frame, received before the frame's size was known. */
  private start: Buffer = Buffer.alloc(0);
  private open: OpenFrame | undefined;
  private last: Promise<void> | undefined;
  private readonly spooled: SpooledBodies | undefined;

  constructor(spooled?: SpooledBodies) {
    this.spooled = spooled;
  }

  /**
   * Returns the frames that this chunk completes. If bodies are spooled, use the frames and push the next chunk only after `written` has resolved.
   *
   * @throws Error when the bytes aren't frames
   */
  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      if (this.open === undefined) {
        const joined = this.start.length === 0 ? rest : Buffer.concat([this.start, rest]);
        const sizes = sizesOf(joined);
        if (sizes === undefined) {
          this.start = Buffer.from(joined);
          break;
        }
        this.start = Buffer.alloc(0);
        this.open = openFrame(sizes, this.spooled);
        rest = joined;
      }
      rest = rest.subarray(fill(this.open, rest));
      this.last = this.open.writer?.written() ?? this.last;
      if (!isFilled(this.open)) break;
      frames.push(closeFrame(this.open));
      this.open = undefined;
    }
    return frames;
  }

  /** Resolves when everything that is spooled is written to its file; undefined when nothing is. */
  written(): Promise<void> | undefined {
    const { last } = this;
    this.last = undefined;
    return last;
  }

  /** Discards a frame that will not be completed. */
  abandon(): void {
    this.open?.writer?.abandon();
    this.open = undefined;
  }
}

/** The memory of smaller bodies is left to the garbage collector. */
const RELEASED_FROM_BYTES = 1024 * 1024;

/** Allocates memory that can be freed at once, because the garbage collector may keep tens of megabytes for minutes. */
function releasable(size: number): Buffer {
  return Buffer.from(new ArrayBuffer(size, { maxByteLength: size }));
}

interface Sizes {
  head: number;
  bodies: number[];
}

interface OpenFrame extends Sizes {
  /** Everything except the spooled bodies. */
  memory: Buffer;
  filled: number;
  spooledFrom: number;
  left: number;
  writer: SpoolWriter | undefined;
}

function openFrame({ head, bodies }: Sizes, spooled: SpooledBodies | undefined): OpenFrame {
  const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
  const large = spooled === undefined ? 0 : sum(bodies.slice(spooled.from));
  const isSpooled = spooled !== undefined && large > spooled.maxBytes;
  const spooledFrom = isSpooled ? spooled.from : bodies.length;
  const size = 8 + 4 * bodies.length + head + sum(bodies.slice(0, spooledFrom));
  return {
    head,
    bodies,
    memory: size > RELEASED_FROM_BYTES ? releasable(size) : Buffer.allocUnsafeSlow(size),
    filled: 0,
    spooledFrom,
    left: isSpooled ? large : 0,
    writer: isSpooled ? spooled.begin() : undefined,
  };
}

/** Copies the bytes that belong to the frame; returns their number. */
function fill(frame: OpenFrame, bytes: Buffer): number {
  const inMemory = Math.min(bytes.length, frame.memory.length - frame.filled);
  bytes.copy(frame.memory, frame.filled, 0, inMemory);
  frame.filled += inMemory;
  const toFile = Math.min(bytes.length - inMemory, frame.left);
  frame.left -= toFile;
  if (toFile > 0) frame.writer?.write(bytes.subarray(inMemory, inMemory + toFile));
  return inMemory + toFile;
}

function isFilled({ memory, filled, left }: OpenFrame): boolean {
  return filled === memory.length && left === 0;
}

function closeFrame({ memory, head, bodies, spooledFrom, writer }: OpenFrame): Frame {
  let at = 8 + 4 * bodies.length;
  const parsed: unknown = JSON.parse(memory.toString("utf8", at, at + head));
  at += head;
  const inMemory = bodies.slice(0, spooledFrom).map((size) => {
    const body = memory.subarray(at, at + size);
    at += size;
    return body;
  });
  const { buffer } = memory;
  const isReleasable = buffer instanceof ArrayBuffer && buffer.resizable;
  const frame: Frame = { head: parsed, bodies: inMemory, ...(isReleasable && { release: () => buffer.resize(0) }) };
  if (writer === undefined) return frame;
  frame.spooled = writer.end(bodies.slice(spooledFrom));
  // The fault is known when everything is written, which is before the property is read.
  return Object.defineProperty(frame, "fault", { get: () => writer.fault });
}

/** Reads the sizes in a frame; undefined until they have arrived. @throws Error when they aren't valid for a frame */
function sizesOf(bytes: Buffer): Sizes | undefined {
  if (bytes.length < 8) return undefined;
  const head = bytes.readUInt32LE(0);
  const count = bytes.readUInt32LE(4);
  if (count > MAX_BODIES) throw new Error(`A frame with ${count} bodies`);
  if (bytes.length < 8 + 4 * count) return undefined;
  const bodies = Array.from({ length: count }, (_, index) => bytes.readUInt32LE(8 + 4 * index));
  const size = bodies.reduce((sum, each) => sum + each, 8 + 4 * count + head);
  if (size > MAX_FRAME_BYTES) throw new Error(`A frame of ${size} bytes`);
  return { head, bodies };
}
