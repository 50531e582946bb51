import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { SourceItem } from "#sources/item.ts";
import { hostileText } from "../../api/hostile-text.ts";
import { runs } from "../../runs.ts";
import { FOLDER, pushed } from "./server.ts";
import { makePushServer } from "./push-harness.ts";

/** Names that look alike, hide something, or are nothing. */
const NAMES = [
  "Ana",
  "\u0410na",
  "An\u200ba",
  "\u202eanA",
  "Ana\u0301",
  "\ud800",
  "\0",
  "",
  " ",
  "ana",
  "x".repeat(70_000),
];
const text = fc.oneof(
  hostileText,
  fc.constantFrom(...NAMES),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("![a](".repeat(20_000), "\ud83d".repeat(3_000), "\u200d".repeat(5_000)),
);
const number = fc.constantFrom(0, -0, -1, 1e17, -1e17, 8.64e15, -8.64e15, 9e18, Number.NaN, Infinity, 2 ** 53, 0.5);
const date = fc.oneof(number, fc.constantFrom(-62_135_596_800_000, 253_402_300_799_999, 253_402_300_800_000, 1.7e12));
const person = fc.record({ name: text, claimed: fc.boolean() });
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

/** What a source may say of an item. */
const hostileItem = fc.record({
  title: text,
  key: some(text),
  path: some(fc.array(text, { maxLength: 3 })),
  labels: some(fc.array(text, { maxLength: 3 })),
  priority: some(text),
  place: some(text),
  url: some(text),
  author: some(person),
  assignees: some(fc.array(person, { maxLength: 3 })),
  containers: some(
    fc.array(fc.record({ type: fc.constant("folder" as const), id: text, name: text }), { maxLength: 2 }),
  ),
  createdAt: some(date),
  updatedAt: some(date),
  dueAt: some(date),
  size: some(number),
  fields: some(
    fc.dictionary(text, fc.oneof(text, number, fc.boolean(), fc.array(text, { maxLength: 2 })), { maxKeys: 3 }),
  ),
  words: text,
});

const OPEN = { known: true, all: [["workspace"]] } as const;

/** What no answer may have in a text: controls, halves of characters, direction marks, tags, fillers. */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- exactly the characters that are looked for
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}|[\u{e0000}-\u{e007f}]/u;
const DATE = /^(?:[+-]?\d{4,6})-\d\d-\d\d(?:T|$)/;
/** A source's own words about places, which a caller gives back as they are. */
const GIVEN_BACK = new Set(["externalId", "config", "scope", "id", "parent"]);

/** Every text of an answer is safe, and every date of the years 1 to 9999. */
function expectSafe(value: unknown): void {
  if (typeof value === "string") {
    expect(value).not.toMatch(UNSAFE);
    if (DATE.test(value)) expect(value).toMatch(/^(?!0000)\d{4}-/);
  } else if (typeof value === "number") {
    expect(Number.isFinite(value)).toBe(true);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      expectSafe(name);
      if (!GIVEN_BACK.has(name)) expectSafe(inner);
    }
  }
}

async function makeHostileServer() {
  const kb = await makePushServer(undefined, {}, { settings: { rateLimits: "off" } });
  const made = await kb.as(kb.owner).post("/api/connectors", {
    ...FOLDER,
    access: { visibility: "workspace" },
  });
  const folder: string = made.json.connector.id;
  const token = await kb.token(kb.owner);
  const get = async (path: string) => {
    const answer = await kb.as(kb.owner).get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    expectSafe(answer.json);
    return answer.json;
  };
  const tool = async (name: string, args: unknown) => {
    const answer = await kb.withToken(token).request("POST", "/mcp", {
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26" },
    });
    expect([name, answer.status]).toEqual([name, 200]);
    expectSafe(answer.json);
    return answer.json.result;
  };
  /** Whether each of these words finds its item, and what all routes say of them. */
  const expectFound = async (words: readonly string[]) => {
    for (const word of words) {
      const found = await get(`/api/connectors/search?query=${word}&explain=true`);
      expect([word, found.total, found.results.length]).toEqual([word, 1, 1]);
      const [{ kbId }] = found.results;
      const hit = await tool("kb_search", { query: word, detail: "detailed" });
      expect([word, hit.structuredContent.results.map((one: { kbId: string }) => one.kbId)]).toEqual([word, [kbId]]);
      await get(`/api/connectors/files/${kbId}`);
      const read = await tool("kb_get_file_content", { kbId });
      expect([word, read.isError ?? false]).toEqual([word, false]);
    }
    const all = await tool("kb_search", { query: "", limit: 50 });
    expect(all.structuredContent.results.length).toBeGreaterThan(0);
    const list = await get("/api/connectors/all-files?limit=200");
    expect(list.files.length).toBeGreaterThanOrEqual(words.length);
    for (const path of ["", `/${folder}`, `/${folder}/syncs`, `/${kb.id}`]) await get(`/api/connectors${path}`);
  };
  return { ...kb, folder, tool, get, expectFound };
}

test("whatever a source or a pushed line says, every route answers, finds it and shows nothing unsafe", async () => {
  const kb = await makeHostileServer();
  let drawn = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(hostileItem, { minLength: 1, maxLength: 3 }), text, async (hostile, asked) => {
      const synced = hostile.map(({ words, ...said }, n): [string, SourceItem] => {
        const word = `synced${++drawn}`;
        const content = { type: "inline", text: `${words}\n${word} ${word}` } as const;
        return [
          word,
          { externalId: `${word}-${n}`, kind: "task", version: word, access: OPEN, ...said, content } as SourceItem,
        ];
      });
      kb.world.items = synced.map(([, one]) => one);
      kb.clock.advance(600_000);
      expect((await kb.as(kb.owner).post(`/api/connectors/${kb.folder}/syncs`, { mode: "full" })).status).toBe(202);
      await kb.worker.runUntilIdle();

      const lines = hostile.map(({ words, ...said }) => {
        const word = `pushed${++drawn}`;
        const { createdAt, updatedAt, dueAt, ...rest } = said;
        const dates = Object.fromEntries(
          Object.entries({ createdAt, updatedAt, dueAt }).map(([k, at]) => [k, isoOf(at)]),
        );
        return [word, pushed(word, { ...rest, ...dates, text: `${words}\n${word}` })] as const;
      });
      const results = await kb.push(lines.map(([, line]) => line));
      expect(results).toHaveLength(lines.length);
      expectSafe(results);
      const taken = lines.filter((_, n) => results[n]?.result === "upserted").map(([word]) => word);
      await kb.expectFound([...synced.map(([word]) => word), ...taken]);
      for (const query of [asked, ...NAMES.slice(0, 3)]) {
        await kb.tool("kb_search", { query });
        await kb.tool("kb_search_entities", { query });
        await kb.tool("kb_get_entity_context", { entity: query });
      }
    }),
    { numRuns: runs(9) },
  );
}, 20_000);

/** The date as a program writes it that does not look at what it is. */
function isoOf(at: number | undefined): string | undefined {
  if (at === undefined) return undefined;
  const given = new Date(at);
  return Number.isNaN(given.getTime()) ? String(at) : given.toISOString();
}

test("what an older kb has stored of an item keeps no route from showing it", async () => {
  const kb = await makeHostileServer();
  await kb.push([pushed("old", { text: "oldest harbour", title: "Old" })]);
  const { read, write } = kb.database;
  const good = await read.selectFrom("items").selectAll().executeTakeFirstOrThrow();
  const column = fc.record(
    {
      title: text,
      key: text,
      source: text,
      subkind: text,
      priority: text,
      path: fc.array(text).map((value) => JSON.stringify(value)),
      labels: fc.oneof(text, fc.constant("[null,3]")),
      author: fc.oneof(
        person.map((value) => JSON.stringify(value)),
        text,
      ),
      assignees: fc.array(person, { maxLength: 3 }).map((value) => JSON.stringify(value)),
      fields: fc.dictionary(text, text, { maxKeys: 3 }).map((value) => JSON.stringify(value)),
      createdAt: date,
      updatedAt: date,
      dueAt: date,
      indexedAt: fc.integer({ min: 0 }),
      formerSince: fc.constantFrom(null, -1, 9e15, 1.7e12),
      url: text,
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(column, text, async (values, name) => {
      const storable = Object.entries(values).map(([k, value]) => [k, Number.isNaN(value) ? "NaN" : value]);
      await write
        .updateTable("items")
        .set({ ...good, ...Object.fromEntries(storable) })
        .execute();
      await write.updateTable("item_entities").set({ name }).execute();
      await kb.expectFound(["harbour"]);
    }),
    { numRuns: runs(20) },
  );
}, 20_000);
