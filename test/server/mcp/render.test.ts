import * as fc from "fast-check";
import { countTokens as tokenize } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import type { ToolSearchEntry, ToolSearchResult } from "#api/tools.ts";
import type { SearchOutcome } from "#server/search/types.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import type { ShownHit } from "#storage/search-index.ts";
import { renderContent, renderPassages } from "#server/mcp/render-content.ts";
import type { Rendered } from "#server/mcp/fitting.ts";
import { renderSearch } from "#server/mcp/render-search.ts";
import { makeTokenCounter } from "#server/mcp/token-counter.ts";
import { countTokens, type CountTokens } from "#server/mcp/tokens.ts";
import { hostileText } from "../../api/hostile-text.ts";
import { hostileItem, hostileOutcome, NOW } from "./hostile.ts";
import { runs } from "../../runs.ts";

const HOW = {
  maxTokens: 6000,
  isDetailed: false,
  isContinued: false,
  timeZone: "Europe/Berlin",
  baseUrl: "https://kb.test",
};

const tokensOf = makeTokenCounter((text) => tokenize(text, { disallowedSpecial: new Set() }));
/** As in production, without its thread. */
const count: CountTokens = async (texts) => texts.map(tokensOf);

/** Tokens of the larger form. */
function sizeOf({ text, structured }: Rendered<object>): number {
  return Math.max(tokensOf(text), tokensOf(JSON.stringify(structured)));
}

/** What a reader gets out of the text alone: every fact that the layout carries. */
function parseAnswer(text: string): Omit<ToolSearchResult, "now"> & { now: string | undefined } {
  const blocks = text.split("\n\n");
  const head =
    /^(at least )?(\d+) found(?:, 1-(\d+)(?: of this page)? shown)?\. Now: (.*?)\.(?: Match: (\w+)\.)?(?: Order: (\w+)\.)?$/.exec(
      blocks[0] ?? "",
    );
  const tail = (blocks.at(-1) ?? "").split("\n");
  const notes = tail.filter((line) => line.startsWith("Note: ")).map((line) => line.slice(6));
  const cursor = /cursor="([^"]+)"/.exec(tail.at(-1) ?? "")?.[1];
  return {
    now: head?.[4],
    returned: Number(head?.[3] ?? 0),
    total: Number(head?.[2]),
    totalIsExact: head?.[1] === undefined,
    match: head?.[5] === "any" ? "any" : "all",
    order: head?.[6] === "recency" ? "recency" : head?.[6] === "due" ? "due" : "relevance",
    results: blocks.slice(1, -1).map(parseEntry),
    ...(/Cut by maxTokens/.test(tail.at(-1) ?? "") && { isCut: true }),
    ...(notes.length > 0 && { notes }),
    ...(cursor !== undefined && { next: { cursor } }),
  };
}

function parseEntry(block: string): ToolSearchEntry {
  const [title, facts, place, ...lines] = block.split("\n");
  const rest = lines[0]?.startsWith("fields: ") === true ? lines.slice(1) : lines;
  const heading = /^\[(\d+)\] (.*)$/.exec(title ?? "");
  const parts = (facts ?? "").split(" | ");
  const [kind, status] = (parts[1] ?? "").split(", ");
  const named = (name: string) =>
    parts
      .slice(2)
      .find((part) => part.startsWith(name))
      ?.slice(name.length);
  const where = /^providerId: (.*?) \| source: (.*?)(?: \| URL: (\S+))?$/.exec(place ?? "");
  const passages: { at?: number; section?: string; snippet: string; noText?: string }[] = [];
  for (let line = 0; line < rest.length; line += 2) {
    const none = /^snippet: none(?: \((.*)\))?$/.exec(rest[line] ?? "");
    const about = /^snippet(?: \((?:at (\d+))?(?:, )?(?:"(.*)")?\))?:$/.exec(rest[line] ?? "");
    if (none === null && about === null) throw new Error(`Not a passage: ${rest[line]}`);
    if (about !== null && rest[line + 1]?.startsWith("> ") !== true) throw new Error("A passage is quoted.");
    passages.push({
      ...(about?.[1] !== undefined && { at: Number(about[1]) }),
      ...(about?.[2] !== undefined && { section: about[2] }),
      ...(none?.[1] !== undefined && { noText: none[1] }),
      snippet: none === null ? (rest[line + 1] ?? "").slice(2) : "",
    });
  }
  const [first, ...more] = passages;
  const updated = named("updated: ")?.slice(0, 10);
  const list = (value: string | undefined) => value?.split("; ");
  const entry: Record<string, unknown> = {
    n: Number(heading?.[1]),
    kbId: parts[0]?.slice("kbId: ".length),
    providerId: where?.[1],
    source: where?.[2],
    url: where?.[3],
    title: heading?.[2],
    kind,
    status,
    key: named("key: "),
    assignees: list(named("assignee: ")),
    due: named("due: "),
    priority: named("priority: "),
    by: named("by "),
    updated,
    created: named("created: "),
    indexed: named("indexed: ")?.slice(0, 10),
    textAsOf: named("text as of: ")?.slice(0, 10),
    labels: list(named("labels: ")),
    path: named("path: "),
    fields: rest === lines ? undefined : parseFields(lines[0] ?? ""),
    ...first,
    more: more.length > 0 ? more : undefined,
  };
  for (const key of Object.keys(entry)) if (entry[key] === undefined) delete entry[key];
  return entry as unknown as ToolSearchEntry; // what the test compares
}

function parseFields(line: string): Record<string, string> {
  const pairs = line.slice("fields: ".length).split("; ");
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf(": ")), pair.slice(pair.indexOf(": ") + 2)]),
  );
}

describe("kb_search", () => {
  test("parsing the text gives exactly the entries of the structured form, whatever the items hold", async () => {
    await fc.assert(
      fc.asyncProperty(
        hostileOutcome,
        fc.boolean(),
        fc.constantFrom(200, 500, 2000, 20_000),
        async (outcome, isDetailed, maxTokens) => {
          const { text, structured } = await renderSearch(outcome, { ...HOW, isDetailed, maxTokens, count });
          expect(parseAnswer(text)).toEqual(structured);
          expect(text.split("\n").at(-1)).toMatch(/^End of results\. /);
        },
      ),
      { numRuns: runs(20) },
    );
  });

  test("no form is ever larger than maxTokens, and what is shown keeps its main facts", async () => {
    await fc.assert(
      fc.asyncProperty(
        hostileOutcome,
        fc.boolean(),
        fc.integer({ min: 200, max: 3000 }),
        async (outcome, isDetailed, maxTokens) => {
          const rendered = await renderSearch(outcome, { ...HOW, isDetailed, maxTokens, count });
          expect(sizeOf(rendered)).toBeLessThanOrEqual(maxTokens);
          for (const entry of rendered.structured.results ?? []) {
            for (const key of ["kbId", "providerId", "source", "title", "snippet"]) expect(entry).toHaveProperty(key);
            const item = outcome.entries[entry.n - 1]?.item;
            expect(entry.kbId).toBe(item?.kbId);
          }
        },
      ),
      { numRuns: runs(20) },
    );
  });

  test("a detailed entry shows eight fields at most, a concise one none", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `f${n}`);
    const fields = {
      status: "draft; old",
      pages: 12,
      tags: ["a", "b|c"],
      ...Object.fromEntries(names.map((n) => [n, n])),
    };
    const outcome: SearchOutcome = { ...OUTCOME, entries: [{ ...ENTRY, item: { ...ENTRY.item, fields } }] };
    const { text, structured } = await renderSearch(outcome, { ...HOW, isDetailed: true, count });
    expect(text).toContain(
      "\nfields: status: draft, old; pages: 12; tags: a, b¦c; f0: f0; f1: f1; f2: f2; f3: f3; f4: f4\n",
    );
    expect(structured.results?.[0]?.fields).toMatchObject({ status: "draft, old", pages: "12", tags: "a, b¦c" });
    expect(JSON.stringify(await renderSearch(outcome, { ...HOW, count }))).not.toContain("draft");
  });

  test("an answer reads as the layout says", async () => {
    const outcome: SearchOutcome = { ...OUTCOME, entries: [ENTRY], total: 42, cursorAfter: () => "k7Qx2mZt9aVb4Lw0" };
    expect((await renderSearch(outcome, { ...HOW, count })).text)
      .toBe(`42 found, 1-1 shown. Now: 2026-11-21 Sat 10:20 Europe/Berlin.

[1] Payment webhook times out under load
kbId: kbi_3q8d7m2x9k4fa2zc | task, open | key: acme/web#412 | assignee: Marek Novak | due: 2026-11-27 | by Anna Kowalska | updated: 2026-11-19 (2 days ago)
providerId: github | source: github:acme/web | URL: https://github.com/acme/web/issues/412
snippet (at 1840, "Proposed fix"):
> Answer 202 at once and process from the queue; duplicates are dropped by event id within 24 hours.

Note: slack:#incidents is still being indexed (62 %); answers may be incomplete.
End of results. 41 more: repeat the call with cursor="k7Qx2mZt9aVb4Lw0".`);
  });

  test("counts by value are complete in both forms, and cut at the end when there is no room", async () => {
    const groups = Array.from({ length: 300 }, (_, n) => ({ value: `github:acme/repository-${n}`, count: 300 - n }));
    const outcome: SearchOutcome = { ...OUTCOME, entries: [], facets: { source: groups }, total: 900 };
    const full = await renderSearch(outcome, { ...HOW, groupBy: "source", maxTokens: 20_000, count });
    expect(full.structured.groups).toEqual(groups);
    expect(full.text).toContain("\n300 x github:acme/repository-0\n299 x github:acme/repository-1\n");
    const small = await renderSearch(outcome, { ...HOW, groupBy: "source", maxTokens: 500, count });
    expect(sizeOf(small)).toBeLessThanOrEqual(500);
    expect(small.structured.isCut).toBe(true);
    expect(small.text.split("\n").at(-1)).toMatch(/^End of results\. Cut by maxTokens after \d+ values\.$/);
  });
});

describe("kb_get_file_content", () => {
  const time = { now: NOW, timeZone: "UTC", baseUrl: "https://kb.test" };

  test("is never larger than maxTokens, quotes every line of the text, and says where to go on", async () => {
    const text = fc.array(fc.oneof(hostileText, fc.lorem({ maxCount: 30 }), fc.constant("日本語の議事録".repeat(40))), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(
        hostileItem,
        text,
        fc.integer({ min: 0, max: 50 }),
        fc.integer({ min: 200, max: 2000 }),
        async (item, parts, start, maxTokens) => {
          const whole = parts.join("\n");
          const from = Math.min(start, whole.length);
          const range = { item, text: whole.slice(from), start: from, totalChars: whole.length };
          const answer = await renderContent(range, { ...time, maxTokens, count });
          expect(tokensOf(answer)).toBeLessThanOrEqual(maxTokens);
          const lines = answer.split("\n");
          const first = lines.findIndex((line) => line.startsWith("> "));
          const last = lines.findLastIndex((line) => line.startsWith("> "));
          if (first >= 0) expect(lines.slice(first, last + 1).every((line) => line.startsWith("> "))).toBe(true);
          expect(lines.at(-1)).toMatch(/^End of (?:item|part)\./);
          const next = /offset=(\d+)\.$/.exec(lines.at(-1) ?? "")?.[1];
          if (next !== undefined) expect(Number(next)).toBeGreaterThan(from);
        },
      ),
      { numRuns: runs(20) },
    );
  });

  test("reading part after part gives the whole text", async () => {
    const whole = Array.from({ length: 400 }, (_, n) => `Line ${n} of a long document with some words in it.`).join(
      "\n",
    );
    let offset = 0;
    let read = "";
    for (let call = 0; call < 100; call++) {
      const range = {
        item: { ...RECORD, sections: [] },
        text: whole.slice(offset, offset + 3000),
        start: offset,
        totalChars: whole.length,
      };
      const answer = await renderContent(range, { ...time, maxTokens: 600, count });
      read += answer
        .split("\n")
        .filter((line) => line.startsWith("> "))
        .map((line) => line.slice(2))
        .join("\n");
      const next = /go on with offset=(\d+)\.$/.exec(answer)?.[1];
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(read).toBe(whole);
  });

  test("a long item begins with its outline, passages name their place", async () => {
    const sections = [
      { name: "Intro", level: 1, start: 0 },
      { name: 'Proposed "fix"', level: 1, start: 1840 },
    ];
    const item = { ...RECORD, sections, textChars: 81_200 };
    const range = { item, text: "word ".repeat(2000), start: 0, totalChars: 81_200 };
    const answer = await renderContent(range, { ...time, maxTokens: 1000, count });
    expect(answer).toContain('\nOutline: 0 Intro; 1840 Proposed "fix"\n');
    expect(answer).toMatch(/End of part\. Characters 0-[\d,]+ of 81,200; go on with offset=\d+\.$/);
    const found = await renderPassages(
      { item, passages: [{ at: 1900, text: "a\nb" }], total: 3, isTotalExact: true },
      { ...time, maxTokens: 500, count },
    );
    expect(found).toContain(`at 1900, "Proposed 'fix'":\n> a\n> b`);
    expect(found).toMatch(/End of passages\. 1 of 3 shown\. 2 more; read on from offset=1900, or narrow find\.$/);
  });
});

describe("counting tokens", () => {
  test("the thread counts as the tokenizer does, however many ask at once", async () => {
    const texts = ["", "one two three", "日本語の議事録".repeat(40), "<|endoftext|>", "x".repeat(5_000)];
    const asked = await Promise.all([countTokens(texts), countTokens([]), ...texts.map((text) => countTokens([text]))]);
    const expected = texts.map(tokensOf);
    expect(asked).toEqual([expected, [], ...expected.map((tokens) => [tokens])]);
  });

  test("takes time in proportion to the text and never counts too little", () => {
    for (const run of ["a", " ", "=", "日本語の議事録を", "👩‍🚀", "<|endoftext|>"]) {
      const text = run.repeat(8_000);
      const pieces: number[] = [];
      makeTokenCounter((piece) => pieces.push(piece.length))(text);
      // The tokenizer takes the square of a run: none that it gets is long, and each character comes once.
      expect(Math.max(...pieces)).toBeLessThanOrEqual(96);
      expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(text.length);
      expect(tokensOf(text)).toBeGreaterThan(100);
    }
    const plain = makeTokenCounter((text) => text.length);
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(plain(text)).toBeGreaterThanOrEqual(text.length);
      }),
    );
  });
});

const RECORD: ItemRecord = {
  kbId: "kbi_3q8d7m2x9k4fa2zc",
  connectorId: "con_2222222222222222",
  externalId: "412",
  parentExternalId: null,
  providerId: "github",
  source: "github:acme/web",
  kind: "task",
  subkind: "issue",
  key: "acme/web#412",
  title: "Payment webhook times out under load",
  url: "https://github.com/acme/web/issues/412",
  lineAnchor: null,
  ownClockAt: null,
  path: [],
  mimeType: null,
  size: null,
  version: "1",
  textHash: null,
  textChars: 3000,
  status: "open",
  priority: null,
  labels: [],
  fields: {},
  author: { name: "Anna Kowalska", entityId: null, claimed: false },
  assignees: [{ name: "Marek Novak", entityId: null, claimed: false }],
  createdAt: null,
  updatedAt: Date.parse("2026-11-19T12:00:00Z"),
  dueAt: Date.parse("2026-11-27T12:00:00Z"),
  indexedAt: NOW,
  indexState: "indexed",
  formerSince: null,
  textReason: null,
  textMessage: null,
  aclId: 1,
  sections: [],
};

const ENTRY: ShownHit = {
  item: RECORD,
  passages: [
    {
      at: 1840,
      section: "Proposed fix",
      text: "Answer 202 at once and process from the queue; duplicates are dropped by event id within 24 hours.",
      highlights: [],
    },
  ],
};

const OUTCOME: SearchOutcome = {
  entries: [],
  facets: {},
  total: 0,
  isTotalExact: true,
  match: "all",
  order: "relevance",
  notes: ["slack:#incidents is still being indexed (62 %); answers may be incomplete."],
  cursorAfter: () => undefined,
  noteFault: () => undefined,
  asOf: NOW,
  tookMs: 3,
};
