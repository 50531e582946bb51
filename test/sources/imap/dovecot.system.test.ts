import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SourceContext } from "#sources/context.ts";
import { ImapConfig } from "#sources/imap/config.ts";
import { makeImapSource } from "#sources/imap/index.ts";
import { makeExtractor } from "#extract/pool.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { buildChild } from "../../extract/build-child.ts";
import { makePool } from "../http/fixture.ts";
import { canRunDovecot, startDovecot } from "./dovecot.ts";
import { connectMailbox } from "./engine.ts";
import { PERSON } from "./server.ts";

const CAN_RUN = canRunDovecot();

const mail = (id: string, subject: string, text: string) => `Message-ID: <${id}@one.test>
From: Bo <bo@two.test>
To: Anna <anna@one.test>
Date: Mon, 5 Jan 2026 10:00:00 +0000
Subject: ${subject}
Content-Type: text/plain; charset=utf-8

${text}
`;

const WITH_FILE = `Message-ID: <file@one.test>
From: Bo <bo@two.test>
Subject: =?UTF-8?B?w5xiZXIgdGhlIHBsYW4=?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain

The plan is attached.
--x
Content-Type: text/markdown
Content-Disposition: attachment; filename=plan.md

# The marmalade plan
--x--
`;

describe.skipIf(!CAN_RUN)("imap, with a real server", { timeout: 120_000 }, () => {
  let dovecot: Awaited<ReturnType<typeof startDovecot>>;

  beforeAll(async () => {
    if (!CAN_RUN) return undefined;
    dovecot = await startDovecot();
    return () => dovecot.stop();
  });

  test("signs in, refuses another password, and a certificate that no one knows", async () => {
    const source = makeImapSource();
    const { pool } = makePool([{ port: dovecot.port }, { port: dovecot.tlsPort }]);
    const check = async (credentials: typeof PERSON, more: Record<string, unknown> = {}) => {
      const config = ImapConfig.parse({ host: "127.0.0.1", port: dovecot.port, tls: false, ...more });
      const { signal } = new AbortController();
      const ways = pool.for({ source: source as never, config, credentials, signal });
      const connector = { id: "con_aaaaaaaaaaaaaaaa", name: "Mail" };
      const context: SourceContext<ImapConfig> = {
        config,
        connector,
        ...ways,
        signal,
        now: () => 0,
        log: () => undefined,
      };
      return source.check(context);
    };
    expect(await check(PERSON)).toEqual({ ok: true });
    expect(await check({ ...PERSON, password: "other" })).toMatchObject({ problem: { field: "credentials" } });
    expect(await check(PERSON, { port: dovecot.tlsPort, tls: true })).toMatchObject({
      ok: false,
      problem: { code: "source_unavailable", hint: expect.stringContaining("TLS") },
    });
  });

  test("messages, attachments, moves, removals and other numbers: nothing is lost or there twice", async () => {
    const { kb, living } = await connectMailbox(dovecot.port, {
      extractor: await realExtractor(),
    });
    const names = [1, 2, 3].map((n) => dovecot.deliver("", mail(`n${n}`, `Subject ${n}`, `words of ${n}`)));
    dovecot.deliver("Entw&APw-rfe", WITH_FILE);
    dovecot.deliver("Trash", mail("t", "In the trash", "never read"));
    expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { failed: 0 } });
    const titles = async () => (await living()).map(({ title }) => title).sort();
    const first = ["Subject 1", "Subject 2", "Subject 3", "The marmalade plan", "Über the plan"];
    expect(await titles()).toEqual(first);
    const idsBefore = new Map((await living()).map(({ title, kbId }) => [title, kbId]));

    dovecot.move(names[0] ?? "", "", "Entw&APw-rfe");
    dovecot.remove(names[1] ?? "", "");
    dovecot.deliver("", mail("n4", "Subject 4", "words of 4"));
    expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { failed: 0 } });
    expect(await titles()).toEqual(["Subject 1", "Subject 3", "Subject 4", "The marmalade plan", "Über the plan"]);
    const moved = (await living()).find(({ title }) => title === "Subject 1");
    expect(moved?.externalId).toMatch(/^Entw&APw-rfe\/\d+\/\d+$/);
    expect(moved?.kbId).toBe(idsBefore.get("Subject 1"));

    const before = new Map((await living()).map(({ title, kbId }) => [title, kbId]));
    dovecot.renumber("");
    expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { failed: 0 } });
    expect(new Map((await living()).map(({ title, kbId }) => [title, kbId]))).toEqual(before);
  });
});

async function realExtractor() {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const extractor = makeExtractor({
    childPath: await buildChild("src/extract/child.ts"),
    now: () => performance.now(),
    analyze: analyzeDocument,
    log: silent,
  });
  onTestFinished(() => extractor.close());
  return extractor;
}
