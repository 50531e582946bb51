import { defined } from "#core/defined.ts";
import { cleanText, oneLine } from "#extract/clean.ts";
import type { Format, FormatInput, FormatResult } from "#extract/format.ts";
import { fieldText, type MailHeader, readHeader } from "#extract/mail/header.ts";
import type { Mail } from "#extract/mail/mail.ts";
import { numbered } from "#extract/numbered.ts";
import { mailText, messageIn, readMail } from "#extract/mail/message.ts";
import { readMailDate } from "#extract/mail/date.ts";
import { renderPage } from "./html.ts";
import { asBuffer } from "#core/as-buffer.ts";

/** An email (`.eml`, a file of a maildir): header, text, and its attachments as child items. A saved page (`.mht`) is read as a page. */
export const mailFormat: Format = {
  async extract(input): Promise<FormatResult> {
    const { bytes } = input;
    const whole = asBuffer(bytes);
    const header = readHeader(messageIn(whole));
    const mail = readMail(whole);
    return isSavedPage(header, input.fileName) ? savedPage(mail, header, input) : mailText(mail, input.maxTextLength);
  },
};

/** Recognizes a saved page: browsers and Word write their names into it, and it has no sender. */
function isSavedPage(header: MailHeader, fileName: string): boolean {
  if (header.fields.has("snapshot-content-location")) return true;
  const from = header.fields.get("from")?.[0] ?? "";
  const isPage = /^\s*"?<?\s*saved by\b/iu.test(from) || (/\.mht(?:ml)?$/iu.test(fileName) && !/@/u.test(from));
  return isPage && !header.fields.has("received");
}

async function savedPage(mail: Mail, header: MailHeader, { maxTextLength }: FormatInput): Promise<FormatResult> {
  const pages = mail.texts.filter(({ isHtml }) => isHtml).map(({ text }) => cleanText(text));
  const [first] = pages;
  if (first === undefined) return mailText(mail, maxTextLength);
  const page = await renderPage(first, maxTextLength);
  // The text of a page with frames is in the other pages.
  const frames = /<frame\b/iu.test(first) ? pages.slice(1).join("\n") : "";
  const { text, sections, isCut } = frames === "" ? page : await renderPage(frames, maxTextLength);
  const url = oneLine(fieldText(header, "snapshot-content-location") || fieldText(header, "content-location"), 500);
  const date = readMailDate(fieldText(header, "date"));
  const title = page.title ?? (mail.subject === "" ? undefined : mail.subject);
  return {
    state: "ok",
    text,
    sections,
    properties: { ...page.properties, ...defined({ url: url || undefined, saved: date }) },
    isCut: isCut === true || mail.isCut,
    ...defined({ title, language: page.language }),
    children: numbered(mail.attachments),
  };
}
