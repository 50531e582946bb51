import { cleanText, oneLine } from "#extract/clean.ts";
import { renderFragment } from "#extract/html/render.ts";
import type { FormatText } from "#extract/format.ts";
import { numbered } from "#extract/numbered.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { addressText, readAddresses } from "./address.ts";
import { readMailDate } from "./date.ts";
import { fieldText, type MailHeader, readHeader } from "./header.ts";
import type { Mail, MailText } from "./mail.ts";
import { readBody } from "./mime.ts";

/** Reads an RFC 5322 message. Never throws. */
export function readMail(whole: Buffer): Mail {
  const bytes = messageIn(whole);
  const header = readHeader(bytes, true);
  const people = (name: string) =>
    readAddresses((header.fields.get(name) ?? []).join(", "))
      .map(addressText)
      .join(", ");
  const properties: Record<string, string> = {};
  for (const [field, name] of Object.entries(HEADER_PROPERTIES)) {
    const value = oneLine(fieldText(header, field), 500);
    if (value !== "") properties[name] = value;
  }
  return {
    ...readBody(header, bytes.subarray(header.bodyStart)),
    subject: oneLine(fieldText(header, "subject"), 500),
    from: people(header.fields.has("from") ? "from" : "sender"),
    to: people("to"),
    cc: people("cc"),
    date: dateOf(header),
    properties,
  };
}

/**
 * Returns the message without leading blank lines, which exports write, and without the wrapping of Apple Mail, which puts the length before the
 * message and a property list after it.
 */
export function messageIn(whole: Buffer): Buffer {
  const start = whole.toString("latin1", 0, 200);
  const blank = /^(?:\xef\xbb\xbf)?[\r\n]+/u.exec(start)?.[0].length ?? 0;
  const length = /^[ \t]*(\d{1,10})[ \t]*\r?\n/u.exec(start);
  if (length === null) return whole.subarray(blank);
  return whole.subarray(length[0].length, length[0].length + Number(length[1]));
}

const HEADER_PROPERTIES: Readonly<Record<string, string>> = {
  "message-id": "messageId",
  "in-reply-to": "inReplyTo",
  keywords: "keywords",
  organization: "organization",
  "list-id": "list",
};

/**
 * Renders the email as text: its header, its content, and the names of the files in it. Each text after the first is a section; the files become
 * child items.
 */
export function mailText(mail: Mail, maxTextLength: number): FormatText {
  const out = new TextBuilder(maxTextLength);
  out.section(mail.subject === "" ? "Message" : mail.subject, 1, 0, { kind: "part", ref: "1" });
  out.add(headOf(mail));
  const texts = mail.texts.map((text) => plainOf(text, maxTextLength)).filter((text) => text !== "");
  texts.forEach((text, index) => {
    out.add("\n");
    if (index > 0) out.section(`Part ${index + 1}`, 2, out.offset, { kind: "part", ref: String(index + 1) });
    out.add(`${text}\n`);
  });
  if (mail.attachments.length > 0) {
    out.add("\n");
    out.section("Attachments", 2, out.offset, { kind: "part" });
    out.add(`Attachments:\n${mail.attachments.map(({ fileName }) => `- ${oneLine(fileName, 200)}\n`).join("")}`);
  }
  return out.result({
    properties: propertiesOf(mail),
    isCut: mail.isCut,
    title: mail.subject,
    children: numbered(mail.attachments),
  });
}

/** Makes the lines above an email that people know. */
export function headOf({ from, to, cc, date, subject }: Mail): string {
  const lines = { From: from, To: to, Cc: cc, Date: date ?? "", Subject: subject };
  return Object.entries(lines)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${value}\n`)
    .join("");
}

function propertiesOf(mail: Mail): Record<string, string> {
  const { from, to, cc, date, subject, attachments } = mail;
  const found = { from, to: oneLine(to, 2_000), cc: oneLine(cc, 2_000), date: date ?? "", subject };
  const files = attachments.length > 0 ? { attachments: String(attachments.length) } : {};
  return {
    ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== "")),
    ...mail.properties,
    ...files,
  };
}

function plainOf({ isHtml, text }: MailText, maxTextLength: number): string {
  const clean = cleanText(text);
  if (!isHtml) return clean.trim();
  try {
    return renderFragment(clean, maxTextLength).toString().trim();
  } catch {
    // The HTML is nested too deeply. The words without structure are better than no email.
    return clean.replaceAll(/<[^<>]*>/gu, " ").trim();
  }
}

function dateOf(header: MailHeader): string | undefined {
  // The date of the last server is better than none, because drafts and automatic emails may omit `Date`.
  return (
    readMailDate(fieldText(header, "date")) ??
    readMailDate((header.fields.get("received")?.[0] ?? "").split(";").at(-1) ?? "")
  );
}
