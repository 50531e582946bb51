import { memberPath } from "#extract/archive/member.ts";
import { type Format, noText } from "#extract/format.ts";
import { numbered } from "#extract/numbered.ts";
import { isMimePart } from "#extract/mail/mime.ts";
import { signedContent } from "#extract/mail/signed-content.ts";
import { mailFormat } from "./mail.ts";

/**
 * Signed files (`.p7m`). The signed content is read by its own type. If it is an email, it becomes the item itself; any other file, such as an XML
 * invoice, becomes a child item.
 */
export const signedFormat: Format = {
  extract(input) {
    const bytes = signedContent(input.bytes);
    if (bytes === undefined)
      return noText("encrypted", "The mail is encrypted (S/MIME), or its signature wraps nothing.");
    if (isMimePart(bytes)) return mailFormat.extract({ ...input, bytes });
    const fileName = memberPath(input.fileName.replace(/\.p7[ms]$/iu, "")) ?? "content";
    return {
      state: "ok",
      text: `${fileName}\n`,
      sections: [],
      properties: { attachments: "1" },
      children: numbered([{ fileName, bytes }]),
    };
  },
};
