import { readSync, writeSync } from "node:fs";
import { extractInProcess, type ExtractTools } from "./extract.ts";
import { encodeFrame, FrameReader } from "./frames.ts";
import type { InnerLimits } from "./limits.ts";
import { sealNetwork } from "./seal.ts";
import { decodeRequest, encodeResult } from "./wire.ts";

/** The descriptor for answers. The child reads requests from its standard input; standard output isn't used, because any library may write to it. */
export const ANSWER_DESCRIPTOR = 3;

/**
 * Runs an extraction child: sends a hello, then answers requests in order until its input ends, which it does when the
 * parent dies. Reads and writes block: an idle child waits in the kernel, and nothing else runs while a file is read.
 *
 * @param limits as JSON, the child's only argument
 */
export async function runChild(limits: string, tools: ExtractTools): Promise<void> {
  sealNetwork();
  // The cast is safe because the pool of the same build wrote the limits.
  const caps = JSON.parse(limits) as InnerLimits;
  const reader = new FrameReader();
  writeAll(encodeFrame({ ready: true, hasPermissionModel: "permission" in process }, []));
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (;;) {
    const count = retryWhenBusy(() => readSync(0, chunk));
    if (count === 0) return;
    for (const frame of reader.push(chunk.subarray(0, count))) {
      const request = { ...decodeRequest(frame), workspace: "" };
      const result = await extractInProcess(request, caps, tools);
      frame.release?.();
      writeAll(encodeResult(result));
    }
  }
}

const CHUNK_BYTES = 65_536;

function writeAll(parts: readonly Uint8Array[]): void {
  // A small answer is sent in one write, so that the parent wakes up once. A large answer isn't copied for that.
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  if (total <= CHUNK_BYTES) write(Buffer.concat(parts, total));
  else for (const part of parts) write(part);
}

function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;)
    at += retryWhenBusy(() => writeSync(ANSWER_DESCRIPTOR, bytes, at, bytes.length - at));
}

/** Node makes pipes blocking; if one isn't, wait a millisecond instead of failing. */
function retryWhenBusy(operation: () => number): number {
  for (;;) {
    try {
      return operation();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
