import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PushedLine } from "#sources/push/events.ts";
import { parsePushLine, parsePushLines, PUSH_LIMITS } from "#sources/push/lines.ts";
import { splitLines } from "#sources/push/split-lines.ts";
import { runs } from "../../runs.ts";

const ACCESS = { known: true, all: [["workspace"]] };
const ITEM = { externalId: "T-1", kind: "task", title: "Ship it", access: ACCESS };

function parse(value: unknown): PushedLine | undefined {
  return parsePushLine(JSON.stringify(value), 1, "Tracker");
}

function messageOf(value: unknown): string | undefined {
  const parsed = parse(value);
  return parsed?.ok === false ? `${parsed.code}: ${parsed.message}` : undefined;
}

async function* streamOf(bytes: Uint8Array, chunkSize: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

describe("one line", () => {
  test("an upsert becomes an event with real dates, the connector's place and its text", () => {
    const parsed = parse({
      t: "upsert",
      item: { ...ITEM, text: "Hello", url: "https://t.test/1", dueAt: "2026-03-01T10:00:00+02:00", status: "open" },
    });
    expect(parsed).toEqual({
      ok: true,
      line: 1,
      externalId: "T-1",
      notes: [],
      event: {
        t: "upsert",
        item: {
          externalId: "T-1",
          kind: "task",
          title: "Ship it",
          place: "Tracker",
          url: "https://t.test/1",
          dueAt: Date.parse("2026-03-01T08:00:00.000Z"),
          status: "open",
          content: { type: "inline", text: "Hello" },
          access: ACCESS,
        },
      },
    });
  });

  test("delete and acl lines carry what they need", () => {
    expect(parse({ t: "delete", externalId: "T-1", subtree: true })).toMatchObject({
      event: { t: "delete", externalId: "T-1", subtree: true },
    });
    expect(parse({ t: "acl", externalId: "T-1", access: { known: false } })).toMatchObject({
      event: { t: "access", externalId: "T-1", access: { known: false } },
    });
  });

  test("a person named by a principal is meant, a bare name is only claimed", () => {
    const author = { name: "Ana", principal: "user:usr_aaaaaaaaaaaaaaaa" };
    expect(parse({ t: "upsert", item: { ...ITEM, author, assignees: [{ name: "Bo" }] } })).toMatchObject({
      event: { item: { author: { ...author, claimed: false }, assignees: [{ name: "Bo", claimed: true }] } },
    });
  });

  test("an address that is not http(s) is left out, and the line says so", () => {
    for (const url of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "//t.test", "nonsense"]) {
      const parsed = parse({ t: "upsert", item: { ...ITEM, url } });
      expect(parsed).toMatchObject({ ok: true, notes: ["url was left out: only http and https are kept"] });
      expect(JSON.stringify(parsed)).not.toContain("alert");
    }
  });

  test("each fault is told with its place, and with the id where it can be found", () => {
    const upsert = (change: object) => ({ t: "upsert", item: { ...ITEM, ...change } });
    expect(messageOf(upsert({ title: "  " }))).toContain("item.title");
    expect(messageOf(upsert({ kind: "person" }))).toContain("item.kind");
    expect(messageOf(upsert({ dueAt: "0000-06-01T00:00:00Z" }))).toContain(
      "item.dueAt: must be in the years 1 to 9999",
    );
    expect(messageOf(upsert({ updatedAt: "9999-12-31T23:59:59-01:00" }))).toContain("item.updatedAt: must be in the");
    expect(messageOf(upsert({ dueAt: "tomorrow" }))).toContain("item.dueAt: must be an RFC 3339 date");
    expect(messageOf(upsert({ dueAt: "2026-03-01" }))).toContain("item.dueAt");
    expect(messageOf(upsert({ access: undefined }))).toContain('{"known": true, "all": [["workspace"]]}');
    expect(messageOf(upsert({ access: { known: true, all: [] } }))).toContain("item.access.all");
    expect(messageOf(upsert({ colour: "red" }))).toContain("colour");
    expect(messageOf(upsert({ text: "a", content: { type: "none" } }))).toContain("not both");
    expect(messageOf(upsert({ content: { type: "fetch" } }))).toContain("nothing is fetched");
    expect(messageOf(upsert({ externalId: "a\nb" }))).toContain("control characters");
    expect(messageOf({ t: "checkpoint" })).toContain('t must be "upsert", "acl", "seen"');
    expect(messageOf([1])).toBe("invalid_request: The line is not a JSON object.");
    expect(parse(upsert({ kind: "person" }))).toMatchObject({ ok: false, externalId: "T-1", line: 1 });
  });

  test("lines about people and groups carry what they need, and name no item", () => {
    const [group, user] = ["group:con_aaaaaaaaaaaaaaaa:eng", "user:usr_aaaaaaaaaaaaaaaa"];
    expect(parse({ t: "member", group, member: user })).toEqual({
      ok: true,
      line: 1,
      externalId: null,
      notes: [],
      event: { t: "member", group, member: user, remove: false },
    });
    const identity = { t: "identity", principal: "user:push:con_aaaaaaaaaaaaaaaa:7", member: null };
    expect(parse(identity)).toMatchObject({ externalId: null, event: identity });
    expect(parse({ t: "group", group, members: [user] })).toMatchObject({ event: { members: [user] } });
    expect(parse({ t: "identity", principal: user, email: "ana@acme.test" })).toMatchObject({
      ok: false,
      isAboutPeople: true,
    });
    expect(parse({ t: "delete", principal: user })).not.toHaveProperty("isAboutPeople");
  });

  test("a key that reaches for the prototype is refused at any depth and changes nothing", () => {
    for (const text of [
      '{"t":"upsert","__proto__":{"polluted":1}}',
      `{"t":"upsert","item":{"externalId":"a","fields":{"__proto__":{"polluted":1}}}}`,
      `{"t":"upsert","item":{"\\u005f_proto__":{"polluted":1}}}`,
    ]) {
      expect(parsePushLine(text, 1, "p")).toMatchObject({ ok: false, message: 'The key "__proto__" is not allowed.' });
    }
    expect("polluted" in {}).toBe(false);
  });

  test("nesting beyond 16 levels is refused before it is parsed; brackets in text do not count", () => {
    const deep = `{"t":"upsert","item":${"[".repeat(500_000)}${"]".repeat(500_000)}}`;
    expect(parsePushLine(deep, 1, "p")).toMatchObject({ ok: false, message: expect.stringContaining("16 levels") });
    expect(parse({ t: "upsert", item: { ...ITEM, text: `${"[{".repeat(100)}"\\"` } })).toMatchObject({ ok: true });
  });

  test("no text at all makes it throw, and what is taken is named as it was sent", () => {
    const line = fc.oneof(
      fc.json(),
      fc.string({ unit: "binary" }),
      fc
        .record({ t: fc.constantFrom("upsert", "acl", "delete", "x"), item: fc.anything(), access: fc.anything() })
        .map((value) => JSON.stringify(value) ?? ""),
    );
    fc.assert(
      fc.property(line, (text) => {
        const parsed = parsePushLine(text, 7, "p");
        if (parsed?.ok === true) expect(text).toContain(JSON.stringify(parsed.externalId));
        else expect(parsed === undefined || parsed.message.length > 0).toBe(true);
      }),
      { numRuns: runs(400) },
    );
  });
});

describe("the stream", () => {
  test("lines are the same however the bytes are cut", async () => {
    const text = `${JSON.stringify({ t: "upsert", item: { ...ITEM, title: "日本語 🗂️" } })}\r\n\n  \n{"t":"delete","externalId":"é"}`;
    const bytes = Buffer.from(`\ufeff${text}`);
    const whole = await collect(parsePushLines(streamOf(bytes, bytes.length), { place: "p" }));
    expect(whole.map((parsed) => [parsed.line, parsed.ok])).toEqual([
      [1, true],
      [4, true],
    ]);
    for (const size of [1, 2, 3, 7]) {
      expect(await collect(parsePushLines(streamOf(bytes, size), { place: "p" }))).toEqual(whole);
    }
  });

  test("a bad line is an answer and the next one goes on: too long, not UTF-8, not JSON", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`"${"x".repeat(PUSH_LIMITS.maxLineBytes)}"\n`),
      Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]),
      Buffer.from('{"t":\n{"t":"delete","externalId":"a"}\n'),
    ]);
    const parsed = await collect(parsePushLines(streamOf(bytes, 65_536), { place: "p" }));
    expect(parsed.map((line) => (line.ok ? "ok" : `${line.line} ${line.code}: ${line.message}`))).toEqual([
      "1 payload_too_large: The line is longer than 1048576 bytes.",
      "2 invalid_request: The line is not valid UTF-8.",
      "3 invalid_request: The line is not valid JSON.",
      "ok",
    ]);
  });

  test("a line without an end holds no more memory than a line may", async () => {
    const chunk = Buffer.alloc(1024 * 1024, 0x61);
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 300; i++) yield chunk;
      yield Buffer.from("\nshort");
    }
    const before = process.memoryUsage().arrayBuffers;
    const lines = await collect(splitLines(endless(), 1024));
    expect(lines.map((raw) => ("isTooLong" in raw ? raw.line : Buffer.from(raw.bytes).toString()))).toEqual([
      1,
      "short",
    ]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("lets others have the event loop, however many lines come at once and say nothing", async () => {
    for (const line of ["\n", " \n", "{}\n"]) {
      let turns = 0;
      const stop = new AbortController();
      const count = () => void (stop.signal.aborted || (turns++, setImmediate(count)));
      setImmediate(count);
      const bytes = new TextEncoder().encode(line.repeat(10_000));
      const lines = await collect(parsePushLines(streamOf(bytes, bytes.length), { place: "CI" }));
      stop.abort();
      expect([line, lines.length, turns > 10]).toEqual([line, line === "{}\n" ? 10_000 : 0, true]);
    }
  });
});
