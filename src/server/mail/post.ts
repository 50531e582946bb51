import { ApiError } from "#api/errors.ts";
import type { Afterwards } from "#server/ports/afterwards.ts";
import type { Mailer, Post } from "#server/ports/mailer.ts";
import { writeLetter } from "./texts.ts";

/** Letters of this house, carried by the mail server of the settings. */
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
      afterwards.run(`sending "${letter.type}" by e-mail`, () => mailer.send({ to, ...writeLetter(letter, host) }));
    },
  };
}

/** In place of a mail server. */
export const NO_MAILER: Mailer = {
  isConfigured: false,
  send: () => Promise.reject(mailNotConfigured()),
};

function mailNotConfigured(): ApiError {
  return new ApiError("mail_not_configured", {
    message: "This server does not send e-mail.",
    hint: "Ask an owner of your workspace for a link, or have KB_SMTP_URL set.",
  });
}
