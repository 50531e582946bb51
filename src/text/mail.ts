const MAIL_TYPES = new Set(["message/rfc822", "message/global", "application/vnd.ms-outlook"]);

/** Whether a file of this type and name is an email. A web page saved as one file has the same type as an email. */
export function isMail(mimeType: string | null | undefined, fileName: string): boolean {
  return MAIL_TYPES.has(mimeType ?? "") && !/\.mht(?:ml)?$/iu.test(fileName);
}
