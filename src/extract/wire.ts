import type { FieldValue } from "#api/common.ts";
import type { Extracted, ExtractedChild, ExtractRequest, NotExtracted } from "./extractor.ts";
import { defined } from "#core/defined.ts";
import { parseFault } from "#core/faults.ts";
import { type Section, SECTION_KINDS } from "#core/sections.ts";
import type { HeldBytes, SpooledBytes } from "#core/spool.ts";
import { encodeFrame, type Frame, framePrefix } from "./frames.ts";
import { asBuffer } from "#core/as-buffer.ts";

/** The input of a child: a request without its workspace, and with the bytes in memory. */
export type ChildRequest = Omit<ExtractRequest<Uint8Array>, "workspace">;

/** Returns the request as chunks to write; `spooled` is sent after them. */
export function encodeRequest(request: ExtractRequest): { pieces: Uint8Array[]; spooled?: SpooledBytes } {
  const { bytes, workspace: _workspace, ...head } = request;
  if (bytes instanceof Uint8Array) return { pieces: encodeFrame(head, [bytes]) };
  return { pieces: [framePrefix(head, [bytes])], spooled: bytes };
}

/** The number of bodies of a result before those of the files inside the file: text, terms, weights. */
export const BODIES_OF_TEXT = 3;

/** Reads the request in a frame from the pool, which is trusted. */
export function decodeRequest(frame: Frame): ChildRequest {
  // The cast is safe because encodeRequest of the same build wrote the head.
  const head = frame.head as Omit<ChildRequest, "bytes">;
  return { ...head, bytes: frame.bodies[0] ?? new Uint8Array() };
}

/** Encodes a result; only used in a child, where everything is in memory. */
export function encodeResult(result: Extracted<Uint8Array> | NotExtracted): Uint8Array[] {
  const { analyzed, ...rest } = result;
  const text = result.state === "ok" ? result.text : "";
  const children = result.state === "ok" ? (result.children ?? []) : [];
  const about = children.map(({ id, fileName, mimeType }) => ({ id, fileName, mimeType }));
  const head = { ...rest, text: undefined, children: about, length: analyzed.length };
  const bodies = [Buffer.from(text), Buffer.from(analyzed.terms), analyzed.weights];
  return encodeFrame(head, [...bodies, ...children.map((child) => child.bytes)]);
}

/**
 * Reads the result in a frame from a child. A hostile file may have taken over the child, so the result is validated before the process that holds
 * the keys uses it.
 *
 * @throws Error when the frame isn't a result
 */
export function decodeResult(frame: Frame): Extracted | NotExtracted {
  const head = asRecord(frame.head);
  const [text, terms, weights, ...small] = frame.bodies;
  const members = frame.spooled ?? small;
  if (text === undefined || terms === undefined || weights === undefined) throw new Error("a result without its parts");
  const analyzed = {
    terms: toText(terms),
    // Copied, because the body is a view of a whole chunk from the pipe.
    weights: Uint8Array.from(weights),
    length: asNumber(head["length"]),
  };
  const mimeType = asString(head["mimeType"]);
  const reader = asName(head["reader"]);
  if (frame.fault) {
    // The files inside the file are lost, so the file has to be read again.
    for (const each of frame.spooled ?? []) each.close();
    const { message } = frame.fault;
    return { state: "no_text", reason: "failed", message, mimeType, reader, retryable: true, analyzed };
  }
  if (head["state"] === "no_text") {
    const reason = REASONS.find((known) => known === head["reason"]) ?? "failed";
    return {
      state: "no_text",
      reason,
      message: asString(head["message"]),
      mimeType,
      reader,
      ...defined({ fault: parseFault(head["fault"]) }),
      retryable: head["retryable"] === true,
      ...(typeof head["title"] === "string" && { title: head["title"] }),
      ...(typeof head["language"] === "string" && { language: head["language"] }),
      ...(head["properties"] !== undefined && { properties: asProperties(head["properties"]) }),
      ...(head["maskedSecrets"] !== undefined && { maskedSecrets: asNumber(head["maskedSecrets"]) }),
      analyzed,
    };
  }
  const extracted: Extracted = {
    state: "ok",
    text: toText(text),
    mimeType,
    reader: reader ?? mimeType,
    sections: asSections(head["sections"]),
    properties: asProperties(head["properties"]),
    maskedSecrets: asNumber(head["maskedSecrets"]),
    analyzed,
  };
  if (typeof head["title"] === "string") extracted.title = head["title"];
  if (typeof head["language"] === "string") extracted.language = head["language"];
  if (head["firstLine"] !== undefined) extracted.firstLine = asNumber(head["firstLine"]);
  if (head["isOutOfTime"] === true) extracted.isOutOfTime = true;
  const children = asChildren(head["children"], members);
  if (children.length > 0) extracted.children = children;
  return extracted;
}

const REASONS: readonly NotExtracted["reason"][] = ["unsupported_type", "too_large", "empty", "encrypted", "failed"];

function toText(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("utf8");
}

function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) throw new Error("a result that is not an object");
  // The cast is safe because every property of an object can be read as unknown.
  return value as Record<string, unknown>;
}

function asString(value: unknown): string {
  if (typeof value !== "string") throw new Error("a result with a field that is not a string");
  return value;
}

/** Returns a media type that can be stored; a long one is invalid. */
function asName(value: unknown): string | null {
  return typeof value === "string" && value.length <= MAX_NAME_CHARS ? value : null;
}

const MAX_NAME_CHARS = 200;

function asNumber(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value))
    throw new Error("a result with a field that is not a number");
  return value;
}

function asSections(value: unknown): Section[] {
  if (!Array.isArray(value)) throw new Error("a result without sections");
  return value.map((item: unknown) => {
    const { name, level, start, kind, ref, anchor } = asRecord(item);
    const section: Section = { name: asString(name), level: asNumber(level), start: asNumber(start) };
    const known = SECTION_KINDS.find((one) => one === kind);
    if (known !== undefined) section.kind = known;
    if (ref !== undefined) section.ref = asString(ref);
    if (anchor !== undefined) section.anchor = asString(anchor);
    return section;
  });
}

function asChildren(value: unknown, bodies: readonly HeldBytes[]): ExtractedChild[] {
  if (!Array.isArray(value) || value.length !== bodies.length) throw new Error("a result whose parts do not match");
  return bodies.map((bytes, at) => {
    const { id, fileName, mimeType } = asRecord(value[at]);
    // Copied, because the body is a view of the whole answer.
    const own = bytes instanceof Uint8Array ? Uint8Array.from(bytes) : bytes;
    const child: ExtractedChild = { id: asString(id), fileName: asString(fileName), bytes: own };
    if (mimeType !== undefined) child.mimeType = asString(mimeType);
    return child;
  });
}

function asProperties(value: unknown): Record<string, FieldValue> {
  const entries = Object.entries(asRecord(value)).map(([key, item]): [string, FieldValue] => [key, asFieldValue(item)]);
  return Object.fromEntries(entries);
}

function asFieldValue(value: unknown): FieldValue {
  if (Array.isArray(value)) return value.map(asString);
  if (typeof value === "boolean") return value;
  return typeof value === "number" ? asNumber(value) : asString(value);
}
