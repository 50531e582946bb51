import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentFacts } from "#server/mcp/facts.ts";
import { isInstant } from "#core/instant.ts";
import { factsOnWire } from "#core/item-facts.ts";
import { type HitRow, sectionsOf, toShownItem } from "#storage/item-record.ts";
import { openWriter } from "#storage/sqlite.ts";

const GOOD: HitRow = {
  kbId: "k",
  providerId: "web",
  source: "web:a",
  url: null,
  indexedAt: 0,
  textReason: null,
  aclId: 1,
  textHash: null,
  textChars: 0,
  sections: "[]",
  lineAnchor: null,
  kind: "task",
  subkind: null,
  title: "t",
  key: null,
  status: null,
  path: "[]",
  labels: "[]",
  assignees: "[]",
  author: null,
  dueAt: null,
  priority: null,
  createdAt: null,
  updatedAt: null,
  mimeType: null,
  size: null,
  fields: "{}",
} as HitRow; // every column that these tests read

const TIME = { now: 0, timeZone: "America/New_York", baseUrl: "https://kb.test" };

test("a stored date outside the years 1 to 9999 counts as not known, and answers show the rest", () => {
  for (const at of [
    -1e17,
    -3_217_862_419_200_000,
    1e17,
    8.64e15,
    -8.64e15,
    253_402_300_800_000,
    Number.NaN,
    Infinity,
  ]) {
    expect(isInstant(at)).toBe(false);
    const item = toShownItem({ ...GOOD, createdAt: at, updatedAt: at, dueAt: at });
    expect([item.createdAt, item.updatedAt, item.dueAt]).toEqual([null, null, null]);
    expect(() => [agentFacts(item, true, TIME), factsOnWire(item, "result")]).not.toThrow();
  }
  const edge = toShownItem({ ...GOOD, updatedAt: -62_135_596_800_000, dueAt: 253_402_300_799_999 });
  expect(() => [agentFacts(edge, true, TIME), factsOnWire(edge, "result")]).not.toThrow();
  expect(edge.dueAt).toBe(253_402_300_799_999);
});

test("stored columns that can't be read count as not known", () => {
  for (const bad of ["", "{", "null", "7", '"x"', "[null,7,{}]", '{"a":{"b":1},"c":[1]}', "\ud800"]) {
    const item = toShownItem({
      ...GOOD,
      title: "\ud800\0",
      path: bad,
      labels: bad,
      assignees: bad,
      author: bad,
      fields: bad,
    });
    expect(() => [agentFacts(item, true, TIME), factsOnWire(item, "result")]).not.toThrow();
    expect([item.path, item.labels, item.assignees, item.author, item.fields]).toEqual([[], [], [], null, {}]);
  }
});

test("of stored sections those that can't be read are left out", () => {
  const good = { name: "Intro", level: 1, start: 0, kind: "page", ref: "1" };
  const odd = [
    null,
    7,
    {},
    { ...good, name: 1 },
    { ...good, level: "a" },
    { ...good, start: -5 },
    { ...good, start: 1e99 },
  ];
  expect(sectionsOf({ sections: JSON.stringify([...odd, good]) })).toEqual([good]);
  for (const sections of ["", "xx", "{}", "null"]) expect(sectionsOf({ sections })).toEqual([]);
});

test.each([2 ** 53, 1e18, 1e308, -1, 1.5])(
  "a stored size of %d keeps no row from being read, and counts as not known",
  (size) => {
    const folder = mkdtempSync(join(tmpdir(), "kb-size-"));
    const connection = openWriter(join(folder, "kb.db"), "normal");
    try {
      connection.execute("create table items (kbId text, size bigint)", []);
      connection.execute("insert into items values ('k', ?), ('l', 7)", [size]);
      const { rows } = connection.execute("select * from items order by kbId", []);
      expect(rows.map((row) => row["kbId"])).toEqual(["k", "l"]);
      expect(rows.map((row) => toShownItem({ ...GOOD, size: Number(row["size"]) }).size)).toEqual([null, 7]);
      expect(connection.execute("select size from items where kbId = 'l'", []).rows).toEqual([{ size: 7 }]);
    } finally {
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
