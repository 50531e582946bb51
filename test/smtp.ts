import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { onTestFinished } from "vitest";

interface Received {
  from: string;
  to: string[];
  raw: string;
  isEncrypted: boolean;
  user: string | undefined;
}

/** A real SMTP server on a free port; it offers STARTTLS with the package's own certificate. */
export async function startSmtp(options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  async function keep(stream: Readable, { envelope, secure, user }: SMTPServerSession): Promise<void> {
    const { mailFrom, rcptTo } = envelope;
    received.push({
      from: mailFrom ? mailFrom.address : "",
      to: rcptTo.map(({ address }) => address),
      raw: await text(stream),
      isEncrypted: secure,
      user: typeof user === "string" ? user : undefined,
    });
  }
  const server = new SMTPServer({
    authOptional: true,
    onAuth: ({ username, password }, _session, done) =>
      password === "right:pass/word" ? done(null, { user: username ?? "" }) : done(new Error("No. user=secret-name")),
    onData(stream, session, done) {
      stream.on("end", done);
      void keep(stream, session);
    },
    ...options,
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  // A listening TCP server has an address with a port.
  const { port } = server.server.address() as AddressInfo;
  return { received, at: (credentials = "") => `smtp://${credentials}127.0.0.1:${port}` };
}
