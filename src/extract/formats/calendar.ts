import { isUtf8 } from "node:buffer";
import { decodeText } from "#core/encodings/decode.ts";
import { cleanText, cutText, oneLine } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { decodeCharset } from "#extract/mail/charset.ts";
import { fromQuotedPrintable } from "#extract/mail/transfer.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/**
 * Calendars and address cards. Their lines are unfolded, and escaped line breaks and letters are decoded. Each event or card is a section with its
 * name; pictures are left out. Source: RFC 5545; RFC 6350; https://www.imc.org/pdi/vcard-21.doc
 */
export const calendarFormat: Format = {
  extract({ bytes, decode, maxTextLength }): FormatText {
    const decoded = (isUtf8(bytes) ? undefined : decodeText(withWholeLetters(bytes), maxTextLength)) ?? decode();
    const clean = cleanText(decoded.text);
    const source = cutText(clean, maxTextLength);
    const out = new TextBuilder(maxTextLength);
    const entries = readEntries(source);
    for (const { name, lines } of entries) {
      if (name !== "") out.section(name, 1);
      out.add(`${lines.join("\n")}\n`);
    }
    const named = entries.filter(({ name }) => name !== "");
    const [only] = named;
    const title = calendarName(entries) ?? (named.length === 1 ? only?.name : undefined);
    return out.result({ isCut: decoded.isCut || source.length < clean.length, title: title && oneLine(title, 300) });
  },
};

/** Joins letters of UTF-8 that old programs have split, because they fold a line after a fixed number of bytes. */
function withWholeLetters(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  return Buffer.from(text.replaceAll(/([\xc2-\xf4][\x80-\xbf]{0,2})\r?\n[ \t](?=[\x80-\xbf])/gu, "$1"), "latin1");
}

interface Entry {
  /** The name of the section; "" = content outside of events and cards. */
  name: string;
  lines: string[];
}

function readEntries(source: string): Entry[] {
  const entries: Entry[] = [{ name: "", lines: [] }];
  for (const line of unfolded(source)) {
    const { name, value, isBinary } = readLine(line);
    if (name === "BEGIN" && ENTRIES.has(value.toUpperCase())) entries.push({ name: "", lines: [] });
    const entry = entries.at(-1);
    if (entry === undefined || isBinary) continue;
    entry.lines.push(name === "" ? line : `${name}:${value}`);
    if (name === "SUMMARY" || name === "FN") entry.name ||= oneLine(value, 200);
    if (name === "END" && ENTRIES.has(value.toUpperCase())) entries.push({ name: "", lines: [] });
  }
  return entries.filter(({ lines }) => lines.length > 0);
}

const ENTRIES = new Set(["VEVENT", "VTODO", "VJOURNAL", "VCARD"]);

/**
 * Unfolds the lines. A line that begins with a space continues the line before it, as does the line after one that ends in `=` in quoted-printable.
 */
function unfolded(source: string): string[] {
  const lines: string[] = [];
  let isQuoted = false;
  for (const line of source.split("\n")) {
    const last = lines.length - 1;
    if (isQuoted && last >= 0) lines[last] = `${(lines[last] ?? "").slice(0, -1)}${line.replace(/^[ \t]/u, "")}`;
    else if (/^[ \t]/u.test(line) && last >= 0) lines[last] += line.slice(1);
    else if (line.trim() !== "") lines.push(line);
    isQuoted = line.endsWith("=") && /^[^:]*ENCODING=QUOTED-PRINTABLE/iu.test(lines.at(-1) ?? "");
  }
  return lines;
}

function readLine(line: string): { name: string; value: string; isBinary: boolean } {
  const colon = colonOf(line);
  const [name = "", ...parameters] = line.slice(0, colon).split(";");
  if (colon < 0 || !/^[\w.-]{1,100}$/u.test(name)) return { name: "", value: line, isBinary: false };
  const about = parameters.join(";");
  const isBinary =
    /(?:ENCODING=)?\b(?:B|BASE64)(?:;|$)/iu.test(about) || /^data:[^,]*;base64/iu.test(line.slice(colon + 1));
  const quoted = /QUOTED-PRINTABLE/iu.test(about);
  const charset = /CHARSET=([\w-]{1,40})/iu.exec(about)?.[1];
  const raw = line.slice(colon + 1);
  const value = quoted ? decodeCharset(fromQuotedPrintable(Buffer.from(raw)), charset ?? "utf-8") : raw;
  const person = PEOPLE.has(name.toUpperCase()) ? /(?:^|;)CN=(?:"([^"]{1,300})"|([^;"]{1,300}))/iu.exec(about) : null;
  const text = withName(person?.[1] ?? person?.[2] ?? "", unescaped(cleanText(value)));
  return { name: name.toUpperCase().replace(/^.*\./u, ""), value: text, isBinary };
}

const PEOPLE = new Set(["ATTENDEE", "ORGANIZER", "CONTACT"]);

/** Adds the person's name to their address. Source: RFC 5545, 3.2.2. */
function withName(name: string, value: string): string {
  const address = value.replace(/^mailto:/iu, "");
  return name.trim() === "" || name.trim() === address ? value : `${name.trim()} <${address}>`;
}

/** Finds the colon after the parameters, whose quoted values may contain colons. */
function colonOf(line: string): number {
  let isQuoted = false;
  for (let at = 0; at < Math.min(line.length, 2_000); at++) {
    const sign = line.charAt(at);
    if (sign === '"') isQuoted = !isQuoted;
    else if (sign === ":" && !isQuoted) return at;
  }
  return -1;
}

function unescaped(value: string): string {
  return value.replaceAll(/\\([nN,;\\:])/gu, (_, sign: string) => (sign === "n" || sign === "N" ? "\n" : sign));
}

function calendarName(entries: readonly Entry[]): string | undefined {
  for (const line of entries[0]?.lines ?? []) {
    const name = /^(?:X-WR-CALNAME|NAME):(.+)$/u.exec(line)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}
