import { type AddressInfo, createServer } from "node:net";
import { describe, test } from "vitest";
import { makeSmtpMailer } from "#server/identity/mail/smtp-mailer.ts";
import { startSmtp } from "../../../smtp.ts";

const MAIL = { to: "bo@acme.test", subject: "Grüße an Bo", text: "Hello Bo,\n\nhttps://kb.test/invite#token=abc\n" };

describe("mail over SMTP", () => {
  test("carries a plain text to one address, over TLS where the server offers it, with the credentials of the URL", async ({
    expect,
  }) => {
    const smtp = await startSmtp();
    const mailer = makeSmtpMailer({ url: smtp.at("mailer%40acme:right%3Apass%2Fword@"), from: "kb <kb@acme.test>" });
    await mailer.send(MAIL);
    expect(smtp.received).toMatchObject([
      { from: "kb@acme.test", to: ["bo@acme.test"], isEncrypted: true, user: "mailer@acme" },
    ]);
    const { raw = "" } = smtp.received[0] ?? {};
    expect(raw).toContain("Content-Type: text/plain; charset=utf-8");
    expect(raw).toContain("Auto-Submitted: auto-generated");
    expect(raw).toMatch(/^From: kb <kb@acme\.test>\r$/m);
    expect(raw).toContain("https://kb.test/invite#token=abc");
  });

  test("works without TLS where none is offered", async ({ expect }) => {
    const smtp = await startSmtp({ disabledCommands: ["STARTTLS"] });
    await makeSmtpMailer({ url: smtp.at(), from: "kb@acme.test" }).send(MAIL);
    expect(smtp.received).toMatchObject([{ to: ["bo@acme.test"], isEncrypted: false }]);
  });

  test("never makes two recipients of one address", async ({ expect }) => {
    const smtp = await startSmtp();
    const mailer = makeSmtpMailer({ url: smtp.at(), from: "kb@acme.test" });
    await mailer.send({ ...MAIL, to: "bo@acme.test,mallory@evil.test" }).catch(() => undefined);
    expect(smtp.received.flatMap(({ to }) => to)).not.toContain("mallory@evil.test");
    expect(smtp.received.flatMap(({ to }) => to)).not.toContain("bo@acme.test");
  });

  test("a refusal is mail_failed and shows neither the address, nor the URL, nor what the server said", async ({
    expect,
  }) => {
    const smtp = await startSmtp({
      onRcptTo: (_address, _session, done) => done(new Error("bo@acme.test is unknown")),
    });
    const wrong = makeSmtpMailer({ url: smtp.at("secret-name:wrong-password@"), from: "kb@acme.test" });
    const plain = makeSmtpMailer({ url: smtp.at(), from: "kb@acme.test" });
    for (const [mailer, kind] of [
      [wrong, "EAUTH 535"],
      [plain, "EENVELOPE 550"],
    ] as const) {
      const error = await mailer.send(MAIL).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "mail_failed", status: 503, message: expect.stringContaining(kind) });
      const { message, hint, cause } = error as Error & { hint?: string };
      expect(JSON.stringify({ message, hint, cause: String(cause) })).not.toMatch(/secret-name|wrong-password|bo@|127/);
    }
  });

  test("a server that is not there is mail_failed at once", async ({ expect }) => {
    const socket = createServer();
    await new Promise<void>((resolve) => socket.listen(0, "127.0.0.1", resolve));
    const { port } = socket.address() as AddressInfo;
    await new Promise((resolve) => socket.close(resolve));
    const mailer = makeSmtpMailer({ url: `smtp://127.0.0.1:${port}`, from: "kb@acme.test" });
    await expect(mailer.send(MAIL)).rejects.toMatchObject({ code: "mail_failed" });
  });
});
