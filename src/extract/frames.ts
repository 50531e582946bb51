/**
 * Messages between the pool and a child over a pipe: a JSON head and byte bodies, length-prefixed. No
 * base64, one copy. Numbers are unsigned 32-bit little-endian:
 * `[head bytes][count of bodies][bytes of each body …][head][bodies …]`.
 */

export interface Frame {
  head: unknown;
  bodies: Uint8Array[];
}

/** Both are more than any honest frame has: a peer that announces more is broken. */
export const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const MAX_BODIES = 1_200;

/** A frame as the pieces to write, in order; bodies are not copied. */
export function encodeFrame(head: unknown, bodies: readonly Uint8Array[]): Uint8Array[] {
  const json = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.allocUnsafe(8 + 4 * bodies.length + json.length);
  prefix.writeUInt32LE(json.length, 0);
  prefix.writeUInt32LE(bodies.length, 4);
  bodies.forEach((body, index) => prefix.writeUInt32LE(body.length, 8 + 4 * index));
  json.copy(prefix, 8 + 4 * bodies.length);
  return [prefix, ...bodies.filter((body) => body.length > 0)];
}

/** Puts frames together from chunks of any size. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private held = 0;
  /** Bytes that the frame at the front needs before it is worth looking again. */
  private needed = 8;

  /**
   * The frames that are complete with this chunk.
   *
   * @throws Error when the bytes are no frames
   */
  push(chunk: Buffer): Frame[] {
    this.chunks.push(chunk);
    this.held += chunk.length;
    const frames: Frame[] = [];
    while (this.held >= this.needed) {
      const bytes = this.join();
      const size = frameSize(bytes);
      if (bytes.length < size) {
        this.needed = size;
        break;
      }
      frames.push(parseFrame(bytes.subarray(0, size)));
      this.chunks = bytes.length === size ? [] : [bytes.subarray(size)];
      this.held = bytes.length - size;
      this.needed = 8;
    }
    return frames;
  }

  private join(): Buffer {
    const [first] = this.chunks;
    if (first !== undefined && this.chunks.length === 1) return first;
    const joined = Buffer.concat(this.chunks, this.held);
    this.chunks = [joined];
    return joined;
  }
}

/** Size of the frame at the start of the bytes, or of as much of it as must be there to know it. */
function frameSize(bytes: Buffer): number {
  const count = bytes.readUInt32LE(4);
  if (count > MAX_BODIES) throw new Error(`A frame with ${count} bodies`);
  const fixed = 8 + 4 * count;
  if (bytes.length < fixed) return fixed;
  let size = fixed + bytes.readUInt32LE(0);
  for (let index = 0; index < count; index++) size += bytes.readUInt32LE(8 + 4 * index);
  if (size > MAX_FRAME_BYTES) throw new Error(`A frame of ${size} bytes`);
  return size;
}

function parseFrame(bytes: Buffer): Frame {
  const count = bytes.readUInt32LE(4);
  let at = 8 + 4 * count;
  const headEnd = at + bytes.readUInt32LE(0);
  const head: unknown = JSON.parse(bytes.toString("utf8", at, headEnd));
  at = headEnd;
  const bodies: Uint8Array[] = [];
  for (let index = 0; index < count; index++) {
    const end = at + bytes.readUInt32LE(8 + 4 * index);
    bodies.push(bytes.subarray(at, end));
    at = end;
  }
  return { head, bodies };
}
