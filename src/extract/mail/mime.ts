import { append } from "#core/append.ts";
import { oneLine } from "#extract/clean.ts";
import { decodeCharset } from "./charset.ts";
import { fieldText, type MailHeader, readHeader, readParameterField } from "./header.ts";
import { guessBoundary, mediaType } from "./media-type.ts";
import { type MailBody, type MailText, messageName } from "./mail.ts";
import { signedContent } from "./signed-content.ts";
import { takeUuencoded } from "./uuencoded.ts";
import { decodeTransfer } from "./transfer.ts";
import { isTnef, readTnef } from "./tnef.ts";

/** Real emails have up to five levels; each level costs a scan of its content. */
const MAX_DEPTH = 20;
const MAX_LEAVES = 1_000;

/** Reads the content of a message after its header: one version of its text, and its attachments. */
export function readBody(header: MailHeader, body: Buffer): MailBody {
  const reading: Reading = { leaves: 0, isCut: false, wrapped: [] };
  const { texts, attachments } = readEntity(reading, { header, body, depth: 0, inside: "" });
  // Outlook repeats the text in `winmail.dat` for itself.
  const hasText = texts.some(({ text }) => text.trim() !== "");
  return { texts: hasText ? texts : [...texts, ...reading.wrapped], attachments, isCut: reading.isCut };
}

interface Reading {
  leaves: number;
  isCut: boolean;
  /** The texts of `winmail.dat`. */
  wrapped: MailText[];
}

interface Entity {
  header: MailHeader;
  body: Buffer;
  depth: number;
  /** Type of the multipart that contains the part; "" for the message itself. */
  inside: string;
}

type Found = Pick<MailBody, "texts" | "attachments">;

function readEntity(reading: Reading, entity: Entity): Found {
  const { value, parameters } = readParameterField(rawField(entity.header, "content-type"));
  const type = { value: mediaType(value), parameters };
  if (type.value.startsWith("multipart/") && entity.depth < MAX_DEPTH) {
    const children = mimePartsOf(entity.body, parameters["boundary"]);
    if (children.length > 0) return readMultipart(reading, entity, type.value, children);
  }
  if (++reading.leaves > MAX_LEAVES) {
    reading.isCut = true;
    return { texts: [], attachments: [] };
  }
  const signed = SIGNED.test(type.value) && entity.depth < MAX_DEPTH ? signedPart(entity) : undefined;
  if (signed !== undefined) {
    const header = readHeader(signed);
    const inner = { header, body: signed.subarray(header.bodyStart), depth: entity.depth + 1, inside: entity.inside };
    return readEntity(reading, inner);
  }
  // A multipart without parts is read as text: its boundary is broken, or it is nested too deeply.
  return readLeaf(reading, entity, type.value.startsWith("multipart/") ? "text/plain" : type.value, type.parameters);
}

/** Returns the signed part, which other programs show like unsigned content. */
function signedPart({ header, body }: Entity): Buffer | undefined {
  const content = signedContent(decodeTransfer(body, rawField(header, "content-transfer-encoding")));
  return content !== undefined && isMimePart(content) ? content : undefined;
}

/** Whether the bytes begin with the header of a part, with which no other file begins. */
export function isMimePart(bytes: Buffer): boolean {
  return /^\s{0,4}(?:content-[a-z-]{1,40}|mime-version|from|to|subject|date|received|return-path):/iu.test(
    bytes.toString("latin1", 0, 60),
  );
}

function readMultipart(reading: Reading, entity: Entity, type: string, children: readonly Buffer[]): Found {
  const found = children.slice(0, MAX_LEAVES).map((bytes) => {
    const header = readHeader(bytes);
    const body = bytes.subarray(header.bodyStart);
    return readEntity(reading, { header, body, depth: entity.depth + 1, inside: type });
  });
  reading.isCut ||= children.length > MAX_LEAVES;
  const attachments = found.flatMap((child) => child.attachments);
  if (type !== "multipart/alternative") return { texts: found.flatMap((child) => child.texts), attachments };
  // The plain form is used unless it is empty: "see the other part" in the plain form is rarer than HTML with a complicated layout.
  const plain = found.find((child) => child.texts.some((text) => !text.isHtml && text.text.trim() !== ""));
  const any = found.find((child) => child.texts.some((text) => text.text.trim() !== ""));
  return { texts: (plain ?? any)?.texts ?? [], attachments };
}

function readLeaf(
  reading: Reading,
  { header, body, depth, inside }: Entity,
  type: string,
  parameters: Parameters,
): Found {
  const bytes = decodeTransfer(body, rawField(header, "content-transfer-encoding"));
  const disposition = readParameterField(rawField(header, "content-disposition"));
  const name = oneLine(disposition.parameters["filename"] ?? parameters["name"] ?? "", 200);
  const mimeType = type.includes("/") ? type : inside === "multipart/digest" ? "message/rfc822" : "text/plain";
  if (isTnef(bytes)) return readWrapped(reading, bytes);
  const isAttached = disposition.value === "attachment" || (name !== "" && depth > 0);
  const isText = READ_AS_TEXT.has(mimeType) || (depth === 0 && OTHER_TEXTS.test(mimeType));
  if (!isAttached && isText) {
    const isHtml = mimeType === "text/html";
    const text = decodeCharset(bytes, parameters["charset"]);
    if (isHtml || !/^begin(?:-base64)? \d{3,4} /mu.test(text)) return { texts: [{ isHtml, text }], attachments: [] };
    const { rest, files } = takeUuencoded(text);
    return { texts: [{ isHtml, text: rest }], attachments: files };
  }
  if (isDecoration(header, mimeType, disposition.value, inside) || bytes.length === 0 || SIGNATURES.test(mimeType))
    return { texts: [], attachments: [] };
  const fileName = name === "" ? nameOf(header, bytes, mimeType) : name;
  return { texts: [], attachments: [{ fileName, mimeType, bytes }] };
}

/** Reads `winmail.dat`, whose files belong to the email and are treated like its other files. */
function readWrapped(reading: Reading, bytes: Buffer): Found {
  const mail = readTnef(bytes);
  const attachments = (mail?.attachments ?? []).slice(0, MAX_LEAVES - reading.leaves);
  reading.leaves += attachments.length;
  reading.isCut ||= mail === undefined || mail.isCut || attachments.length < mail.attachments.length;
  append(reading.wrapped, mail?.texts ?? []);
  return { texts: [], attachments };
}

type Parameters = Readonly<Record<string, string>>;

const READ_AS_TEXT = new Set([
  "text/plain",
  "text/html",
  "text/enriched",
  "text/markdown",
  "text/x-markdown",
  "text/rfc822-headers",
  "message/delivery-status",
  "message/disposition-notification",
]);

/** Text types that are read as the text if they are the type of the whole message. Calendar invitations and contact cards are files. */
const OTHER_TEXTS = /^text\/(?!calendar$|x?-?vcard$|directory$)/u;

const SIGNED = /^application\/(?:x-)?pkcs7-mime$/u;
const SIGNATURES = /^application\/(?:pgp-signature|pkcs7-signature|x-pkcs7-signature|pgp-encrypted)$/u;

/** Whether a part belongs to the HTML of an email or page, such as a logo or a style sheet. Such parts aren't attachments. */
function isDecoration({ fields }: MailHeader, mimeType: string, disposition: string, inside: string): boolean {
  if (inside !== "multipart/related" || disposition === "attachment") return false;
  if (fields.has("content-location")) return true;
  return fields.has("content-id") && DECORATIONS.test(mimeType);
}

const DECORATIONS = /^(?:image\/|font\/|text\/(?:css|javascript)$|application\/(?:x-)?(?:javascript|font))/u;

function nameOf(header: MailHeader, bytes: Buffer, mimeType: string): string {
  if (mimeType === "message/rfc822" || mimeType === "message/global") {
    return `${messageName(fieldText(readHeader(bytes), "subject"))}.eml`;
  }
  const description = oneLine(fieldText(header, "content-description"), 100);
  const extension = mimeType === "text/calendar" ? ".ics" : "";
  return description === "" ? `${mimeType === "text/calendar" ? "invitation" : "attachment"}${extension}` : description;
}

function rawField({ fields }: MailHeader, name: string): string {
  return fields.get(name)?.[0] ?? "";
}

/** Splits the body at the boundary that the header declares. If there is none, or it doesn't occur, uses the line with which the body begins. */
function mimePartsOf(body: Buffer, boundary: string | undefined): Buffer[] {
  const named = boundary === undefined || boundary === "" ? [] : splitParts(body, boundary);
  if (named.length > 0) return named;
  const guessed = guessBoundary(body);
  return guessed === undefined ? [] : splitParts(body, guessed);
}

/** Returns the parts between the lines `--boundary`, without their last line break, which belongs to the boundary line. */
function splitParts(body: Buffer, boundary: string): Buffer[] {
  const mark = Buffer.from(`--${boundary}`, isLatin1(boundary) ? "latin1" : "utf8");
  const parts: Buffer[] = [];
  let start = -1;
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) {
    if (at > 0 && body[at - 1] !== 0x0a) continue;
    const after = at + mark.length;
    const lineFeed = body.indexOf(0x0a, after);
    const lineEnd = lineFeed < 0 ? body.length : lineFeed;
    const rest = body.toString("latin1", after, Math.min(lineEnd, after + 200)).trim();
    // The line may contain another boundary that begins with this one.
    if (rest !== "" && rest !== "--") continue;
    if (start >= 0) parts.push(body.subarray(start, endBefore(body, at)));
    start = Math.min(body.length, lineEnd + 1);
    if (rest === "--") return parts;
  }
  // The closing line is missing because the email is truncated.
  if (start >= 0 && start < body.length) parts.push(body.subarray(start));
  return parts;
}

function endBefore(body: Buffer, at: number): number {
  const end = body[at - 1] === 0x0a ? at - 1 : at;
  return body[end - 1] === 0x0d ? end - 1 : end;
}

function isLatin1(text: string): boolean {
  return !/[^\u0020-\u00ff]/u.test(text);
}
