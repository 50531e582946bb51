import { oneLine } from "#extract/clean.ts";
import { isoSeconds } from "#extract/iso-time.ts";
import { decodeCharset } from "./charset.ts";
import { charsetOfCodePage } from "./code-pages.ts";
import type { Mail, MailAttachment } from "./mail.ts";
import { bodyForms, messageAttachments, outlookPerson, outlookTime } from "./outlook-message.ts";
import { readMapiProperties, type MapiProperties } from "./tnef-properties.ts";

/**
 * `winmail.dat`, a message in Outlook's and Exchange's own format: its header, its text and its attachments. A broken part ends the reading;
 * everything before it is kept. Source: MS-OXTNEF.
 *
 * @returns the message; undefined when the bytes aren't TNEF
 */
export function readTnef(bytes: Buffer, depth = 0): Mail | undefined {
  if (!isTnef(bytes)) return undefined;
  const found: Found = { charset: "windows-1252", own: new Map(), props: new Map(), files: [], isCut: false };
  for (const attribute of attributesOf(bytes)) addAttribute(found, attribute);
  return toMail(found, depth);
}

/** Whether the bytes begin with the signature of TNEF. */
export function isTnef(bytes: Buffer): boolean {
  return bytes.length > 6 && bytes.readUInt32LE(0) === 0x223e9f78;
}

interface Attribute {
  isOfFile: boolean;
  id: number;
  data: Buffer;
}

interface FoundFile {
  title: Buffer | undefined;
  data: Buffer | undefined;
  props: MapiProperties;
}

interface Found {
  charset: string;
  /** Attributes of the message by id. */
  own: Map<number, Buffer>;
  props: MapiProperties;
  files: FoundFile[];
  isCut: boolean;
}

/** Source: MS-OXTNEF, 2.1.3.1. */
const FROM = 0x8000;
const SUBJECT = 0x8004;
const SENT = 0x8005;
const RECEIVED = 0x8006;
const BODY = 0x800c;
const FILE_DATA = 0x800f;
const FILE_TITLE = 0x8010;
const FILE_BEGINS = 0x9002;
const PROPERTIES = 0x9003;
const FILE_PROPERTIES = 0x9005;
const CODE_PAGE = 0x9007;
const MAX_FILES = 1_000;
const MAX_DEPTH = 3;
const HEAD_BYTES = 9;

/** Yields the attributes in order for as long as their lengths are valid. */
function* attributesOf(bytes: Buffer): Generator<Attribute, void> {
  for (let at = 6; at + HEAD_BYTES <= bytes.length;) {
    const level = bytes[at];
    const length = bytes.readUInt32LE(at + 5);
    const start = at + HEAD_BYTES;
    if (level !== 1 && level !== 2) return;
    yield { isOfFile: level === 2, id: bytes.readUInt16LE(at + 1), data: bytes.subarray(start, start + length) };
    // A checksum of two bytes follows.
    at = start + length + 2;
  }
}

function addAttribute(found: Found, { isOfFile, id, data }: Attribute): void {
  if (id === CODE_PAGE && data.length >= 4) found.charset = charsetOfCodePage(data.readUInt32LE(0));
  else if (id === PROPERTIES) found.props = readMapiProperties(data);
  else if (!isOfFile) found.own.set(id, data);
  else if (id !== FILE_BEGINS) addToFile(found.files.at(-1), id, data);
  else if (found.files.length < MAX_FILES) found.files.push({ title: undefined, data: undefined, props: new Map() });
  else found.isCut = true;
}

function addToFile(file: FoundFile | undefined, id: number, data: Buffer): void {
  if (file === undefined) return;
  if (id === FILE_DATA) file.data = data;
  else if (id === FILE_TITLE) file.title = data;
  else if (id === FILE_PROPERTIES) file.props = readMapiProperties(data);
}

function toMail({ charset, own, props, files, isCut }: Found, depth: number): Mail {
  const text = (id: number) => textOf(props, id, charset);
  const legacy = (id: number) => decodeCharset(own.get(id) ?? Buffer.alloc(0), charset).replaceAll("\0", "");
  const messageId = oneLine(text(0x1035), 500);
  return {
    subject: oneLine(text(0x0037) || legacy(SUBJECT), 500),
    from: outlookPerson(text(0x0c1a), text(0x5d01) || text(0x0c1f)) || senderOf(own.get(FROM), charset),
    to: oneLine(text(0x0e04), 2_000),
    cc: oneLine(text(0x0e03), 2_000),
    date: timeOf(props.get(0x0039)) ?? dateOf(own.get(SENT)) ?? timeOf(props.get(0x0e06)) ?? dateOf(own.get(RECEIVED)),
    properties: messageId === "" ? {} : { messageId },
    texts: bodyForms({
      plain: text(0x1000) || legacy(BODY),
      html: text(0x1013),
      rtf: props.get(0x1009)?.data,
      charset,
    }),
    attachments: files.flatMap((file) => attachmentsOf(file, charset, depth)),
    isCut,
  };
}

/** Returns a file, or a message in it with its attachments. */
function attachmentsOf({ title, data, props }: FoundFile, charset: string, depth: number): MailAttachment[] {
  const name = textOf(props, 0x3707, charset) || decodeCharset(title ?? Buffer.alloc(0), charset).replaceAll("\0", "");
  const object = props.get(0x3701)?.data;
  // An object begins with its kind.
  const inner = object !== undefined && depth < MAX_DEPTH ? readTnef(object.subarray(16), depth + 1) : undefined;
  if (inner !== undefined) return messageAttachments(inner, name);
  const bytes = data ?? object;
  const mimeType = oneLine(textOf(props, 0x370e, charset), 100).toLowerCase();
  const isDecoration = mimeType.startsWith("image/") && textOf(props, 0x3712, charset) !== "";
  if (bytes === undefined || bytes.length === 0 || isDecoration) return [];
  return [{ fileName: oneLine(name, 200) || "attachment", mimeType: mimeType || "application/octet-stream", bytes }];
}

function textOf(props: MapiProperties, id: number, charset: string): string {
  const value = props.get(id);
  if (value === undefined) return "";
  return (value.isUnicode ? value.data.toString("utf16le") : decodeCharset(value.data, charset)).replaceAll("\0", "");
}

/** Reads a name and an address after four numbers, as old programs write them. Source: MS-OXTNEF, 2.1.3.3.2. */
function senderOf(data: Buffer | undefined, charset: string): string {
  if (data === undefined || data.length < 8) return "";
  const nameEnd = 8 + data.readUInt16LE(4);
  const address = decodeCharset(data.subarray(nameEnd, nameEnd + data.readUInt16LE(6)), charset);
  const name = decodeCharset(data.subarray(8, nameEnd), charset).replaceAll("\0", "");
  return outlookPerson(name, address.replaceAll("\0", "").replace(/^smtp:/iu, ""));
}

/** Reads a date of seven numbers with two bytes each, in an unknown time zone. */
function dateOf(data: Buffer | undefined): string | undefined {
  if (data === undefined || data.length < 12) return undefined;
  const [year = 0, month = 0, ...rest] = [0, 2, 4, 6, 8, 10].map((at) => data.readUInt16LE(at));
  const time = Date.UTC(year, month - 1, ...rest);
  return year > 1970 && year < 10_000 && !Number.isNaN(time) ? isoSeconds(time) : undefined;
}

function timeOf(value: { data: Buffer } | undefined): string | undefined {
  return value?.data.length === 8 ? outlookTime(value.data.readBigUInt64LE(0)) : undefined;
}
