/** A message in plain text to exactly one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends messages to the mail server. */
export interface Mailer {
  readonly isConfigured: boolean;
  /** Resolves when the mail server took the message. @throws ApiError `mail_failed`, which names no address and no URL */
  send(mail: Mail): Promise<void>;
}
