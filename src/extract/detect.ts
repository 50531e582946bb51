import { decodeText, hasOnlyTextControls, looksLikeUtf8Text } from "#core/encodings/decode.ts";
import { loadPart } from "./load.ts";
import { pdfStart } from "./pdf-header.ts";
import { xmlTypeOf } from "./xml-kind.ts";
import { kindByMark } from "./marks.ts";
import { textTypeOfName } from "./text-types.ts";

export type Detected =
  | { type: "text"; mimeType: string }
  /** `label` names the type in a word or two. */
  | { type: "binary"; mimeType: string; label: string }
  | { type: "empty" };

/**
 * Detects a file's type. Binary formats are detected by their magic numbers, independent of the name, and text by its encoding. For text files, the
 * kind is detected by the name, then by the declared type, then by the beginning of the text.
 *
 * @param declaredType the source's type, if any; parameters such as `; charset=` are ignored
 */
export async function detectType(bytes: Uint8Array, fileName: string, declaredType?: string): Promise<Detected> {
  if (isBlank(bytes)) return { type: "empty" };
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const marked = kindByMark(sample);
  if (marked !== undefined) return { type: "binary", ...marked };
  // Loading and calling file-type costs more than reading a small text, so obvious text is detected first.
  if (pdfStart(bytes) >= 0) return { type: "binary", mimeType: "application/pdf", label: "PDF" };
  const beginsAsUtf8 = looksLikeUtf8Text(bytes);
  const isText = beginsAsUtf8 ? hasOnlyTextControls(bytes) : looksLikeUtf16Text(sample);
  if (!isText || startsLikeDocument(sample)) {
    const binary = await detectBinary(bytes, fileName);
    if (binary !== undefined) return binary;
    if (!isText && (beginsAsUtf8 || decodeText(sample, SAMPLE_BYTES) === undefined))
      return { type: "binary", mimeType: "application/octet-stream", label: "binary" };
  }
  const mimeType = textType(sample, fileName, declaredType);
  // SVG drawings aren't read as text, because their coordinates would outnumber the words.
  if (mimeType === "image/svg+xml") return { type: "binary", mimeType, label: "SVG image" };
  return { type: "text", mimeType };
}

const SAMPLE_BYTES = 4_096;

/** Types that file-type detects although kb reads them as plain text. */
const TEXT_FOR_US = new Set(["application/xml", "text/calendar", "text/vcard"]);

async function detectBinary(bytes: Uint8Array, fileName: string): Promise<Detected | undefined> {
  if (mayBeOffice(bytes)) {
    const { officeKindOf } = await loadPart(() => import("./office/kind.ts"));
    const kind = officeKindOf(bytes, fileName);
    if (kind !== undefined) return { type: "binary", ...kind };
  }
  const { fileTypeFromBuffer } = await loadPart(() => import("file-type"));
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (found === undefined || TEXT_FOR_US.has(found.mime)) return undefined;
  return { type: "binary", mimeType: found.mime, label: found.ext.toUpperCase() };
}

/** Whether the bytes may be a ZIP archive or an OLE file. */
function mayBeOffice([first, second]: Uint8Array): boolean {
  return (first === 0x50 && second === 0x4b) || (first === 0xd0 && second === 0xcf);
}

function textType(sample: Uint8Array, fileName: string, declaredType: string | undefined): string {
  const byName = textTypeOfName(fileName);
  const mayBeXml = byName === undefined || byName === "text/plain" || byName === "application/xml";
  const xml = mayBeXml ? xmlTypeOf(decodeText(sample, SAMPLE_BYTES)?.text ?? "") : undefined;
  if (xml !== undefined) return xml;
  if (byName !== undefined && byName !== "text/plain") return byName;
  const declared = declaredType?.split(";")[0]?.trim().toLowerCase();
  if (byName === undefined && declared !== undefined && isTextType(declared)) return declared;
  if (looksLikeHtml(sample)) return "text/html";
  return (mayBeMail(fileName) ? mailTypeOf(sample) : undefined) ?? "text/plain";
}

/**
 * Whether the name may be that of an email. Emails are stored without an extension (maildirs, exports) or as text. A patch that begins like an email
 * is a patch.
 */
function mayBeMail(fileName: string): boolean {
  const extension = /\.([^./\\]*)$/u.exec(fileName)?.[1] ?? "";
  return extension === "txt" || textTypeOfName(fileName) === undefined;
}

/** Detects an email or a mailbox by its first lines: they must all be header fields of a message, and include two that every email has. */
function mailTypeOf(sample: Uint8Array): string | undefined {
  const text = Buffer.from(sample)
    .toString("latin1")
    .replace(/^[\r\n]+/u, "");
  const isMailbox = /^From (?:-|\S.*\d{4})\s*\r?\n/u.test(text);
  const start = isMailbox ? text.indexOf("\n") + 1 : 0;
  // A long header is truncated with the sample, so its last line may be incomplete.
  const whole = text.length < SAMPLE_BYTES ? text : text.slice(0, text.lastIndexOf("\n"));
  const head = (whole.slice(start).split(/\r?\n\r?\n/u, 1)[0] ?? "").trimEnd();
  if (!/^(?:[!-9;-~]{1,60}:.*|[ \t]+\S.*|>From .*)(?:\r?\n(?:[!-9;-~]{1,60}:.*|[ \t].*|>From .*))*$/u.test(head))
    return undefined;
  const known = ["from", "date", "to", "subject", "message-id", "received", "mime-version", "return-path"];
  const found = known.filter((name) => new RegExp(`^${name}:`, "imu").test(head));
  if (!found.includes("from") || found.length < (isMailbox ? 2 : 3)) return undefined;
  return isMailbox ? "application/mbox" : "message/rfc822";
}

function isTextType(mimeType: string): boolean {
  return mimeType !== "text/plain" && (mimeType.startsWith("text/") || TEXT_APPLICATIONS.has(mimeType));
}

const TEXT_APPLICATIONS = new Set([
  "application/json",
  "application/x-ndjson",
  "application/xml",
  "application/yaml",
  "application/toml",
  "application/mbox",
  "message/rfc822",
]);

/** Whether the bytes are UTF-16 text with a byte order mark. The little-endian mark can also begin a sound file. */
function looksLikeUtf16Text(sample: Uint8Array): boolean {
  const [first, second] = sample;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (!isMarked || sample.length % 2 !== 0) return false;
  const text = decodeText(sample, SAMPLE_BYTES)?.text ?? "";
  const strange = text.match(/[^\P{C}\t\n\f\r]|\ufffd/gu)?.length ?? 0;
  return strange * 50 <= text.length;
}

/** Whether the beginning is that of a document that is printable but isn't a text file: PostScript, RTF. */
function startsLikeDocument(sample: Uint8Array): boolean {
  const start = Buffer.from(sample.subarray(0, 8)).toString("latin1");
  return start.startsWith("%!PS") || start.startsWith("{\\rtf");
}

/** Searches step by step: a single pattern for any number of comments takes exponential time when there are many. */
function looksLikeHtml(sample: Uint8Array): boolean {
  let rest = (decodeText(sample, SAMPLE_BYTES)?.text ?? "").trimStart();
  for (;;) {
    const end = rest.startsWith("<!--") ? "-->" : rest.startsWith("<?xml") ? ">" : undefined;
    if (end === undefined) return /^<(?:!doctype\s+html|html)[\s>]/iu.test(rest);
    const at = rest.indexOf(end);
    if (at < 0) return false;
    rest = rest.slice(at + end.length).trimStart();
  }
}

/** Whether the file is empty or contains only zero bytes (it was reserved and never written). */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.length === 0 || (bytes[0] === 0 && bytes.every((byte) => byte === 0));
}
