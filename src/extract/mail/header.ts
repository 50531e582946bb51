import { isUtf8 } from "node:buffer";
import { decodeWords as decodeEncodedWords } from "#core/encoded-words.ts";
import { decodeText } from "#core/encodings/decode.ts";
import { decodeCharset } from "./charset.ts";
import { fromQuotedPrintable } from "./transfer.ts";

/** The header of a message or of one of its parts. */
export interface MailHeader {
  /** Unchanged values, unfolded, by lower-case name. */
  fields: ReadonlyMap<string, readonly string[]>;
  /** Where the body starts, in bytes. */
  bodyStart: number;
}

/** Headers have a few kilobytes; anything longer than this isn't a header. */
const MAX_HEADER_BYTES = 512 * 1024;
const MAX_FIELDS = 2_000;
const MAX_VALUE_LENGTH = 64 * 1024;

/**
 * Reads the header at the beginning of the bytes. An empty line ends it, and so does a line that isn't a field. In the header of a whole message,
 * such a line is skipped if it is between fields.
 */
export function readHeader(bytes: Buffer, isMessage = false): MailHeader {
  const found: { name: string; lines: string[] }[] = [];
  let at = 0;
  while (at < bytes.length && at < MAX_HEADER_BYTES && found.length < MAX_FIELDS) {
    const { line, end } = lineAt(bytes, at);
    const field = FIELD.exec(line);
    const last = found.at(-1);
    if (line === "") {
      at = end;
      break;
    }
    if (/^[ \t]/u.test(line) && (last !== undefined || at === 0)) last?.lines.push(line.trim());
    else if (field?.[1] !== undefined && field[2] !== undefined)
      found.push({ name: field[1].toLowerCase(), lines: [field[2].trim()] });
    // Otherwise the blank line is missing, and this is already the body.
    else if (!(at === 0 && /^>?From /u.test(line)) && !(isMessage && isBetweenFields(bytes, end, found))) break;
    at = end;
  }
  return { fields: toFields(found), bodyStart: at };
}

const FIELD = /^([!-9;-~]{1,200})[ \t]*:(.*)$/su;
const KNOWN_FIELD =
  /^(from|to|cc|subject|date|sender|reply-to|return-path|received|delivered-to|message-id|mime-version|content-[a-z]+|x-[\w-]{1,60})[ \t]*:/iu;

/** Whether a line in the header of a message was inserted by a program: a missing field must come next, or two fields if there is none yet. */
function isBetweenFields(bytes: Buffer, end: number, found: readonly { name: string }[]): boolean {
  const next = lineAt(bytes, end);
  const name = KNOWN_FIELD.exec(next.line)?.[1]?.toLowerCase();
  if (name === undefined || found.some((field) => field.name === name)) return false;
  return found.length > 0 || KNOWN_FIELD.test(lineAt(bytes, next.end).line);
}

function lineAt(bytes: Buffer, at: number): { line: string; end: number } {
  const lineFeed = bytes.indexOf(0x0a, at);
  const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
  return { line: bytes.toString("latin1", at, end).replace(/[\r\n]+$/u, ""), end };
}

/** Returns the first field of the name with its encoded words decoded; "" when there is none. */
export function fieldText({ fields }: MailHeader, name: string): string {
  return decodeWords(fields.get(name)?.[0] ?? "");
}

/** A field such as `text/plain; charset="utf-8"`: its value in lower case, and its parameters. Source: RFC 2045, 2231. */
export interface ParameterField {
  value: string;
  parameters: Readonly<Record<string, string>>;
}

export function readParameterField(text: string): ParameterField {
  const [value = "", ...rest] = splitOutsideQuotes(repaired(text.slice(0, MAX_VALUE_LENGTH)), ";");
  const plain: Record<string, string> = Object.create(null) as Record<string, string>;
  const pieces = new Map<string, { number: number; text: string; isEncoded: boolean }[]>();
  for (const parameter of rest.slice(0, 200)) {
    const equals = parameter.indexOf("=");
    if (equals < 0) continue;
    const name = parameter.slice(0, equals).trim().toLowerCase();
    const content = unquote(parameter.slice(equals + 1).trim());
    const star = /^([^*]{1,100})\*(?:(\d{1,4})(\*)?)?$/u.exec(name);
    if (star?.[1] === undefined) plain[name] ??= decodeWords(content);
    else {
      const list = pieces.get(star[1]) ?? [];
      list.push({
        number: Number(star[2] ?? 0),
        text: content,
        isEncoded: star[2] === undefined || star[3] !== undefined,
      });
      pieces.set(star[1], list);
    }
  }
  for (const [name, list] of pieces) plain[name] = joinPieces(list);
  return {
    value: value
      .slice(0, 500)
      .replace(/\([^)]*\)/gu, "")
      .trim()
      .toLowerCase(),
    parameters: plain,
  };
}

/** Adds a missing semicolon after the value, and removes an unpaired quotation mark. */
function repaired(text: string): string {
  const parted = text.replace(/^(\s*"?[^\s;,"=()]{1,200}"?)[\s,]+(?=[\w-]{1,40}\*?\s*=)/u, "$1; ");
  const isOpen = (parted.match(/(?<!\\)"/gu)?.length ?? 0) % 2 === 1;
  const last = parted.lastIndexOf('"');
  return isOpen ? parted.slice(0, last) + parted.slice(last + 1) : parted;
}

/** Decodes encoded words. */
export function decodeWords(text: string): string {
  return decodeEncodedWords(text, decodeCharset);
}

/** Splits at a character outside quotations, comments and angle brackets. */
export function splitOutsideQuotes(text: string, mark: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let isQuoted = false;
  let comments = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === '"' && comments === 0) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (char === "(") comments++;
    else if (char === ")") comments = Math.max(0, comments - 1);
    else if (char === mark && comments === 0) {
      pieces.push(text.slice(start, i));
      start = i + 1;
    }
  }
  pieces.push(text.slice(start));
  return pieces;
}

export function unquote(text: string): string {
  const whole = /^"((?:[^"\\]|\\.)*)"/su.exec(text)?.[1];
  return whole === undefined ? text.replace(/^"/u, "") : whole.replace(/\\(.)/gsu, "$1");
}

function joinPieces(list: readonly { number: number; text: string; isEncoded: boolean }[]): string {
  const sorted = [...list].sort((a, b) => a.number - b.number);
  const first = sorted[0];
  const mark = first?.isEncoded === true ? /^([^']{0,60})'[^']{0,60}'/u.exec(first.text) : null;
  const bytes = sorted.map(({ text, isEncoded }, index) => {
    const rest = index === 0 && mark !== null ? text.slice(mark[0].length) : text;
    return isEncoded ? fromPercent(rest) : Buffer.from(rest);
  });
  return decodeCharset(Buffer.concat(bytes), mark?.[1]);
}

function fromPercent(text: string): Buffer {
  return fromQuotedPrintable(Buffer.from(text.replaceAll("=", "=3D").replaceAll("%", "="), "utf8"));
}

/**
 * Decodes the fields. Headers are ASCII; bytes above it are UTF-8 (RFC 6532), in the encoding of the text, or guessed. The whole header has one
 * encoding.
 */
function toFields(found: readonly { name: string; lines: string[] }[]): Map<string, string[]> {
  const values = found.map(({ lines }) => lines.join(" ").slice(0, MAX_VALUE_LENGTH));
  const foreign = values.filter((value) => /[\x80-\xff]/u.test(value)).join("\n");
  const bytes = Buffer.from(foreign, "latin1");
  const type = values[found.findIndex(({ name }) => name === "content-type")] ?? "";
  const charset = isUtf8(bytes)
    ? "utf-8"
    : (/charset="?([\w-]{1,40})/iu.exec(type)?.[1] ?? decodeText(bytes, foreign.length)?.encoding);
  const fields = new Map<string, string[]>();
  found.forEach(({ name }, index) => {
    const value = values[index] ?? "";
    const isForeign = foreign !== "" && /[\x80-\xff]/u.test(value);
    const text = isForeign ? decodeCharset(Buffer.from(value, "latin1"), charset) : value;
    fields.set(name, [...(fields.get(name) ?? []), text]);
  });
  return fields;
}
