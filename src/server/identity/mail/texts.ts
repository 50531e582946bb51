import { assertNever } from "#api/errors.ts";
import type { Mail } from "./mailer.ts";

/** The emails that this server sends. `url` contains the secret after `#token=`. */
export type Letter =
  | { type: "invitation"; inviter: string; workspace: string; url: string; expiresAt: number }
  | { type: "sign_up"; name: string; url: string; expiresAt: number }
  | { type: "account_exists"; name: string }
  | { type: "verification"; name: string; url: string; expiresAt: number }
  | { type: "email_change"; name: string; url: string; expiresAt: number }
  | { type: "email_changed"; name: string; newEmail: string }
  | { type: "password_reset"; name: string; url: string; expiresAt: number; madeBy: string | null }
  | { type: "password_changed"; name: string; method: "by_person" | "by_link" | "by_admin_link" };

/**
 * Writes the text of each email: plain text with at most one link. Values from people (names) are one line by contract.
 * If the recipient's address is unverified, the email doesn't use their name, since a stranger may have entered a text
 * of their own as the name.
 *
 * @param host the name of this server as people know it
 */
export function writeLetter(letter: Letter, host: string): Pick<Mail, "subject" | "text"> {
  const { subject, lines } = compose(letter, host);
  return { subject, text: `${lines.join("\n\n")}\n\n-- \nkb on ${host}\n` };
}

interface Composed {
  subject: string;
  /** The paragraphs of the email. */
  lines: string[];
}

function compose(letter: Letter, host: string): Composed {
  switch (letter.type) {
    case "invitation": {
      const [inviter, workspace] = [withoutLinks(letter.inviter), withoutLinks(letter.workspace)];
      return {
        subject: `${inviter} invites you to ${workspace}`,
        lines: [
          "Hello,",
          `${inviter} invites you to the workspace "${workspace}" on ${host}. Open this link to join:`,
          letter.url,
          `${until(letter.expiresAt)} If you didn't expect this, ignore this email.`,
        ],
      };
    }
    case "sign_up":
      return {
        subject: `Confirm your account on ${host}`,
        lines: [
          "Hello,",
          `Open this link to confirm your address and finish creating your account on ${host}:`,
          letter.url,
          `${until(letter.expiresAt)} If you didn't sign up, ignore this email: no account is created.`,
        ],
      };
    case "account_exists":
      return {
        subject: `You have an account on ${host}`,
        lines: [
          `Hello ${letter.name},`,
          `Someone tried to sign up on ${host} with this address, or to change to it. It already belongs to your account, so nothing changed.`,
          "If this was you, sign in, or reset your password on the sign-in page. If not, ignore this email.",
        ],
      };
    case "verification":
      return {
        subject: `Confirm your address on ${host}`,
        lines: [
          "Hello,",
          `To confirm that this address is yours, open this link in the browser where you are signed in to ${host}:`,
          letter.url,
          `${until(letter.expiresAt)} If you didn't ask for this, ignore this email.`,
        ],
      };
    case "email_change":
      return {
        subject: `Confirm your new address on ${host}`,
        lines: [
          "Hello,",
          `To use this address for your account on ${host}, open this link in the browser where you are signed in:`,
          letter.url,
          `${until(letter.expiresAt)} Until then your current address stays. If you didn't ask for this, ignore this email.`,
        ],
      };
    case "email_changed":
      return {
        subject: `Your address on ${host} was changed`,
        lines: [
          `Hello ${letter.name},`,
          `The address of your account on ${host} is now ${letter.newEmail}. This address no longer receives its email.`,
          "If this wasn't you, tell an admin of your workspace at once.",
        ],
      };
    case "password_reset":
      return {
        subject: `Set a new password on ${host}`,
        lines: [
          `Hello ${letter.name},`,
          letter.madeBy === null
            ? `Open this link to set a new password for your account on ${host}:`
            : `${letter.madeBy} created this link for you. Open it to set a new password for your account on ${host}:`,
          letter.url,
          `${until(letter.expiresAt)} Setting a new password signs you out everywhere and revokes your tokens. If you don't want this, ignore this email.`,
        ],
      };
    case "password_changed":
      return {
        subject: `Your password on ${host} was changed`,
        lines: [
          `Hello ${letter.name},`,
          `The password of your account on ${host} was changed${describeMethod(letter.method)}.`,
          "If this wasn't you, reset your password on the sign-in page and tell an admin of your workspace.",
        ],
      };
    default:
      return assertNever(letter);
  }
}

/**
 * Returns a name for recipients who don't know the person: short, and without anything that a mail program turns into a
 * link.
 */
function withoutLinks(name: string): string {
  const plain = name
    .replaceAll(/[/\\]+/g, " ")
    .replaceAll("@", " at ")
    .replaceAll(/\.(?=[\p{L}\p{N}]{2})/gu, ". ");
  const chars = [...plain];
  return chars.length > MAX_NAME_CHARS ? `${chars.slice(0, MAX_NAME_CHARS - 1).join("")}…` : plain;
}

const MAX_NAME_CHARS = 60;

function describeMethod(method: (Letter & { type: "password_changed" })["method"]): string {
  switch (method) {
    case "by_person":
      return ". Your other sessions and the clients you allowed were signed out";
    case "by_link":
      return " with a link that was sent to you. All your other sessions, clients and tokens have ended";
    case "by_admin_link":
      return " with a link that an admin created. All your other sessions, clients and tokens have ended";
    default:
      return assertNever(method);
  }
}

/** Returns a sentence such as `The link works once, until 21 November 2026, 09:30 UTC.` */
function until(instant: number): string {
  const text = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" }).format(
    instant,
  );
  return `The link works once, until ${text.replace(" at ", ", ")} UTC.`;
}
