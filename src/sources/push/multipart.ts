import { ApiError } from "#api/errors.ts";
import { type HeldBytes, type Spool, SPOOLED_FROM_BYTES, type SpoolWriter } from "#core/spool.ts";

/** A form part that has arrived completely. */
export interface FormPart {
  name: string;
  fileName: string | undefined;
  mimeType: string | undefined;
  /** The caller closes it. */
  bytes: HeldBytes;
}

export interface FormOptions {
  /** The request's Content-Type. */
  contentType: string | undefined;
  /** Returns the byte limit of a part with this name; undefined = the form has no such part. */
  maxBytesOf(name: string): number | undefined;
  /** Where large parts are stored. */
  spool: Spool;
}

/**
 * Reads a `multipart/form-data` body part by part as it arrives. Never holds more of a part than the part's own limit,
 * and stops reading at the first byte beyond it. Supports RFC 7578 without nested forms and transfer encodings.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large` with the part as field, `invalid_request`; and errors
 * of the stream itself
 */
export async function* readForm(
  stream: AsyncIterable<Uint8Array>,
  options: FormOptions,
): AsyncGenerator<FormPart, void> {
  // The first boundary may come without a preceding line break, so one is added here.
  let rest: Buffer = Buffer.from("\r\n");
  const delimiter = Buffer.from(`\r\n--${boundaryOf(options.contentType)}`, "latin1");
  let part: OpenPart | undefined;
  let state: "body" | "after_boundary" | "headers" | "end" = "body";
  try {
    for await (const chunk of stream) {
      if (state === "end") continue;
      rest = Buffer.concat([rest, chunk]);
      for (let isStuck = false; !isStuck;) {
        if (state === "body") {
          const at = rest.indexOf(delimiter);
          // Bytes that could be the beginning of a boundary wait for more data.
          const upTo = at === -1 ? Math.max(0, rest.length - delimiter.length + 1) : at;
          await part?.add(rest.subarray(0, upTo));
          rest = rest.subarray(at === -1 ? upTo : at + delimiter.length);
          if (at === -1) isStuck = true;
          else state = "after_boundary";
          if (at !== -1 && part) yield part.close();
          if (at !== -1) part = undefined;
        } else if (state === "after_boundary") {
          if (rest.length < 2) isStuck = true;
          else if (rest.subarray(0, 2).equals(LINE_END)) [state, rest] = ["headers", rest.subarray(2)];
          else if (rest.subarray(0, 2).equals(DASHES)) [state, isStuck] = ["end", true];
          else throw malformed("a boundary is followed by something other than a line break");
        } else {
          const at = rest.indexOf(HEADERS_END);
          if (at === -1 && rest.length > MAX_HEADER_BYTES) throw malformed("the headers of a part have no end");
          if (at === -1) isStuck = true;
          else {
            part = openPart(rest.subarray(0, at).toString("utf8"), options);
            rest = rest.subarray(at + HEADERS_END.length);
            state = "body";
          }
        }
      }
    }
  } finally {
    // `part` is set only if the body ended within a part.
    part?.abandon();
  }
  if (state !== "end") throw malformed("it ends before its last boundary");
}

const LINE_END = Buffer.from("\r\n");
const DASHES = Buffer.from("--");
const HEADERS_END = Buffer.from("\r\n\r\n");
const MAX_HEADER_BYTES = 8_192;

type OpenPart = ReturnType<typeof openPart>;

function openPart(headers: string, { maxBytesOf, spool }: FormOptions) {
  const byName = new Map(
    headers.split("\r\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, Math.max(0, colon)).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const parameters = parametersOf(byName.get("content-disposition") ?? "");
  const name = parameters.get("name");
  if (name === undefined) throw malformed("a part has no name");
  const maxBytes = maxBytesOf(name);
  if (maxBytes === undefined) {
    const message = `There is no part "${name.slice(0, 100)}". Send line, then file.`;
    throw new ApiError("invalid_request", { message, field: name.slice(0, 100) });
  }
  let chunks: Uint8Array[] = [];
  let writer: SpoolWriter | undefined;
  let size = 0;
  const inMemory = () => (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
  return {
    /**
     * Adds bytes.
     * @throws ApiError `payload_too_large`; `storage_full`, `database_unusable` if the disk accepts no more data
     */
    async add(bytes: Uint8Array): Promise<void> {
      size += bytes.length;
      if (size > maxBytes) {
        const message = `The part "${name}" is larger than ${maxBytes / 1024 / 1024} MiB.`;
        throw new ApiError("payload_too_large", { message, field: name });
      }
      // The bytes are copied, because a view would keep the whole chunk in memory, together with the data that was
      // joined with it.
      if (bytes.length > 0) chunks.push(Uint8Array.from(bytes));
      if (size <= SPOOLED_FROM_BYTES) return;
      writer ??= spool.begin();
      for (const chunk of chunks) writer.write(chunk);
      chunks = [];
      await writer.written();
      if (writer.fault) throw writer.fault;
    },
    close: (): FormPart => ({
      name,
      fileName: fileNameOf(parameters),
      mimeType: byName.get("content-type")?.split(";")[0]?.trim().toLowerCase(),
      bytes: writer?.end([size])[0] ?? inMemory(),
    }),
    abandon: (): void => writer?.abandon(),
  };
}

function boundaryOf(contentType: string | undefined): string {
  const isForm = /^multipart\/form-data\s*(?:;|$)/i.test(contentType?.trim() ?? "");
  const boundary = isForm ? parametersOf(contentType ?? "").get("boundary") : undefined;
  if (boundary !== undefined && /^[\x20-\x7e]{1,70}$/.test(boundary)) return boundary;
  throw new ApiError("unsupported_media_type", {
    message: "Send a document as Content-Type: multipart/form-data with the parts line and file.",
  });
}

/** Parses the `; name="value"` pairs of a header. A quoted value may contain escaped quotes. */
function parametersOf(header: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name = "", quoted, plain] of header.matchAll(/;\s*([\w*-]+)=(?:"((?:\\.|[^"\\])*)"|([^;\s"]*))/g)) {
    found.set(name.toLowerCase(), quoted === undefined ? (plain ?? "") : quoted.replaceAll(/\\(["\\])/g, "$1"));
  }
  return found;
}

/** Returns the last segment of the file name, since browsers and programs may send whole local paths. */
function fileNameOf(parameters: ReadonlyMap<string, string>): string | undefined {
  const extended = /^utf-8'[^']*'(.*)$/i.exec(parameters.get("filename*") ?? "")?.[1];
  const plain = parameters.get("filename")?.replaceAll("%22", '"');
  const name = (extended === undefined ? undefined : decoded(extended)) ?? plain;
  return name?.split(/[/\\]/).at(-1) || undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // The escape is truncated, so the caller uses the plain name.
    return undefined;
  }
}

function malformed(why: string): ApiError {
  return new ApiError("invalid_request", { message: `The form can't be read: ${why}.` });
}
