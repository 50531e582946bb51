import { createTransport } from "nodemailer";
import { ApiError } from "#api/errors.ts";
import type { Mailer } from "./mailer.ts";

/** The longest wait for a mail server, at each of its steps. */
const TIMEOUT_MS = 10_000;

/**
 * Carries messages over SMTP: `smtps:` is TLS from the first byte, `smtp:` is upgraded where the server offers it. The
 * certificate is checked, unless the server is this machine. With a user name TLS is a must.
 *
 * @param settings.url   `smtp://user:password@host:587`; shows in no message and no log line
 * @param settings.from  `kb@example.org` or `kb <kb@example.org>`
 */
export function makeSmtpMailer(settings: { url: string; from: string }): Mailer {
  const url = new URL(settings.url);
  const isTls = url.protocol === "smtps:";
  const transport = createTransport({
    host: url.hostname.replaceAll(/[[\]]/g, ""),
    port: url.port === "" ? (isTls ? 465 : 587) : Number(url.port),
    secure: isTls,
    // A password never travels in the open, whatever somebody on the way takes out of the greeting.
    requireTLS: url.username !== "" && !isLoopback(url.hostname),
    ...(url.username !== "" && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    // A message is text that was written here: nothing in it may name a file or an address to fetch.
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
          // As an object it is one address, whatever stands in it.
          to: { name: "", address: to },
          subject,
          text,
          // No answers from absent people's machines. Source: RFC 3834.
          headers: { "Auto-Submitted": "auto-generated" },
        });
      } catch (cause) {
        throw mailFailed(cause);
      }
    },
  };
}

/** Says what kind of failure it was: a mail server's own words may hold addresses and user names. */
function mailFailed(cause: unknown): ApiError {
  // nodemailer puts `code` (its own word) and `responseCode` (SMTP's number) on its errors.
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
