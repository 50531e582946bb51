import { oneLine } from "#extract/clean.ts";

/** The texts that a reader of the email sees, in order. */
export interface MailText {
  isHtml: boolean;
  text: string;
}

/** A file in the email, or an email in it (`message/rfc822`). */
export interface MailAttachment {
  fileName: string;
  mimeType: string;
  bytes: Uint8Array;
}

export interface MailBody {
  texts: MailText[];
  attachments: MailAttachment[];
  /** True when the email has more parts than were read. */
  isCut: boolean;
}

/** The text and files of an email in any format. */
export interface Mail extends MailBody {
  subject: string;
  /** The senders as a line such as `Ana <ana@one.test>, bo@two.test`; "" = none. */
  from: string;
  to: string;
  cc: string;
  /** RFC 3339; undefined if the email has no readable date. */
  date: string | undefined;
  /** Other properties by name. */
  properties: Record<string, string>;
}

/** Returns a subject as the name of a message. */
export function messageName(subject: string): string {
  return oneLine(subject, 150).replaceAll(/[/\\]/gu, "_") || "(no subject)";
}
