import { createTransport } from "nodemailer";
import { ApiError } from "#api/errors.ts";
import type { Mailer } from "./mailer.ts";

/** Timeout for each step with the mail server, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Sends messages over SMTP. `smtps:` is TLS from the first byte; `smtp:` is upgraded to TLS if the server offers it.
 * The certificate is checked, unless the server is on this machine. With a user name, TLS is required.
 *
 * @param settings.url `smtp://user:password@host:587`; appears in no message and no log line
 * @param settings.from `kb@example.org` or `kb <kb@example.org>`
 */
export function makeSmtpMailer(settings: { url: string; from: string }): Mailer {
  const url = new URL(settings.url);
  const isTls = url.protocol === "smtps:";
  const transport = createTransport({
    host: url.hostname.replaceAll(/[[\]]/g, ""),
    port: url.port === "" ? (isTls ? 465 : 587) : Number(url.port),
    secure: isTls,
    // Never sends a password in plain text, even if someone on the network path removes STARTTLS from the greeting.
    requireTLS: url.username !== "" && !isLoopback(url.hostname),
    ...(url.username !== "" && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    // kb writes the message text itself, so nothing in it may make nodemailer read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(isLoopback(url.hostname) && { tls: { rejectUnauthorized: false } }),
  });
  return {
    isConfigured: true,
    async send({ to, subject, text }) {
      try {
        await transport.sendMail({
          from: settings.from,
          // In the form of an object it is always a single address, whatever it contains.
          to: { name: "", address: to },
          subject,
          text,
          // Suppresses automatic replies such as out-of-office messages. Source: RFC 3834.
          headers: { "Auto-Submitted": "auto-generated" },
        });
      } catch (cause) {
        throw mailFailed(cause);
      }
    },
  };
}

/** Reports only the kind of failure, since the mail server's own text may contain addresses and user names. */
function mailFailed(cause: unknown): ApiError {
  // nodemailer sets `code` (its own) and `responseCode` (SMTP's number) on its errors.
  const { code, responseCode } = (cause ?? {}) as { code?: unknown; responseCode?: unknown };
  const word = typeof code === "string" && /^[A-Z_]{2,30}$/.test(code) ? code : "unknown";
  const number = typeof responseCode === "number" ? ` ${responseCode}` : "";
  return new ApiError("mail_failed", {
    message: `The mail server did not accept the message (${word}${number}). Try again later.`,
    hint: "The operator of this server can check KB_SMTP_URL and KB_MAIL_FROM.",
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(?:\.\d+){3}$/.test(host);
}
