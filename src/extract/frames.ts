import type { ApiError } from "#api/errors.ts";
import type { SpooledBytes, SpoolWriter } from "#core/spool.ts";

/**
 * Messages between the pool and a child over a pipe: a JSON head and byte bodies, length-prefixed. No base64, one copy.
 * Numbers are unsigned 32-bit little-endian: `[head bytes][count of bodies][bytes of each body …][head][bodies …]`.
 */

export interface Frame {
  head: unknown;
  bodies: Uint8Array[];
  /** Bodies that are too many for memory: those from `SpooledBodies.from` on. */
  spooled?: SpooledBytes[];
  /** Why they could not be written: then they are incomplete. */
  fault?: ApiError;
  /** Frees the memory of the bodies, which are then empty. Absent if they are small. */
  release?(): void;
}

/** The bodies that a reader spools, when they are more than `maxBytes` together. */
export interface SpooledBodies {
  from: number;
  maxBytes: number;
  begin(): SpoolWriter;
}

/** Both are more than any honest frame has: a peer that announces more is broken. */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const MAX_BODIES = 1_200;

/** A frame as the chunks to write, in order; bodies aren't copied. */
export function encodeFrame(head: unknown, bodies: readonly Uint8Array[]): Uint8Array[] {
  return [framePrefix(head, bodies), ...bodies.filter((body) => body.length > 0)];
}

/** The part of a frame before its bodies. */
export function framePrefix(head: unknown, bodies: readonly { length: number }[]): Uint8Array {
  const json = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.allocUnsafe(8 + 4 * bodies.length + json.length);
  prefix.writeUInt32LE(json.length, 0);
  prefix.writeUInt32LE(bodies.length, 4);
  bodies.forEach((body, index) => prefix.writeUInt32LE(body.length, 8 + 4 * index));
  json.copy(prefix, 8 + 4 * bodies.length);
  return prefix;
}

/** Assembles frames from chunks of any size, each with one copy. */
export class FrameReader {
  /** The start of the next frame, received before its size was known. */
  private start: Buffer = Buffer.alloc(0);
  private open: OpenFrame | undefined;
  private last: Promise<void> | undefined;
  private readonly spooled: SpooledBodies | undefined;

  constructor(spooled?: SpooledBodies) {
    this.spooled = spooled;
  }

  /**
   * The frames that are complete with this chunk. With spooled bodies they may only be used after `written`, and no
   * other chunk may be pushed before.
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

  /** Resolves when everything that goes to a file is written; undefined when nothing does. */
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

/** Smaller ones are left to the collector. */
const RELEASED_FROM_BYTES = 1024 * 1024;

/** Memory that can be freed at once: the collector leaves tens of megabytes for minutes. */
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
  // It is known once everything is written, which is before it is read.
  return Object.defineProperty(frame, "fault", { get: () => writer.fault });
}

/** The sizes in a frame; undefined until they have arrived. @throws Error when they can't be a frame's */
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
