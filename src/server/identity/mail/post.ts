import { type Letter, writeLetter } from "./texts.ts";
import { ApiError } from "#api/errors.ts";
import type { Afterwards } from "./afterwards.ts";
import type { Mailer } from "./mailer.ts";

/** Writes and sends emails. */
export interface Post {
  /** Whether mail can be sent. If not, links are shown to the person who created them. */
  readonly canMail: boolean;
  /** Sends the email and waits. @throws ApiError `mail_failed`, `mail_not_configured` */
  send(to: string, letter: Letter): Promise<void>;
  /**
   * Sends the email in the background, so that no response waits for it. Failures are logged. Does nothing without a
   * mail server.
   */
  sendLater(to: string, letter: Letter): void;
}

/** Sends emails through the mail server in the settings. */
export function makePost(options: { mailer: Mailer; afterwards: Afterwards; baseUrl: string }): Post {
  const { mailer, afterwards } = options;
  const host = new URL(options.baseUrl).host;
  return {
    canMail: mailer.isConfigured,
    async send(to, letter) {
      if (!mailer.isConfigured) throw mailNotConfigured();
      await mailer.send({ to, ...writeLetter(letter, host) });
    },
    sendLater(to, letter) {
      if (!mailer.isConfigured) return;
      afterwards.run(`sending "${letter.type}" by email`, () => mailer.send({ to, ...writeLetter(letter, host) }));
    },
  };
}

/** Used when no mail server is configured. */
export const NO_MAILER: Mailer = {
  isConfigured: false,
  send: () => Promise.reject(mailNotConfigured()),
};

function mailNotConfigured(): ApiError {
  return new ApiError("mail_not_configured", {
    message: "This server does not send email.",
    hint: "Ask an owner of your workspace for a link, or ask the operator to set KB_SMTP_URL.",
  });
}
