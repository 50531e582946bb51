import type { Format } from "#extract/format.ts";
import { mailText } from "#extract/mail/message.ts";
import { readTnef } from "#extract/mail/tnef.ts";

/** `winmail.dat` that somebody saved: the message in it, its attachments as parts. */
export const tnefFormat: Format = {
  extract({ bytes, maxTextLength }) {
    const mail = readTnef(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (mail === undefined) throw new Error("it isn't a TNEF file");
    return mailText(mail, maxTextLength);
  },
};
