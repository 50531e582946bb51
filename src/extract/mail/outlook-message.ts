import { oneLine } from "#extract/clean.ts";
import { isoSeconds } from "#extract/iso-time.ts";
import { addressText } from "./address.ts";
import { decodeCharset } from "./charset.ts";
import { textOfRtf, unpackRtf } from "./compressed-rtf.ts";
import { type Mail, type MailAttachment, type MailText, messageName } from "./mail.ts";

/** The forms in which Outlook stores the text of a message. */
export interface BodyForms {
  plain: string;
  html: string;
  rtf: Buffer | undefined;
  charset: string;
}

/** Returns one form of the text: plain unless it is empty, then HTML, then RTF. */
export function bodyForms({ plain, html, rtf, charset }: BodyForms): MailText[] {
  if (plain.trim() !== "") return [{ isHtml: false, text: plain }];
  if (html.trim() !== "") return [{ isHtml: true, text: html }];
  const unpacked = rtf === undefined ? undefined : unpackRtf(rtf);
  return unpacked === undefined ? [] : [textOfRtf(unpacked, (bytes) => decodeCharset(bytes, charset))];
}

/** Formats a person in Outlook. Senders within an organization have a directory name instead of an address. */
export function outlookPerson(name: string, email: string): string {
  return addressText({ name: oneLine(name, 200), email: email.includes("@") ? oneLine(email, 320) : "" });
}

/** Converts a time in 100 ns since 1601 to RFC 3339. */
export function outlookTime(ticks: bigint): string | undefined {
  const ms = Number(ticks / 10_000n) - 11_644_473_600_000;
  return ms > 0 && ms < 253_402_300_800_000 ? isoSeconds(ms) : undefined;
}

/** Makes the attachments of a message in a message: the message itself, written as an email so that it is complete, and its own attachments. */
export function messageAttachments(mail: Mail, name: string): MailAttachment[] {
  const fileName = `${messageName(mail.subject || oneLine(name, 200))}.eml`;
  return [{ fileName, mimeType: "message/rfc822", bytes: writeMail(mail) }, ...mail.attachments];
}

/** Writes header and text as an RFC 5322 message that also lists its attachments. */
function writeMail(mail: Mail): Buffer {
  const word = (text: string) =>
    /^[\x20-\x7e]*$/u.test(text) ? text : `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;
  const [text] = mail.texts;
  const head = [
    `From: ${mail.from}`,
    ...(mail.to === "" ? [] : [`To: ${mail.to}`]),
    ...(mail.cc === "" ? [] : [`Cc: ${mail.cc}`]),
    ...(mail.date === undefined ? [] : [`Date: ${new Date(mail.date).toUTCString()}`]),
    `Subject: ${word(mail.subject)}`,
    "MIME-Version: 1.0",
    `Content-Type: text/${text?.isHtml === true ? "html" : "plain"}; charset=utf-8`,
    "Content-Transfer-Encoding: 8bit",
  ];
  return Buffer.from(
    `${head.map((line) => line.replaceAll(/[\r\n]+/gu, " ")).join("\r\n")}\r\n\r\n${text?.text ?? ""}`,
  );
}
