import type { Format } from "#extract/format.ts";
import { mailText, readMail } from "#extract/mail/message.ts";

/** A mail (`.eml`, `.mht`, a file of a maildir): head, text, and its attachments as parts. */
export const mailFormat: Format = {
  extract({ bytes, maxTextLength }) {
    return mailText(readMail(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)), maxTextLength);
  },
};
