import { ApiError } from "#api/errors.ts";
import { letGo, type Spool, takeWhole } from "#core/spool.ts";
import { defined } from "#core/defined.ts";
import { MAX_PUSHED_BYTES, type PushedDocument, type PushedLine } from "./events.ts";
import { parsePushLine, PUSH_LIMITS } from "./lines.ts";
import { type FormPart, readForm } from "./multipart.ts";

/**
 * Reads a document: first the part `line`, which is an upsert line without text, and then the part `file`, which
 * contains the bytes.
 *
 * @param place  the item's `place`, if the line has none
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, or the line's own code; `details.externalId` is the
 * intended item, if it is known; and errors of the stream itself
 */
export async function readPushDocument(
  stream: AsyncIterable<Uint8Array>,
  options: { contentType: string | undefined; place: string; spool: Spool },
): Promise<PushedDocument> {
  let line: PushedLine | undefined;
  let file: FormPart | undefined;
  const { contentType, spool } = options;
  const maxBytesOf = (name: string): number | undefined => MAX_BYTES.get(name);
  try {
    for await (const part of readForm(stream, { contentType, spool, maxBytesOf })) {
      if (part.name === "line" && line === undefined) line = readLine(await takeWhole(part.bytes), options.place);
      else if (part.name === "file" && file === undefined) file = part;
      else {
        letGo(part.bytes);
        throw new ApiError("invalid_request", { message: `The part "${part.name}" was sent twice.`, field: part.name });
      }
    }
    return toDocument(line, file);
  } catch (error) {
    if (file) letGo(file.bytes);
    if (!(error instanceof ApiError)) throw error;
    throw withItem(error, line);
  }
}

const MAX_BYTES: ReadonlyMap<string, number> = new Map([
  ["line", PUSH_LIMITS.maxLineBytes],
  ["file", MAX_PUSHED_BYTES],
]);

function readLine(bytes: Uint8Array, place: string): PushedLine {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return parsePushLine(text, 1, place) ?? refuse("The line is empty.");
  } catch (cause) {
    if (cause instanceof TypeError) return refuse("The line is not valid UTF-8.");
    throw cause;
  }
}

function toDocument(line: PushedLine | undefined, file: FormPart | undefined): PushedDocument {
  if (line === undefined)
    throw new ApiError("invalid_request", { message: 'The part "line" is missing.', field: "line" });
  if (!line.ok) throw new ApiError(line.code, { message: line.message, field: "line" });
  if (line.event.t !== "upsert") {
    throw new ApiError("invalid_request", { message: "The line of a document must be an upsert.", field: "line" });
  }
  const { item } = line.event;
  if (item.content.type !== "none" || item.content.reason !== undefined) {
    const message = "The line of a document can't have text or content: its text comes from the file.";
    throw new ApiError("invalid_request", { message, field: "line" });
  }
  if (file === undefined)
    throw new ApiError("invalid_request", { message: 'The part "file" is missing.', field: "file" });
  const mimeType = item.mimeType ?? (file.mimeType === "application/octet-stream" ? undefined : file.mimeType);
  return {
    item: { ...item, size: file.bytes.length, content: { type: "fetch" } },
    notes: line.notes,
    bytes: file.bytes,
    fileName: file.fileName ?? item.title,
    ...defined({ mimeType }),
  };
}

function refuse(message: string): PushedLine {
  return { ok: false, line: 1, code: "invalid_request", message };
}

function withItem(error: ApiError, line: PushedLine | undefined): ApiError {
  const externalId = line?.externalId;
  if (externalId === undefined || externalId === null) return error;
  const { code, message, field } = error;
  return new ApiError(code, { message, ...defined({ field }), details: { externalId }, cause: error });
}
