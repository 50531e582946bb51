import type { Format } from "#extract/format.ts";
import { mailText } from "#extract/mail/message.ts";
import { readTnef } from "#extract/mail/tnef.ts";
import { asBuffer } from "#core/as-buffer.ts";

/** A saved `winmail.dat`: the message in it, and its attachments as child items. */
export const tnefFormat: Format = {
  extract({ bytes, maxTextLength }) {
    const mail = readTnef(asBuffer(bytes));
    if (mail === undefined) throw new Error("it isn't a TNEF file");
    return mailText(mail, maxTextLength);
  },
};
