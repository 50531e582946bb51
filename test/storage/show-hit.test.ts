import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { FIELD_NAMES } from "#api/item-fields.ts";
import type { Fault } from "#core/faults.ts";
import type { ItemFacts } from "#core/item-facts.ts";
import { toSearchAnswer } from "#server/search/answer.ts";
import { showHit } from "#storage/show-hit.ts";
import type { SearchOutcome } from "#server/search/types.ts";
import { renderSearch } from "#server/mcp/render-search.ts";
import type { CountTokens } from "#server/mcp/tokens.ts";
import type { ShownHit } from "#storage/search-index.ts";
import { runs } from "../runs.ts";

const NOW = Date.UTC(2026, 10, 21);
const BASE = "https://kb.test";

const FACTS: ItemFacts = {
  kind: "task",
  subkind: null,
  title: "Renew the certificate",
  status: "open",
  key: "OPS-1",
  path: ["Board"],
  assignees: [{ name: "Bo", entityId: null, claimed: true }],
  dueAt: NOW,
  priority: "high",
  author: { name: "Ana", entityId: null, claimed: true },
  updatedAt: NOW,
  createdAt: NOW,
  labels: ["tls"],
  mimeType: null,
  size: 12,
  fields: { pages: 3 },
};

function hitOf(kbId: string, more: Record<string, unknown> = {}, passages: unknown = [passage()]): ShownHit {
  const item = {
    ...FACTS,
    kbId,
    providerId: "push",
    source: "push:x",
    url: null,
    indexedAt: NOW,
    textReason: null,
    formerSince: null,
    ...more,
  };
  // Values that no type allows are what this is about.
  return { item, passages } as unknown as ShownHit;
}

function passage() {
  return { at: 0, text: "It ends in March.", highlights: [{ start: 3, end: 7 }] };
}

/** Both forms of an answer with these hits, and what was noted. */
async function show(entries: readonly ShownHit[]) {
  const faults: Fault[] = [];
  const outcome: SearchOutcome = {
    entries,
    facets: {},
    total: entries.length,
    isTotalExact: true,
    match: "all",
    order: "relevance",
    notes: [],
    cursorAfter: () => undefined,
    noteFault: (fault) => void faults.push(fault),
    asOf: NOW,
    tookMs: 1,
  };
  const rendering = { maxTokens: 1e9, isDetailed: true, isContinued: false, timeZone: "UTC", baseUrl: BASE };
  const count: CountTokens = async (texts) => texts.map((text) => text.length / 4);
  const tool = await renderSearch(outcome, { ...rendering, count });
  return { rest: toSearchAnswer(outcome, { baseUrl: BASE }).results, tool: tool.structured.results ?? [], faults };
}

const GOOD = hitOf("kbi_good");
const alone = await show([GOOD]);
expect(alone.faults).toEqual([]);

describe("a hit of which something can't be shown", () => {
  test("is shown without what it says of itself; the others are as they were", async () => {
    const { rest, tool, faults } = await show([hitOf("kbi_bad", { updatedAt: 1e17 }), GOOD]);
    expect(rest[0]).toMatchObject({ kbId: "kbi_bad", title: "Renew the certificate", updatedAt: null });
    expect(rest[0]?.snippet).toBe("It ends in March.");
    expect(tool[0]).toMatchObject({ kbId: "kbi_bad", title: "Renew the certificate", snippet: "It ends in March." });
    expect(tool[0]).not.toHaveProperty("updated");
    expect(rest[1]).toEqual(alone.rest[0]);
    expect(tool[1]).toEqual({ ...alone.tool[0], n: 2 });
    expect(new Set(faults.map(({ name }) => name))).toEqual(new Set(["RangeError"]));
    expect(JSON.stringify(faults)).not.toContain("certificate");
  });

  test("is shown without its snippet, or without its title", async () => {
    const { rest, tool } = await show([
      hitOf("kbi_text", {}, [{ ...passage(), text: null }]),
      hitOf("kbi_title", { title: null }),
    ]);
    expect(rest.map(({ kbId, snippet }) => [kbId, snippet])).toEqual([
      ["kbi_text", ""],
      ["kbi_title", ""],
    ]);
    expect(rest[0]).toMatchObject({ title: "Renew the certificate", status: "open" });
    expect(tool.map(({ title }) => title)).toEqual(["Renew the certificate", "(untitled)"]);
  });

  test("ends the answer where the failure is none of its own", () => {
    const told = new ApiError("search_overloaded", { message: "Later." });
    const fail = () => {
      throw told;
    };
    expect(() => showHit(GOOD, fail, () => {})).toThrow(told);
  });
});

const HOSTILE: readonly unknown[] = [
  1e17,
  -1e17,
  8.64e15,
  Number.NaN,
  Infinity,
  -0,
  2 ** 53,
  "\ud800",
  "\0",
  "",
  "![a](",
  "x".repeat(100_000),
  null,
  undefined,
  {},
  [],
  [null],
  { name: null },
  [{ name: 3 }],
  { a: { b: 1 } },
  true,
];

test("no stored value keeps an answer from being made, or changes another hit", async () => {
  const hostile = fc.constantFrom<unknown>(...HOSTILE);
  const bad = fc.dictionary(fc.constantFrom(...FIELD_NAMES, "url"), hostile, { maxKeys: 4 });
  const passages = fc.oneof(
    fc.constant([passage()]),
    fc.array(fc.record({ at: hostile, text: hostile, highlights: hostile })),
  );
  await fc.assert(
    fc.asyncProperty(bad, passages, async (values, found) => {
      const { rest, tool } = await show([hitOf("kbi_bad", values, found), GOOD]);
      expect(rest[1]).toEqual(alone.rest[0]);
      expect(tool[1]).toEqual({ ...alone.tool[0], n: 2 });
      expect([rest[0]?.kbId, tool[0]?.kbId]).toEqual(["kbi_bad", "kbi_bad"]);
    }),
    { numRuns: runs(100) },
  );
});
