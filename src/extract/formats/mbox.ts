import type { ExtractedChild } from "#extract/extractor.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { messageName } from "#extract/mail/mail.ts";
import { headOf, mailText, readMail } from "#extract/mail/message.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { asBuffer } from "#core/as-buffer.ts";

/**
 * A mailbox. A single message is read as an email. If there are several, each becomes a child item, and the mailbox's own text is their list.
 * Messages beyond `MAX_CHILDREN` are read as text of the mailbox, so that nothing is lost.
 */
export const mboxFormat: Format = {
  extract({ bytes, maxTextLength, hasTime }): FormatText {
    const messages = splitMailbox(asBuffer(bytes));
    const [first] = messages;
    if (first !== undefined && messages.length === 1) return mailText(readMail(first), maxTextLength);
    const out = new TextBuilder(maxTextLength);
    const children: ExtractedChild<Uint8Array>[] = [];
    let read = 0;
    for (const message of messages) {
      if (out.isFull || !hasTime()) break;
      read++;
      const mail = readMail(message);
      // A message without a header can't be listed, so its text becomes text of the mailbox.
      const isChild = children.length < MAX_CHILDREN && headOf(mail) !== "";
      if (read > 1) out.add("\n");
      out.section(messageName(mail.subject), 1, out.offset, { kind: "part", ref: String(read) });
      out.add(isChild ? headOf(mail) : mailText(mail, maxTextLength).text);
      if (!isChild) continue;
      const fileName = `${messageName(mail.subject)}.eml`;
      children.push({
        id: idOf(mail.properties["messageId"], read),
        fileName,
        mimeType: "message/rfc822",
        bytes: message,
      });
    }
    return out.result({
      properties: { messages: String(messages.length) },
      children: withUniqueIds(children),
      isCut: read < messages.length,
    });
  },
};

/** With more child items, one file would cause a thousand writes. The pipe of a child accepts no more either. */
const MAX_CHILDREN = 1_000;

/** Splits a mailbox into messages: each begins with a line `From …` after an empty line. Source: RFC 4155. */
export function splitMailbox(bytes: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let at = bytes.indexOf("From "); at >= 0; at = bytes.indexOf("From ", at + 5)) {
    if (at > 0 && !isAfterBlankLine(bytes, at)) continue;
    const lineFeed = bytes.indexOf(0x0a, at);
    const line = bytes.toString("latin1", at, Math.min(lineFeed < 0 ? bytes.length : lineFeed, at + 200));
    const next = lineFeed < 0 ? "" : bytes.toString("latin1", lineFeed + 1, lineFeed + 80);
    if (/\d{4}|^From -\s*$/u.test(line) && (/^(?:>?From |[!-9;-~]{1,60}:)/u.test(next) || ENVELOPE.test(line)))
      starts.push(at);
  }
  return starts.map((start, index) => withoutQuotes(bytes.subarray(start, starts[index + 1] ?? bytes.length)));
}

/** A `From` line that isn't a sentence. Messages without a header, as old programs stored them, begin with such a line too. */
const ENVELOPE =
  /^From \S{1,100} +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d(?::\d\d)?(?: [A-Z+-][\w:+-]{1,9})? \d{4}\s*$/u;

function isAfterBlankLine(bytes: Buffer, at: number): boolean {
  if (bytes[at - 1] !== 0x0a) return false;
  const before = bytes[at - 2] === 0x0d ? at - 3 : at - 2;
  return before < 0 || bytes[before] === 0x0a;
}

/** Unescapes lines that would otherwise begin a message: `>From ` becomes `From `. */
function withoutQuotes(message: Buffer): Buffer {
  if (!message.includes("\n>From ") && !message.includes("\n>>From ")) return message;
  return Buffer.from(message.toString("latin1").replaceAll(/\n>(>*From )/gu, "\n$1"), "latin1");
}

/** Returns the message's own id, which stays the same when other messages are deleted from the mailbox; otherwise its number. */
function idOf(messageId: string | undefined, number: number): string {
  const id = messageId?.replace(/^<|>$/gu, "").trim() ?? "";
  return id === "" || id.length > 200 ? String(number) : id;
}

function withUniqueIds(children: readonly ExtractedChild<Uint8Array>[]): ExtractedChild<Uint8Array>[] {
  const seen = new Map<string, number>();
  return children.map((child) => {
    const count = (seen.get(child.id) ?? 0) + 1;
    seen.set(child.id, count);
    return count === 1 ? child : { ...child, id: `${child.id}#${count}` };
  });
}
