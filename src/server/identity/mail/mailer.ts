/** A plain-text message to exactly one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends messages to the mail server. */
export interface Mailer {
  readonly isConfigured: boolean;
  /**
   * Resolves when the mail server has accepted the message.
   *
   * @throws ApiError `mail_failed`, without any address or URL
   */
  send(mail: Mail): Promise<void>;
}
