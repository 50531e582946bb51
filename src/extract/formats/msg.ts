import { oneLine } from "#extract/clean.ts";
import type { Format } from "#extract/format.ts";
import { decodeCharset } from "#extract/mail/charset.ts";
import { charsetOfCodePage } from "#extract/mail/code-pages.ts";
import { type CompoundEntry, openCompoundFile } from "#extract/mail/compound-file.ts";
import { fieldText, readHeader } from "#extract/mail/header.ts";
import { readMailDate } from "#extract/mail/date.ts";
import type { Mail, MailAttachment, MailText } from "#extract/mail/mail.ts";
import { mailText } from "#extract/mail/message.ts";
import { bodyForms, messageAttachments, outlookPerson, outlookTime } from "#extract/mail/outlook-message.ts";
import { asBuffer } from "#core/as-buffer.ts";

/** Outlook messages: header, text (plain unless it is empty, then HTML, then RTF), and attachments as child items. Source: MS-OXMSG. */
export const msgFormat: Format = {
  extract({ bytes, maxTextLength }) {
    const root = openCompoundFile(asBuffer(bytes));
    return mailText(readMessage(root, 0), maxTextLength);
  },
};

/** Identifiers of properties. Source: MS-OXPROPS. */
const SUBJECT = 0x0037;
const CLIENT_SUBMIT_TIME = 0x0039;
const SENDER_NAME = 0x0c1a;
const SENDER_EMAIL = 0x0c1f;
const SENDER_SMTP = 0x5d01;
const DISPLAY_TO = 0x0e04;
const DISPLAY_CC = 0x0e03;
const DELIVERY_TIME = 0x0e06;
const HEADERS = 0x007d;
const BODY = 0x1000;
const RTF = 0x1009;
const HTML = 0x1013;
const MESSAGE_ID = 0x1035;
const CODE_PAGE = 0x3fde;
const MESSAGE_CODE_PAGE = 0x3ffd;
const DISPLAY_NAME = 0x3001;
const EMAIL = 0x3003;
const SMTP = 0x39fe;
const RECIPIENT_TYPE = 0x0c15;
const ATTACH_DATA = 0x3701;
const ATTACH_EXTENSION = 0x3703;
const ATTACH_NAME = 0x3704;
const ATTACH_LONG_NAME = 0x3707;
const ATTACH_MIME = 0x370e;
const ATTACH_CONTENT_ID = 0x3712;
const ATTACH_HIDDEN = 0x7ffe;

const MAX_CHILDREN = 1_000;
const MAX_DEPTH = 3;

function readMessage(storage: CompoundEntry, depth: number, charset?: string): Mail {
  const read = new Properties(storage, depth === 0 ? 32 : 24, charset);
  const header = readHeader(Buffer.from(read.text(HEADERS), "utf8"));
  const named = (prefix: string) =>
    storage.children.filter((child) => child.name.startsWith(prefix)).slice(0, MAX_CHILDREN);
  const recipients = named("__recip_version1.0_").map((entry) => new Properties(entry, 8, read.charset));
  const people = (type: number) =>
    recipients
      .filter((one) => (one.number(RECIPIENT_TYPE) ?? 1) === type)
      .map((one) => outlookPerson(one.text(DISPLAY_NAME), one.text(SMTP) || one.text(EMAIL)))
      .join(", ");
  return {
    subject: oneLine(read.text(SUBJECT), 500),
    from: outlookPerson(read.text(SENDER_NAME), read.text(SENDER_SMTP) || read.text(SENDER_EMAIL)),
    to: people(1) || oneLine(read.text(DISPLAY_TO), 2_000),
    cc: people(2) || oneLine(read.text(DISPLAY_CC), 2_000),
    date: read.time(CLIENT_SUBMIT_TIME) ?? read.time(DELIVERY_TIME) ?? readMailDate(fieldText(header, "date")),
    properties: read.text(MESSAGE_ID) === "" ? {} : { messageId: oneLine(read.text(MESSAGE_ID), 500) },
    texts: bodyOf(read),
    attachments: named("__attach_version1.0_").flatMap((entry) => readAttachment(entry, depth, read.charset)),
    isCut: false,
  };
}

function bodyOf(read: Properties): MailText[] {
  const bytes = read.bytes(HTML);
  const html = bytes === undefined ? read.text(HTML) : decodeCharset(bytes, read.charset);
  return bodyForms({ plain: read.text(BODY), html, rtf: read.bytes(RTF), charset: read.charset });
}

/** Reads an attachment: a file, or an embedded message. */
function readAttachment(entry: CompoundEntry, depth: number, charset: string): MailAttachment[] {
  const read = new Properties(entry, 8, charset);
  const inner = entry.children.find((child) => child.name === "__substg1.0_3701000D");
  if (inner !== undefined) {
    const isMessage = inner.children.some((child) => child.name === "__properties_version1.0");
    if (!isMessage || depth >= MAX_DEPTH) return [];
    const mail = readMessage(inner, depth + 1, charset);
    return messageAttachments(mail, read.text(DISPLAY_NAME));
  }
  const bytes = read.bytes(ATTACH_DATA);
  const mimeType = oneLine(read.text(ATTACH_MIME), 100).toLowerCase();
  const isDecoration =
    read.number(ATTACH_HIDDEN) === 1 || (mimeType.startsWith("image/") && read.text(ATTACH_CONTENT_ID) !== "");
  if (bytes === undefined || bytes.length === 0 || isDecoration) return [];
  const name = read.text(ATTACH_LONG_NAME) || read.text(ATTACH_NAME) || read.text(DISPLAY_NAME);
  const fileName = oneLine(name, 200) || `attachment${oneLine(read.text(ATTACH_EXTENSION), 20)}`;
  return [{ fileName, mimeType: mimeType || "application/octet-stream", bytes }];
}

/** The properties of a storage. Long properties are streams; short ones are entries of sixteen bytes in one stream. */
class Properties {
  readonly charset: string;
  private readonly streams = new Map<string, CompoundEntry>();
  private readonly fixed: Buffer;
  private readonly start: number;

  /** @param outer the encoding of the enclosing message: recipients and attachments declare none themselves */
  constructor(storage: CompoundEntry, start: number, outer = "windows-1252") {
    for (const child of storage.children) if (!child.isStorage) this.streams.set(child.name.toUpperCase(), child);
    this.fixed = this.streams.get("__PROPERTIES_VERSION1.0")?.read() ?? Buffer.alloc(0);
    this.start = start;
    const page = this.number(MESSAGE_CODE_PAGE) ?? this.number(CODE_PAGE);
    this.charset = page === undefined ? outer : charsetOfCodePage(page);
  }

  text(id: number): string {
    const unicode = this.stream(id, "001F");
    if (unicode !== undefined) return unicode.read().toString("utf16le").replaceAll("\0", "");
    const bytes = this.stream(id, "001E")?.read();
    return bytes === undefined ? "" : decodeCharset(bytes, this.charset).replaceAll("\0", "");
  }

  bytes(id: number): Buffer | undefined {
    return this.stream(id, "0102")?.read();
  }

  number(id: number): number | undefined {
    const at = this.find(id);
    return at === undefined ? undefined : this.fixed.readUInt32LE(at + 8);
  }

  time(id: number): string | undefined {
    const at = this.find(id);
    return at === undefined ? undefined : outlookTime(this.fixed.readBigUInt64LE(at + 8));
  }

  private stream(id: number, type: string): CompoundEntry | undefined {
    return this.streams.get(`__SUBSTG1.0_${id.toString(16).toUpperCase().padStart(4, "0")}${type}`);
  }

  private find(id: number): number | undefined {
    for (let at = this.start; at + 16 <= this.fixed.length; at += 16)
      if (this.fixed.readUInt16LE(at + 2) === id) return at;
    return undefined;
  }
}
