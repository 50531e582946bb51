import { unavailable } from "#sources/errors.ts";
import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import type { z } from "zod";
import { ApiError } from "#api/errors.ts";
import { makeTextPieces } from "#core/encodings/names.ts";
import type { SourceResponse } from "#sources/http-contract.ts";

/** The time limit for reading a body that is discarded. */
const DRAIN_MS = 5_000;

export interface BodyLimits {
  maxBytes: number;
  /** The time limit between two chunks. */
  timeoutMs: number;
  /** The time limit for the whole body. */
  totalMs: number;
  /** The method of the request. A response to HEAD has no body, regardless of its headers. */
  method: string;
}

/**
 * Yields a decompressed body in chunks. Stopping early closes the connection.
 *
 * @throws ApiError `payload_too_large`, `source_unavailable` if the server stops sending; and Node's own errors
 */
export async function* readPieces(
  message: IncomingMessage,
  host: string,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array, void> {
  const { maxBytes, timeoutMs, totalMs, method } = limits;
  const endIn = (ms: number) => setTimeout(() => void message.destroy(silent(host)), ms);
  const total = endIn(totalMs);
  let idle = endIn(timeoutMs);
  let length = 0;
  let isOver = false;
  try {
    // A stream without an encoding yields Buffers.
    for await (const piece of unpacked(message, method) as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (length > maxBytes) {
        throw new ApiError("payload_too_large", {
          message: `The response from ${host} is larger than ${maxBytes} bytes.`,
        });
      }
      // The timeout applies only to the server. A slow reader isn't a failure.
      clearTimeout(idle);
      yield piece;
      idle = endIn(timeoutMs);
    }
    isOver = true;
  } finally {
    clearTimeout(total);
    clearTimeout(idle);
    if (!isOver) message.destroy();
  }
}

/** Reads a whole body. */
export async function readWhole(message: IncomingMessage, host: string, limits: BodyLimits): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readPieces(message, host, limits)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * Reads the beginning of a body that is discarded, so that its connection can be reused. Returns an empty body if it is
 * long.
 */
export async function drain(message: IncomingMessage, host: string, method: string): Promise<Uint8Array> {
  const limits = { maxBytes: 64 * 1024, timeoutMs: DRAIN_MS, totalMs: DRAIN_MS, method };
  return readWhole(message, host, limits).catch(() => new Uint8Array());
}

/** Makes a source's response from the head and body. */
export function makeResponse(
  head: { status: number; headers: Headers; url: string },
  body: Uint8Array,
  host: string,
): SourceResponse {
  const text = () => decode(body, head.headers.get("content-type"));
  return {
    ...head,
    text,
    bytes: () => body,
    json: <T>(schema?: z.ZodType<T>): T => {
      const value = parseJson(text(), host, head.status);
      // Without a schema the caller gets `unknown`, as the interface declares.
      if (schema === undefined) return value as T;
      const result = schema.safeParse(value);
      if (result.success) return result.data;
      const path = result.error.issues[0]?.path.map(String).join(".") ?? "";
      throw unavailable(
        `${host} sent an unexpected response${path === "" ? "" : ` at ${path.slice(0, 100)}`}.`,
        head.status,
      );
    },
  };
}

/** Returns the headers for sources, without cookies. */
export function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (!/^set-cookie2?$/i.test(name)) headers.append(name, rawHeaders[i + 1] ?? "");
  }
  return headers;
}

function unpacked(message: IncomingMessage, method: string): Readable {
  const isEmpty = method === "HEAD" || message.headers["content-length"] === "0";
  const hasBody = !isEmpty && message.statusCode !== 204 && message.statusCode !== 304;
  const encoding = hasBody ? message.headers["content-encoding"]?.trim().toLowerCase() : undefined;
  const unpack =
    encoding === "gzip" || encoding === "x-gzip"
      ? createGunzip()
      : encoding === "br"
        ? createBrotliDecompress()
        : undefined;
  // If one of the two streams fails, the other ends too, and the reader gets the error.
  return unpack === undefined ? message : pipeline(message, unpack, () => undefined);
}

function decode(body: Uint8Array, contentType: string | null): string {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? "")?.[1] ?? "utf-8";
  const text = makeTextPieces(charset);
  return text.write(body) + text.end();
}

function parseJson(text: string, host: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The cause is left out because it repeats the text.
    const message = `${host} sent a response that isn't JSON.`;
    throw unavailable(message, status);
  }
}

function silent(host: string): ApiError {
  return unavailable(`${host} stopped in the middle of its response.`);
}
