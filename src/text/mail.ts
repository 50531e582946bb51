const MAIL_TYPES = new Set(["message/rfc822", "message/global", "application/vnd.ms-outlook"]);

/** Whether a file of this type and name is a mail. A web page saved as one file has the type of a mail too. */
export function isMail(mimeType: string | null | undefined, fileName: string): boolean {
  return MAIL_TYPES.has(mimeType ?? "") && !/\.mht(?:ml)?$/iu.test(fileName);
}
