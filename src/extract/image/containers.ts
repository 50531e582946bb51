import { inflateSync } from "node:zlib";
import { decodeText } from "#core/encodings/decode.ts";
import { readTiff } from "./exif.ts";
import { type MediaFacts, note } from "./facts.ts";
import { readIptc, readPhotoshop } from "./iptc.ts";
import { readXmp } from "./xmp.ts";

/** Reads the metadata of a picture in any container, without decoding the picture itself. Never throws for broken bytes. */
export function readImage(bytes: Buffer, mimeType: string): MediaFacts {
  const facts: MediaFacts = {};
  switch (mimeType) {
    case "image/jpeg":
      readJpeg(bytes, facts);
      break;
    case "image/png":
    case "image/apng":
      readPng(bytes, facts);
      break;
    case "image/gif":
      readGif(bytes, facts);
      break;
    case "image/webp":
      readWebp(bytes, facts);
      break;
    case "image/tiff":
      readTiff(bytes, facts, {
        xmp: (packet) => readXmp(packet.toString("utf8"), facts),
        iptc: (records) => readIptc(records, facts),
      });
      break;
    default:
      readAnywhere(bytes, facts);
  }
  return facts;
}

const XMP_MARK = "http://ns.adobe.com/xap/1.0/\0";
const PHOTOSHOP_MARK = "Photoshop 3.0\0";
const MAX_SEGMENTS = 2_000;
const MAX_INFLATED = 1_000_000;

function readJpeg(bytes: Buffer, facts: MediaFacts): void {
  for (let at = 2, count = 0; at + 4 <= bytes.length && bytes[at] === 0xff && count < MAX_SEGMENTS; count++) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === 0xda || marker === 0xd9) return;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    const body = bytes.subarray(at + 4, end);
    if (marker === 0xe1 && body.toString("latin1", 0, 6) === "Exif\0\0") readTiff(body.subarray(6), facts);
    else if (marker === 0xe1 && body.toString("latin1", 0, XMP_MARK.length) === XMP_MARK)
      readXmp(body.toString("utf8", XMP_MARK.length), facts);
    else if (marker === 0xed && body.toString("latin1", 0, PHOTOSHOP_MARK.length) === PHOTOSHOP_MARK)
      readPhotoshop(body.subarray(PHOTOSHOP_MARK.length), facts);
    else if (marker === 0xfe) note(facts, "comment", textOf(body));
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker) && body.length >= 5) {
      facts.height ??= body.readUInt16BE(1);
      facts.width ??= body.readUInt16BE(3);
    }
    at = end;
  }
}

/** Keywords of PNG's text chunks. Source: PNG 11.3.4. */
const PNG_FACTS: Readonly<Record<string, "title" | "author" | "description" | "copyright" | "comment">> = {
  title: "title",
  author: "author",
  description: "description",
  copyright: "copyright",
  comment: "comment",
};

function readPng(bytes: Buffer, facts: MediaFacts): void {
  for (let at = 8, count = 0; at + 8 <= bytes.length && count < MAX_SEGMENTS; count++) {
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + 8 + size);
    if (type === "IHDR" && body.length >= 8) {
      facts.width = body.readUInt32BE(0);
      facts.height = body.readUInt32BE(4);
    } else if (type === "eXIf") readTiff(body, facts);
    else if (type === "tEXt" || type === "zTXt" || type === "iTXt") readPngText(type, body, facts);
    at += 12 + size;
  }
}

function readPngText(type: string, body: Buffer, facts: MediaFacts): void {
  const end = body.indexOf(0);
  if (end < 1) return;
  const keyword = body.toString("latin1", 0, end);
  let text: string;
  if (type === "tEXt") text = body.toString("latin1", end + 1);
  else if (type === "zTXt") text = inflated(body.subarray(end + 2)).toString("latin1");
  else {
    const languageEnd = body.indexOf(0, end + 3);
    const start = body.indexOf(0, languageEnd + 1) + 1;
    if (languageEnd < 0 || start <= 0) return;
    const data = body.subarray(start);
    text = (body[end + 1] === 1 ? inflated(data) : data).toString("utf8");
  }
  if (keyword === "XML:com.adobe.xmp") readXmp(text, facts);
  const name = Object.hasOwn(PNG_FACTS, keyword.toLowerCase()) ? PNG_FACTS[keyword.toLowerCase()] : undefined;
  if (name !== undefined) note(facts, name, text);
}

function inflated(bytes: Buffer): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength: MAX_INFLATED });
  } catch {
    // The content is broken, or far longer than any text, so it is treated as missing.
    return Buffer.alloc(0);
  }
}

function readGif(bytes: Buffer, facts: MediaFacts): void {
  if (bytes.length < 13) return;
  facts.width = bytes.readUInt16LE(6);
  facts.height = bytes.readUInt16LE(8);
  readPacket(bytes, facts);
  const flags = bytes[10] ?? 0;
  let at = 13 + ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1));
  for (let count = 0; bytes[at] === 0x21 && count < MAX_SEGMENTS; count++) {
    const isComment = bytes[at + 1] === 0xfe;
    const pieces: Buffer[] = [];
    at += 2;
    for (let size = bytes[at] ?? 0; size > 0; size = bytes[at] ?? 0) {
      if (isComment) pieces.push(bytes.subarray(at + 1, at + 1 + size));
      at += 1 + size;
    }
    at++;
    if (isComment) note(facts, "comment", textOf(Buffer.concat(pieces)));
  }
}

function readWebp(bytes: Buffer, facts: MediaFacts): void {
  for (let at = 12, count = 0; at + 8 <= bytes.length && count < MAX_SEGMENTS; count++) {
    const type = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = bytes.subarray(at + 8, at + 8 + size);
    if (type === "VP8X" && body.length >= 10) {
      facts.width = body.readUIntLE(4, 3) + 1;
      facts.height = body.readUIntLE(7, 3) + 1;
    } else if (type === "EXIF") readTiff(body.toString("latin1", 0, 4) === "Exif" ? body.subarray(6) : body, facts);
    else if (type === "XMP ") readXmp(body.toString("utf8"), facts);
    at += 8 + size + (size % 2);
  }
}

/** Reads HEIC, AVIF and other formats in which EXIF and XMP are embedded unchanged at an unknown offset. */
function readAnywhere(bytes: Buffer, facts: MediaFacts): void {
  readPacket(bytes, facts);
  const at = bytes.indexOf("Exif\0\0");
  if (at >= 0) readTiff(bytes.subarray(at + 6), facts);
}

function readPacket(bytes: Buffer, facts: MediaFacts): void {
  const start = bytes.indexOf("<x:xmpmeta");
  const end = start < 0 ? -1 : bytes.indexOf("</x:xmpmeta>", start);
  if (end > start) readXmp(bytes.toString("utf8", start, end + 12), facts);
}

function textOf(bytes: Buffer): string {
  return decodeText(bytes, Math.max(1, bytes.length))?.text.replaceAll("\0", " ") ?? "";
}
