import { ApiError } from "#api/errors.ts";
import type { Mail, Mailer } from "#server/identity/mail/mailer.ts";

/** A mail server that keeps what it gets. */
export interface Mailbox extends Mailer {
  mails: Mail[];
  /** From now on it takes nothing. */
  breakDown(): void;
  /** The subjects of the mails to this address: mails to several go out side by side, in any order. */
  subjectsFor(address: string): string[];
  /** The secret of the link in the newest mail to this address. */
  linkFor(address: string): string;
}

export function makeMailbox(): Mailbox {
  const mails: Mail[] = [];
  let isBroken = false;
  return {
    mails,
    isConfigured: true,
    async send(mail) {
      if (isBroken) throw new ApiError("mail_failed", { message: "The mail server did not take the message." });
      mails.push(mail);
    },
    breakDown: () => void (isBroken = true),
    subjectsFor: (address) => mails.filter(({ to }) => to === address).map(({ subject }) => subject),
    linkFor(address) {
      const mail = mails.findLast(({ to, text }) => to === address && text.includes("#token="));
      const secret = /#token=([\w-]{43})$/m.exec(mail?.text ?? "")?.[1];
      if (secret === undefined) throw new Error(`No link for ${address} among ${mails.length} mails.`);
      return secret;
    },
  };
}
