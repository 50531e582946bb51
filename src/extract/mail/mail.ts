import { oneLine } from "#extract/clean.ts";

/** Text that a reader of the mail sees, in the order of the mail. */
export interface MailText {
  isHtml: boolean;
  text: string;
}

/** A file in the mail, or a mail in it (`message/rfc822`). */
export interface MailAttachment {
  fileName: string;
  mimeType: string;
  bytes: Uint8Array;
}

export interface MailBody {
  texts: MailText[];
  attachments: MailAttachment[];
  /** True when the mail has more parts than were read. */
  isCut: boolean;
}

/** The text and files of a mail, in any format. */
export interface Mail extends MailBody {
  subject: string;
  /** Lines such as `Ana <ana@one.test>, bo@two.test`; "" = none. */
  from: string;
  to: string;
  cc: string;
  /** RFC 3339, if it has a readable date. */
  date: string | undefined;
  /** Other properties, by name. */
  properties: Record<string, string>;
}

/** A subject as the name of a message. */
export function messageName(subject: string): string {
  return oneLine(subject, 150).replaceAll(/[/\\]/gu, "_") || "(no subject)";
}
