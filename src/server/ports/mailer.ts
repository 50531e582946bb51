/** A message in plain text to exactly one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** What carries messages out of the house. */
export interface Mailer {
  readonly isConfigured: boolean;
  /** Resolves when the mail server took the message. @throws ApiError `mail_failed`, which names no address and no URL */
  send(mail: Mail): Promise<void>;
}

/** What this server writes to people; `url` carries the secret after `#token=`. */
export type Letter =
  | { type: "invitation"; inviter: string; workspace: string; url: string; expiresAt: Date }
  | { type: "sign_up"; name: string; url: string; expiresAt: Date }
  | { type: "account_exists"; name: string }
  | { type: "verification"; name: string; url: string; expiresAt: Date }
  | { type: "email_change"; name: string; url: string; expiresAt: Date }
  | { type: "email_changed"; name: string; newEmail: string }
  | { type: "password_reset"; name: string; url: string; expiresAt: Date; madeBy: string | null }
  | { type: "password_changed"; name: string; how: "by_person" | "by_link" | "by_admin_link" };

/** Writes letters and has them carried. */
export interface Post {
  /** Whether letters go out at all; without it links are shown to who made them. */
  readonly canMail: boolean;
  /** Sends now and waits. @throws ApiError `mail_failed`, `mail_not_configured` */
  send(to: string, letter: Letter): Promise<void>;
  /** Sends in the background, where nobody's answer waits for it; a failure is logged. Nothing without a mail server. */
  sendLater(to: string, letter: Letter): void;
}
