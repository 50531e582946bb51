import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { runsOf } from "#server/sync/run/run-session.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import { makeSourceHttpPool } from "#sources/http/pool.ts";
import { ImapConfig } from "#sources/imap/config.ts";
import { toFolders } from "#sources/imap/folders.ts";
import { makeImapSource } from "#sources/imap/index.ts";
import { folderText, headerText } from "#sources/imap/text.ts";
import { AT_EACH_PAGE } from "../../kit/fixture.ts";
import { makePool } from "../http/fixture.ts";
import { runParts } from "../stored.ts";
import { connectMailbox } from "./engine.ts";
import { type Instead, PERSON, startImap } from "./server.ts";
import { guardOf } from "../../net/everywhere.ts";

const source = makeImapSource({ batching: { messages: 2 }, checkpoints: AT_EACH_PAGE });

/** The source at a server of ours. */
async function connect(more: Record<string, unknown> = {}) {
  const server = await startImap();
  const { open, pool } = makePool([server]);
  const config = ImapConfig.parse({ host: "127.0.0.1", port: server.port, tls: false, ...more });
  const abort = new AbortController();
  const ways = pool.for({ source: source as never, config, credentials: PERSON, signal: abort.signal });
  const context: SourceContext<ImapConfig> = {
    config,
    connector: { id: "con_aaaaaaaaaaaaaaaa", name: "Mail", owner: "user:usr_aaaaaaaaaaaaaaaa" },
    ...ways,
    signal: abort.signal,
    now: () => 0,
    log: () => undefined,
  };
  return { server, context, open, abort };
}

async function eventsOf(context: SourceContext<ImapConfig>, wish: Partial<SyncRequest> = {}): Promise<SyncEvent[]> {
  const events: SyncEvent[] = [];
  const run = { mode: "full", runId: "syn_1", scope: { include: [], exclude: [] }, cursor: null, ...wish } as const;
  for await (const event of runsOf(source)?.({ ...context, ...runParts() }, run) ?? []) events.push(event);
  return events;
}

function idsOf(events: readonly SyncEvent[]): string[] {
  return events.flatMap((event) => (event.t === "upsert" ? [event.item.externalId] : []));
}

const answerTo =
  (start: string, text: string): Instead =>
  (command, tag, socket) =>
    command.startsWith(start) && (socket.write(text.replaceAll("TAG", tag)), true);

describe("answers that never end or make no sense end the run, and nothing is removed", () => {
  test.each<[string, Instead]>([
    ["a literal larger than any head", answerTo("UID FETCH", "* 1 FETCH (UID 1 ENVELOPE {4294967295}\r\n")],
    [
      "a line without an end",
      (command, _tag, socket) => command.startsWith("UID SEARCH") && (flood(socket, "1 "), true),
    ],
    [
      "answers without an end",
      (command, _tag, socket) => command.startsWith("LIST") && (flood(socket, "* NOOP\r\n"), true),
    ],
    ["lists in lists", answerTo("LIST", `* LIST ${"(".repeat(10_000)}\r\nTAG OK\r\n`)],
    ["more lists than a head has", answerTo("LIST", `* LIST ${"()".repeat(600_000)}\r\nTAG OK\r\n`)],
    ["a quoted string without an end", answerTo("LIST", '* LIST () "/" "INBOX\r\nTAG OK\r\n')],
    ["another protocol", answerTo("LIST", "HTTP/1.1 200 OK\r\n\r\n")],
    ["the end of another command", answerTo("LIST", "k99 OK done\r\n")],
    ["a farewell", answerTo("UID SEARCH", "* BYE secret words\r\n")],
    [
      "a cut connection",
      (command, _tag, socket) => command.startsWith("UID FETCH") && (socket.end("* 1 FETCH (UID"), true),
    ],
  ])("%s", async (_name, instead) => {
    const { server, context } = await connect();
    server.add("INBOX", "one");
    server.instead = instead;
    const failure = await eventsOf(context).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "source_unavailable" });
    expect(String(failure)).not.toContain("secret words");
  });

  function flood(socket: Socket, text: string): void {
    const piece = text.repeat(64 * 1024);
    const more = () => {
      while (socket.writable && socket.write(piece));
      if (socket.writable) socket.once("drain", more);
    };
    more();
  }
});

test("a message that was not asked for is no item, and one that is larger than said is not read", async () => {
  const { server, context } = await connect({ maxFileMb: 0.001 });
  const id = server.add("INBOX", "one");
  const envelope = "RFC822.SIZE 5 ENVELOPE (NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL)";
  server.instead = answerTo(
    "UID FETCH",
    `* 1 FETCH (UID 9 ${envelope})\r\n* 1 FETCH (UID 1 ${envelope})\r\nTAG OK\r\n`,
  );
  expect(idsOf(await eventsOf(context))).toEqual([id]);
  server.instead = answerTo("UID FETCH", `* 1 FETCH (UID 1 BODY[]<0> {1049}\r\n${"x".repeat(1_049)})\r\nTAG OK\r\n`);
  await expect(source.fetchContent?.(context, { externalId: id })).rejects.toMatchObject({ code: "payload_too_large" });
  server.instead = answerTo("UID FETCH", `* 1 FETCH (UID 1 BODY[]<0> {999999999}\r\n`);
  await expect(source.fetchContent?.(context, { externalId: id })).rejects.toMatchObject({
    code: "source_unavailable",
  });
  server.instead = undefined;
  for (const externalId of ["INBOX/7/99", "INBOX/8/1", "x", "a\r\nk9 LOGOUT/7/1", "INBOX/7/1:*"]) {
    await expect(source.fetchContent?.(context, { externalId })).rejects.toMatchObject({
      code: expect.stringMatching(/source_not_found/),
    });
  }
});

test("a folder's name is never read as a command, and one that can't be named is left out", async () => {
  const { server, context } = await connect();
  server.capabilities = "AUTH=PLAIN";
  const odd = ['a "b" \\c', "Entw\u00c3\u00bcrfe", "x{5}", "* OK [UIDVALIDITY 1]"];
  const ids = odd.map((name) => server.add(name, "hello"));
  expect(idsOf(await eventsOf(context)).sort()).toEqual([...ids].sort());
  expect(
    server.commands.every((command) =>
      /^(CAPABILITY|AUTHENTICATE PLAIN|LIST|EXAMINE|UID (SEARCH|FETCH)|LOGOUT)/.test(command),
    ),
  ).toBe(true);
  const listed = (name: string) => ({ name, delimiter: "/", attributes: new Set<string>() });
  expect(
    toFolders(["ok", "a\r\nk1 DELETE x", "nul\0", "", "x".repeat(2_000)].map(listed)).map(({ name }) => name),
  ).toEqual(["ok"]);
});

test("a tree that no one made is no tree, and numbers in any number of answers are read", async () => {
  const listed = (name: string) => ({ name, delimiter: "/", attributes: new Set<string>() });
  expect(toFolders(["/a/b", "x/".repeat(100)].map(listed)).map(({ chain }) => chain)).toEqual([
    ["/a", "/a/b"],
    ["x/".repeat(100)],
  ]);
  const { server, context } = await connect();
  const ids = [server.add("INBOX", "one"), server.add("INBOX", "two")];
  server.instead = answerTo("UID SEARCH", `${"* SEARCH 2 1 x -3 0\r\n".repeat(20_000)}TAG OK\r\n`);
  expect(idsOf(await eventsOf(context))).toEqual(ids);
});

describe("one folder's failure is its own", () => {
  /** Answers in one folder alone. */
  function within(name: string, answer: Instead): Instead {
    let open = "";
    return (command, tag, socket) => {
      if (command.startsWith("EXAMINE")) open = command;
      return open.includes(`"${name}"`) && answer(command, tag, socket);
    };
  }

  test.each<[string, Instead]>([
    ["a folder that isn't opened", answerTo("EXAMINE", "TAG NO secret words\r\n")],
    ["a search that is refused", answerTo("UID SEARCH", "TAG NO [SERVERBUG] secret words\r\n")],
    ["a search that isn't understood", answerTo("UID SEARCH", "TAG BAD secret words\r\n")],
    ["a search without an answer, of a folder with messages", answerTo("UID SEARCH", "TAG OK done\r\n")],
    ["heads that are refused", answerTo("UID FETCH", "TAG NO secret words\r\n")],
  ])("%s: the others come, it stays as it is and is told", async (_name, answer) => {
    const { server, context } = await connect();
    server.add("Broken", "one");
    const others = [server.add("Archive", "before"), server.add("INBOX", "after")];
    server.instead = within("Broken", answer);
    const events = await eventsOf(context);
    expect(idsOf(events).sort()).toEqual(others.sort());
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: "Broken", reason: "failed" }));
    expect(events.at(-1)).toMatchObject({ notLookedAt: [{ container: { type: "folder", id: "Broken" } }] });
    expect(JSON.stringify(events)).not.toContain("secret words");
    const asked = await eventsOf(context, { mode: "items", externalIds: [server.idOf("Broken", 1), others[0] ?? ""] });
    expect(idsOf(asked)).toEqual([others[0]]);
    expect(asked).toContainEqual(expect.objectContaining({ t: "skip", externalId: server.idOf("Broken", 1) }));
  });

  test("where nothing is found, no word of it is none", async () => {
    const { server, context } = await connect({ since: "2026-01-01" });
    server.folder("Empty");
    const ids = [server.add("INBOX", "one")];
    server.add("Old", "before that day");
    server.instead = within("Empty", answerTo("UID SEARCH", "TAG OK done\r\n"));
    const ended = await eventsOf(context);
    expect(idsOf(ended)).toEqual([...ids, server.idOf("Old", 1)]);
    // A server that names messages, but none of these.
    server.instead = within("Old", answerTo("UID SEARCH UNDELETED SINCE", "TAG OK done\r\n"));
    const again = await eventsOf(context);
    expect(idsOf(again)).toEqual(ids);
    expect([...ended, ...again].filter(({ t }) => t === "skip")).toEqual([]);
  });
});

describe("what was asked for is matched by its number, whatever else is told", () => {
  const line = (uid: number, subject: string) =>
    `* ${uid} FETCH (UID ${uid} RFC822.SIZE 9 INTERNALDATE "01-Jan-2026 00:00:00 +0000" ` +
    `ENVELOPE ("Thu, 1 Jan 2026 00:00:00 +0000" "${subject}" NIL NIL NIL NIL NIL NIL NIL "<${uid}@one.test>"))\r\n`;
  const titles = (events: readonly SyncEvent[]) =>
    events.flatMap((event) => (event.t === "upsert" ? [event.item.title] : []));

  test.each<[string, string, string[], number[]]>([
    ["flags before the answer", `* 1 FETCH (UID 1 FLAGS (\\Seen))\r\n${line(1, "a")}${line(2, "b")}`, ["a", "b"], []],
    ["flags after it", `${line(1, "a")}* 1 FETCH (UID 1 FLAGS (\\Seen))\r\n${line(2, "b")}`, ["a", "b"], []],
    ["flags without a number", `* 1 FETCH (FLAGS (\\Seen))\r\n${line(1, "a")}${line(2, "b")}`, ["a", "b"], []],
    ["others that came and went", `* 9 EXISTS\r\n* 1 EXPUNGE\r\n${line(2, "b")}${line(1, "a")}`, ["b", "a"], []],
    ["a message that no one asked for", `${line(1, "a")}${line(2, "b")}${line(77, "x")}`, ["a", "b"], []],
    ["one without an answer", line(1, "a"), ["a"], [2]],
    ["one with nothing but flags", `${line(1, "a")}* 2 FETCH (UID 2 FLAGS ())\r\n`, ["a"], [2]],
    ["one without its number", `${line(1, "a")}${line(2, "b").replace("UID 2 ", "")}`, ["a"], [2]],
    ["none", "", [], [1, 2]],
  ])("%s", async (_name, answers, found, unanswered) => {
    const { server, context } = await connect();
    server.add("INBOX", "one");
    server.add("INBOX", "two");
    server.instead = answerTo("UID FETCH", `${answers}TAG OK done\r\n`);
    const events = await eventsOf(context);
    expect(titles(events)).toEqual(found);
    const failed = events.flatMap((event) => (event.t === "skip" ? [event.externalId] : []));
    expect(failed).toEqual(unanswered.map((uid) => server.idOf("INBOX", uid)));
  });

  test("a message that is gone between the search and its head is no failure", async () => {
    const { server, context } = await connect();
    server.add("INBOX", "one");
    server.instead = (command, tag, socket) => {
      if (command.startsWith("UID SEARCH UID")) return (socket.write(`* SEARCH\r\n${tag} OK done\r\n`), true);
      return command.startsWith("UID FETCH") && (socket.write(`${tag} OK done\r\n`), true);
    };
    expect((await eventsOf(context)).filter(({ t }) => t === "skip" || t === "upsert")).toEqual([]);
  });

  test("a body is found behind flags that are told before it", async () => {
    const { server, context } = await connect();
    const externalId = server.add("INBOX", "one", "the words");
    const raw = "Subject: one\r\n\r\nthe words\r\n";
    server.instead = answerTo(
      "UID FETCH",
      `* 1 FETCH (UID 1 FLAGS (\\Seen))\r\n* 1 FETCH (UID 1 BODY[]<0> {${raw.length}}\r\n${raw})\r\nTAG OK done\r\n`,
    );
    const content = await source.fetchContent?.(context, { externalId });
    expect(content?.bytes && Buffer.from(content.bytes).toString()).toBe(raw);
  });
});

test("subjects are read in any encoding, however a program cut or mislabelled them", () => {
  const read = (text: string | Buffer) => headerText(Buffer.from(text as string));
  const b = (charset: string, bytes: Buffer) => `=?${charset}?B?${bytes.toString("base64")}?=`;
  const cut = Buffer.from("日本語");
  expect(read(`${b("utf-8", cut.subarray(0, 4))}\r\n ${b("UTF-8", cut.subarray(4))}`)).toBe("日本語");
  expect(read("=?utf-8?q?two words?= =?utf-8?q?_and_more?=")).toBe("two words and more");
  expect(read("=?UTF-8?Q?=e2=82?= =?UTF-8?Q?=ac?=")).toBe("€");
  for (const charset of ["shift_jis", "cp932", "Windows-31J", "MS932"])
    expect(read(b(charset, Buffer.from([0x93, 0xfa, 0x96, 0x7b])))).toBe("日本");
  for (const charset of ["gb2312", "cp936", "gbk", "GB18030"])
    expect(read(b(charset, Buffer.from([0xd6, 0xd0, 0xce, 0xc4])))).toBe("中文");
  for (const charset of ["ks_c_5601-1987", "cp949", "euc-kr"])
    expect(read(b(charset, Buffer.from([0xc7, 0xd1, 0xb1, 0xdb])))).toBe("한글");
  expect(read(b("iso-2022-jp", Buffer.from("\x1b$BF|K\\\x1b(B", "latin1")))).toBe("日本");
  expect(read(b("cp850", Buffer.from([0x84])))).toBe("ä");
  expect(read(b("iso-8859-1", Buffer.from("Grüße")))).toBe("Grüße");
  expect(read(b("us-ascii", Buffer.from([0xfc])))).toBe("ü");
  expect(read(Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65, 0x20, 0x80]))).toBe("Grüße €");
  expect(read("Grüße")).toBe("Grüße");
  expect(read("=?utf-8*en?Q?a?= =?x-none?Q?b?= c")).toBe("a=?x-none?Q?b?= c");
});

test("names and headers read well", () => {
  expect(folderText("Entw&APw-rfe")).toBe("Entwürfe");
  expect(folderText("&U,BTFw-/R&-D")).toBe("台北/R&D");
  expect(headerText(Buffer.from("=?UTF-8?B?w5xiZXI=?= =?iso-8859-1?Q?_gr=FC=DFen?="))).toBe("Über grüßen");
  expect(headerText(Buffer.from("=?none?Q?x?= plain"))).toBe("=?none?Q?x?= plain");
});

describe("signing in", () => {
  const problemOf = async (set: (server: Awaited<ReturnType<typeof startImap>>) => void, more = {}) => {
    const { server, context } = await connect(more);
    set(server);
    const outcome = await source.check(context);
    expect(JSON.stringify(outcome)).not.toMatch(/secret/);
    return outcome;
  };

  test("goes by what the server takes", async () => {
    for (const capabilities of ["SASL-IR AUTH=PLAIN", "AUTH=PLAIN LOGINDISABLED", "IDLE"]) {
      expect(
        await problemOf((server) => {
          server.add("INBOX", "one");
          server.capabilities = capabilities;
        }),
      ).toEqual({ ok: true });
    }
    expect(await problemOf((server) => void (server.capabilities = "LOGINDISABLED"))).toMatchObject({
      problem: { message: expect.stringContaining("accept passwords") },
    });
  });

  test("a refusal asks for another password; what passes does not", async () => {
    const refuse = (text: string) =>
      problemOf((server) => void (server.instead = answerTo("AUTHENTICATE", `TAG ${text}\r\n`)));
    expect(await refuse("NO [AUTHENTICATIONFAILED] secret")).toMatchObject({
      problem: { code: "source_unauthorized", field: "credentials", hint: expect.stringContaining("app password") },
    });
    expect(await refuse("NO [ALERT] Too many simultaneous connections. secret")).toMatchObject({
      problem: { code: "source_rate_limited" },
    });
    // What Gmail says to a password that is none of an app.
    expect(await refuse("NO [ALERT] Application-specific password required: generate one, secret")).toMatchObject({
      problem: { code: "source_unauthorized" },
    });
    expect(await refuse("NO Too many logins, secret")).toMatchObject({ problem: { code: "source_rate_limited" } });
    expect(await refuse("NO [UNAVAILABLE] secret")).toMatchObject({ problem: { code: "source_unavailable" } });
    expect(await problemOf((server) => void (server.greeting = "* BYE secret\r\n"))).toMatchObject({ ok: false });
    expect(await problemOf((server) => void (server.greeting = "* PREAUTH secret\r\n"))).toMatchObject({ ok: false });
    expect(await problemOf((server) => void (server.greeting = "SSH-2.0-secret\r\n"))).toMatchObject({ ok: false });
  });

  test("never reaches a private address that no one listed, and sends no password without TLS", async () => {
    const server = await startImap();
    const config = ImapConfig.parse({ host: "127.0.0.1", port: server.port, tls: false });
    const strict = makePool([], { listed: [] });
    const ways = strict.pool.for({
      source: source as never,
      config,
      credentials: PERSON,
      signal: new AbortController().signal,
    });
    const context = {
      config,
      connector: { id: "con_aaaaaaaaaaaaaaaa", name: "Mail" },
      ...ways,
      signal: new AbortController().signal,
      now: () => 0,
      log: () => undefined,
    };
    expect(await source.check(context)).toMatchObject({ ok: false, problem: { code: "address_not_allowed" } });
    expect(server.connections()).toBe(0);
    // A public address, as far as the guard knows.
    const loose = makeSourceHttpPool({
      guard: guardOf(async ({ host, port }) => ({ host, port, address: "127.0.0.2", family: 4, isListed: false })),
      now: () => 0,
    });
    onTestFinished(() => loose.close());
    const tls = ImapConfig.parse({ host: "mail.test", port: server.port });
    const tlsWays = loose.for({
      source: source as never,
      config: tls,
      credentials: PERSON,
      signal: new AbortController().signal,
    });
    expect(await source.check({ ...context, config: tls, ...tlsWays })).toMatchObject({ ok: false });
    expect(server.commands).toEqual([]);
  });
});

test("where one folder has everything, it alone is read, unless folders are chosen", async () => {
  const { server, context } = await connect();
  const all = server.add("[Gmail]/All Mail", "one");
  server.folder("[Gmail]/All Mail").attributes = "\\All \\HasNoChildren";
  server.add("INBOX", "one");
  const work = server.add("Work", "one");
  server.folder("[Gmail]").attributes = "\\Noselect \\HasChildren";
  server.add("[Gmail]/Trash", "gone");
  server.folder("[Gmail]/Trash").attributes = "\\Trash";
  expect(idsOf(await eventsOf(context))).toEqual([all]);
  expect(idsOf(await eventsOf(context, { scope: { include: ["Work"], exclude: [] } }))).toEqual([work]);
  expect(await source.check(context)).toMatchObject({ ok: true, warnings: [expect.stringContaining("one folder")] });
  const page = await source.browse?.(context, { parent: null });
  expect(page?.nodes.map(({ id, expandable }) => [id, expandable])).toEqual([
    ["INBOX", false],
    ["Work", false],
    ["[Gmail]", true],
  ]);
  expect((await source.browse?.(context, { parent: "[Gmail]" }))?.nodes.map(({ title }) => title)).toEqual([
    "All Mail",
    "Trash",
  ]);
  expect((await source.browse?.(context, { parent: null, query: "tra" }))?.nodes.map(({ id }) => id)).toEqual([
    "[Gmail]/Trash",
  ]);
});

test("a message is for the owner alone, and read again for the next one, whose mailbox can have the same numbers", async () => {
  const { server, context } = await connect();
  server.add("INBOX", "one");
  const itemFor = async (owner?: string) => {
    const { owner: _before, ...connector } = context.connector;
    const [event] = await eventsOf({ ...context, connector: { ...connector, ...(owner !== undefined && { owner }) } });
    return event?.t === "upsert" ? event.item : undefined;
  };
  const [ada, bo, nobody] = [await itemFor("user:usr_ada"), await itemFor("user:usr_bo"), await itemFor()];
  expect(ada?.access).toEqual({ known: true, all: [["user:usr_ada"]] });
  expect(bo?.access).toEqual({ known: true, all: [["user:usr_bo"]] });
  expect(nobody?.access).toEqual({ known: false });
  expect(ada?.externalId).toBe(bo?.externalId);
  expect(new Set([ada, bo, nobody].map((item) => item?.version)).size).toBe(3);
});

test("junk, trash and drafts are read only when asked for", async () => {
  for (const junkAndTrash of [false, true]) {
    const { server, context } = await connect({ junkAndTrash });
    const id = server.add("INBOX", "one");
    const gone = server.add("Trash", "two");
    server.folder("Trash").attributes = "\\Trash";
    expect(idsOf(await eventsOf(context))).toEqual(junkAndTrash ? [id, gone] : [id]);
  }
});

test("a folder that can't be opened stays as it is, and the others are read", async () => {
  const { server, context } = await connect();
  server.add("Closed", "one");
  const open = server.add("Open", "two");
  server.instead = answerTo('EXAMINE "Closed"', "TAG NO [NOPERM] no\r\n");
  const events = await eventsOf(context);
  expect(idsOf(events)).toEqual([open]);
  expect(events.at(-1)).toMatchObject({ t: "end", notLookedAt: [{ container: { type: "folder", id: "Closed" } }] });
});

test("messages of one run are read over one connection, and the run lists over one", async () => {
  const { kb, living, server } = await mailbox();
  for (let i = 0; i < 5; i++) server.add("INBOX", `mail ${i}`);
  expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { upserted: 5, failed: 0 } });
  expect(server.connections()).toBe(2);
  server.commands.length = 0;
  expect(await kb.sync()).toMatchObject({ counts: { upserted: 0, unchanged: 5 } });
  expect(server.commands.filter((command) => command.startsWith("UID FETCH"))).toEqual([]);
  const before = new Map((await living()).map(({ title, kbId }) => [title, kbId]));
  // All numbers are others: the same messages stay the same items.
  server.folder("INBOX").uidValidity = 8;
  expect(await kb.sync()).toMatchObject({ state: "succeeded" });
  expect(new Map((await living()).map(({ title, kbId }) => [title, kbId]))).toEqual(before);
});

async function mailbox() {
  const server = await startImap();
  return { server, ...(await connectMailbox(server.port)) };
}
