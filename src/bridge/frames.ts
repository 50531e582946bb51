/**
 * Newline-delimited JSON-RPC on stdio: splits bytes into frames and parses them.
 * Source: MCP specification, transports (stdio); JSON-RPC 2.0.
 */

import { asRecord, tryJson } from "#core/json-record.ts";
import type { DataOf } from "#api/client.ts";
import { elementTexts, exactText } from "#core/json-text.ts";

export type RequestId = string | number;

/**
 * One JSON-RPC message from the host, or the reason why a line isn't a message. `raw` is the message as received; `idText` is its id as JSON text,
 * with every digit that the host wrote.
 */
export type Frame =
  | { type: "request"; id: RequestId; idText: string; method: string; params: Record<string, unknown>; raw: string }
  | { type: "notification"; method: string; params: Record<string, unknown>; raw: string }
  | { type: "response" }
  | { type: "batch"; frames: Frame[] }
  | { type: "invalid"; id: RequestId | null; idText: string; code: number; message: string };

export type RequestFrame = Extract<Frame, { type: "request" }>;

/** The server's answer to one request. */
export type RpcAnswer = Exclude<DataOf<"post", "/mcp">, readonly unknown[] | undefined>;

/** Longest line that is buffered; a longer one is dropped up to its end and answered with an error. The server takes 2 MiB. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Most elements in one batch. */
export const MAX_BATCH = 20;

export interface FrameReader {
  push(chunk: Uint8Array): void;
}

/**
 * Splits a byte stream into lines, whatever the chunk boundaries; each byte is read once.
 *
 * @param onLine    a line without its end, never blank
 * @param onTooLong called once for a line over `maxBytes`
 */
export function makeFrameReader(
  onLine: (line: string) => void,
  onTooLong: () => void,
  maxBytes: number = MAX_FRAME_BYTES,
): FrameReader {
  let parts: Uint8Array[] = [];
  let size = 0;
  let isSkipping = false;

  function keep(part: Uint8Array): void {
    if (isSkipping || part.length === 0) return;
    size += part.length;
    if (size <= maxBytes) {
      parts.push(part);
      return;
    }
    isSkipping = true;
    parts = [];
    onTooLong();
  }

  function endLine(): void {
    const line = isSkipping ? "" : decode(parts);
    parts = [];
    size = 0;
    isSkipping = false;
    if (line.trim() !== "") onLine(line);
  }

  return {
    push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE, start); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
        keep(chunk.subarray(start, at));
        endLine();
        start = at + 1;
      }
      keep(chunk.subarray(start));
    },
  };
}

/** Parses a line from the host. Never throws: a line that isn't a message returns `invalid` with the error to answer. */
export function parseFrame(line: string): Frame {
  const value = tryJson(line);
  if (value === undefined) {
    return { type: "invalid", ...NO_ID, code: -32700, message: "Parse error: a line on stdin was not JSON." };
  }
  if (!Array.isArray(value)) return readMessage(value, line);
  if (value.length === 0 || value.length > MAX_BATCH) {
    return invalid(NO_ID, `A batch holds 1 to ${MAX_BATCH} messages; this one holds ${value.length}.`);
  }
  const texts = elementTexts(line);
  return { type: "batch", frames: value.map((item: unknown, at) => readMessage(item, texts[at] ?? "null")) };
}

/** Returns the frame of a line over `MAX_FRAME_BYTES`. */
export function tooLong(): Frame {
  return invalid(NO_ID, "the line is too long.");
}

/** Returns the text of a message as one line: JSON has line breaks only between tokens, where a space means the same. */
export function toLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, " ") : json;
}

const NEWLINE = 0x0a;

function decode(parts: Uint8Array[]): string {
  const [first] = parts;
  if (first === undefined) return "";
  return new TextDecoder().decode(parts.length === 1 ? first : join(parts)).replace(/\r$/, "");
}

function join(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

type MessageId = Pick<Extract<Frame, { type: "invalid" }>, "id" | "idText">;

const NO_ID: MessageId = { id: null, idText: "null" };

function readMessage(value: unknown, raw: string): Frame {
  const message = asRecord(value);
  if (message === undefined) return invalid(NO_ID, "A message must be a JSON object.");
  const { id, method, params = null } = message;
  const own = isId(id) ? { id, idText: exactText(id, raw, "id") } : NO_ID;
  if (method === undefined && ("result" in message || "error" in message)) return { type: "response" };
  if (message["jsonrpc"] !== "2.0") return invalid(own, `A message must have "jsonrpc": "2.0".`);
  if (typeof method !== "string") return invalid(own, "A request must have a method.");
  // A notification never gets an answer, not even an invalid one. Source: JSON-RPC 2.0, notification.
  if (!("id" in message)) return { type: "notification", method, params: asRecord(params) ?? {}, raw };
  if (params !== null && asRecord(params) === undefined) return invalid(own, "params must be an object.");
  if (!isId(id)) return invalid(NO_ID, "An id must be a string or a number.");
  return { type: "request", id, idText: own.idText, method, params: asRecord(params) ?? {}, raw };
}

/** Whether a value can be the id of a request. */
export function isId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}

function invalid(id: MessageId, message: string): Frame {
  return { type: "invalid", ...id, code: -32600, message: `Invalid request: ${message}` };
}
