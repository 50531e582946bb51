import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isApiError } from "#api/errors.ts";
import { TOOL_NAMES, TOOLS } from "#api/tools.ts";
import { EntitiesQuery } from "#api/entities.ts";
import { ITEM_FIELDS } from "#api/item-fields.ts";
import { SearchQuery } from "#api/search.ts";
import { ALIASES, ARGUMENTS, HOST_ARGUMENTS } from "#server/mcp/argument-rules.ts";
import { readArguments } from "#server/mcp/arguments.ts";

/** The `code: message` of the error that reading throws. */
function errorOf(tool: (typeof TOOL_NAMES)[number], raw: unknown): string {
  try {
    readArguments(tool, raw);
  } catch (error) {
    if (isApiError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "no error";
}

const DEFAULTS = { limit: 10, maxTokens: 6000 };

describe("placeholders", () => {
  const placeholder = fc.constantFrom<unknown>(null, "", "  ", [], {}, undefined, [""], [null]);
  const filterPlaceholder = fc.oneof(placeholder, fc.constantFrom<unknown>("any", "all", "none", "*", "None", "null"));

  test("in any declared argument change nothing", () => {
    const REQUIRED: Record<string, unknown> = { query: "ledger", entity: "Anna", kbId: "ABC-12" };
    for (const tool of TOOLS) {
      const names = Object.keys(tool.inputSchema.properties ?? {});
      const required = names.find((name) => name in REQUIRED) ?? "";
      const base = { [required]: REQUIRED[required] };
      const plain = readArguments(tool.name, base);
      fc.assert(
        fc.property(
          fc.dictionary(fc.constantFrom(...names.filter((name) => name !== required)), filterPlaceholder),
          (extra) => {
            // `find` is text to look for, so its words are words.
            if (typeof extra["find"] === "string" && extra["find"].trim() !== "") delete extra["find"];
            expect(readArguments(tool.name, { ...extra, ...base })).toEqual(plain);
          },
        ),
      );
    }
  });

  test("a cursor that says none is none, any other is kept; zero sizes are the defaults", () => {
    for (const cursor of [null, "", "null", "None", "undefined", "n/a", " "]) {
      expect(readArguments("kb_search", { query: "x", cursor, limit: 0, maxTokens: 0 })).toEqual({
        values: { query: "x", ...DEFAULTS },
        notes: ["limit 0 was read as 10.", "maxTokens 0 was read as 6000."],
      });
    }
    for (const cursor of ["zzz", "next_page", "cursor_abcdefghijklmnop", "aB3_aB3-aB3_aB3-aB3_aB3-aB3_"]) {
      expect(readArguments("kb_search", { query: "x", cursor }).values["cursor"]).toBe(cursor);
    }
  });

  test("no arguments at all are an empty search", () => {
    for (const raw of [undefined, null, {}, [], ""]) {
      const notes = ['query is missing and was read as "".'];
      expect(readArguments("kb_search", raw)).toEqual({ values: DEFAULTS, notes });
    }
    expect(readArguments("kb_search", { query: "" })).toEqual({ values: DEFAULTS, notes: [] });
  });
});

describe("values that nest", () => {
  test("as deep as a body can are refused like every other wrong one", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const deep: unknown = JSON.parse(`${open.repeat(300_000)}1${close.repeat(300_000)}`);
      for (const tool of TOOLS) {
        for (const name of [...Object.keys(tool.inputSchema.properties ?? {}), "unknown"]) {
          const code = errorOf(tool.name, { query: "x", entity: "x", kbId: "x", [name]: deep }).split(":")[0];
          expect([name, ["invalid_argument", "unknown_argument", "invalid_cursor"].includes(code ?? "")]).toEqual([
            name,
            true,
          ]);
        }
      }
    }
  });
});

describe("near values", () => {
  test.each<[Record<string, unknown>, Record<string, unknown>, string[]]>([
    [{ limit: "25" }, { limit: 25 }, []],
    [{ limit: 500 }, { limit: 50 }, ["limit 500 was read as 50."]],
    [{ limit: -3 }, { limit: 1 }, ["limit -3 was read as 1."]],
    [{ maxTokens: 99 }, { maxTokens: 200 }, ["maxTokens 99 was read as 200."]],
    [{ kind: "Task" }, { kind: ["task"] }, []],
    [{ kind: ["task", "page"] }, { kind: ["page", "task"] }, []],
    [{ kind: "pr" }, { kind: ["task"] }, ['kind "pr" was read as task.']],
    [{ kind: "documents" }, { kind: ["file", "page"] }, ['kind "documents" was read as file or page.']],
    [{ type: "email" }, { kind: ["message"] }, ['"type" was read as kind.', 'kind "email" was read as message.']],
    [{ status: "Closed" }, { status: "done" }, ['status "closed" was read as done.']],
    [{ sort: "newest" }, { sortBy: "recency" }, ['"sort" was read as sortBy.', 'sortBy "newest" was read as recency.']],
    [{ since: "7d" }, { after: "7d" }, ['"since" was read as after.']],
    [{ container: "slack:#ops" }, { source: "slack:#ops" }, ['"container" was read as source.']],
    [{ after: "1d", since: "7d" }, { after: "1d" }, ['"since" was ignored because after is given.']],
    [{ query: 412 }, { query: "412" }, []],
    [{ query: "x", team: null }, { query: "x" }, []],
  ])("%j is understood", (raw, values, notes) => {
    expect(readArguments("kb_search", raw)).toEqual({ values: { ...DEFAULTS, ...values }, notes });
  });

  test("the seed's call passes as it is", () => {
    const call = { query: "release", kind: "task", sortBy: "recency", limit: 5 };
    expect(readArguments("kb_search", call)).toEqual({
      values: { query: "release", kind: ["task"], sortBy: "recency", limit: 5, maxTokens: 6000 },
      notes: [],
    });
  });

  test("a long query is cut at a word and says where", () => {
    const read = readArguments("kb_search", { query: `${"word ".repeat(799)}ledger ${"x".repeat(50)}` });
    expect(String(read.values["query"]).length).toBeLessThanOrEqual(4000);
    expect(read.notes[0]).toBe('query cut after 4,000 characters, at "word".');
  });

  test("other names of other tools are understood", () => {
    expect(readArguments("kb_get_file_content", { id: "kbi_1", offset: "1840" }).values).toEqual({
      kbId: "kbi_1",
      offset: 1840,
      maxTokens: 6000,
    });
    expect(readArguments("kb_get_entity_context", { name: "Anna" }).values).toEqual({
      entity: "Anna",
      maxTokens: 4000,
    });
    expect(readArguments("kb_search_entities", { query: "an", kind: "user" }).values).toEqual({
      query: "an",
      type: "person",
      limit: 10,
      maxTokens: 6000,
    });
  });
});

describe("what hosts add or spell otherwise", () => {
  const call = { query: "release", toolCallId: "call_1", sessionId: "s", action: "sendMessage", chatInput: "hi" };

  test("is dropped with one note, whatever its value is", () => {
    expect(readArguments("kb_search", call)).toEqual({
      values: { query: "release", ...DEFAULTS },
      notes: ["Ignored toolCallId, sessionId, action, chatInput: added by the host, not part of this tool."],
    });
    for (const name of HOST_ARGUMENTS) {
      for (const value of ["x".repeat(5000), { deep: [{ a: 1 }] }, 7, null]) {
        for (const tool of TOOL_NAMES) {
          const own = { query: "x", entity: "x", kbId: "x" };
          const [key = ""] = Object.keys(ARGUMENTS[tool]);
          const base = { [key]: own[key as keyof typeof own] };
          const { values, notes } = readArguments(tool, { ...base, [name]: value });
          expect(values).toEqual(readArguments(tool, base).values);
          expect(notes).toEqual([`Ignored ${name}: added by the host, not part of this tool.`]);
        }
      }
    }
  });

  test("is no call with arguments: without any other the call is told to lack its query", () => {
    expect(readArguments("kb_search", { toolCallId: "x" }).notes).toContain('query is missing and was read as "".');
  });

  test("holds no name of ours in any writing: a dropped filter would widen the answer", () => {
    const folded = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
    const taken = [
      ...TOOL_NAMES.flatMap((tool) => [...Object.keys(ARGUMENTS[tool]), ...Object.keys(ALIASES[tool])]),
      ...TOOLS.flatMap((tool) => Object.keys(tool.inputSchema.properties ?? {})),
      ...Object.keys(SearchQuery.shape),
      ...Object.keys(EntitiesQuery.shape),
      // Filters that stand in a query: fields of items that agents see.
      ...Object.keys(ITEM_FIELDS),
    ].map(folded);
    expect(taken.length).toBeGreaterThan(60);
    expect([...HOST_ARGUMENTS].filter((name) => taken.includes(folded(name)))).toEqual([]);
  });

  test("leaves every other unknown argument an error that names the nearest", () => {
    for (const [name, near] of [
      ["asignee", "assignee"],
      ["poeple", "people"],
      ["statsu", "status"],
      ["sources", "source"],
      ["kinds", "kind"],
      ["toolcallid", undefined],
      ["tool_call", undefined],
      ["Action", undefined],
    ] as const) {
      const hint = near === undefined ? "" : ` Did you mean ${near}?`;
      expect(errorOf("kb_search", { query: "x", [name]: "y" })).toContain(
        `unknown_argument: "${name}".${hint} kb_search`,
      );
    }
  });

  test.each<[unknown, Record<string, unknown>]>([
    ['{"query":"ledger","limit":5}', { query: "ledger", limit: 5 }],
    [
      { query: "x", kind: '["task", "page"]' },
      { query: "x", kind: ["page", "task"] },
    ],
    [
      { query: "x", limit: "[7]" },
      { query: "x", limit: 7 },
    ],
    [
      { query: "x", live: "[true]" },
      { query: "x", live: true },
    ],
    [{ query: '["task"]' }, { query: '["task"]' }],
    [{ query: '{"a":1}' }, { query: '{"a":1}' }],
    [
      { query: "x", source: '["github"]' },
      { query: "x", source: '["github"]' },
    ],
  ])("JSON text is read where no text belongs: %j", (raw, values) => {
    expect(readArguments("kb_search", raw).values).toEqual({ ...DEFAULTS, ...values });
  });

  test("ids and what to find are never parsed, and text that is no object is no arguments", () => {
    const ids = { kbId: '["kbi_1"]', find: "[ledger]" };
    expect(readArguments("kb_get_file_content", ids).values).toMatchObject(ids);
    const deep = `{"query":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    for (const raw of ["ledger", "[1]", '"{}"', "{query: 1}", "7", deep]) {
      expect(errorOf("kb_search", raw)).toMatch(/^invalid_argument: arguments of kb_search must be an object/);
    }
  });
});

describe("bad input", () => {
  const LONG = "x".repeat(3000);
  test.each<[(typeof TOOL_NAMES)[number], unknown, string]>([
    ["kb_search", { kind: "event" }, 'invalid_argument: kind "event" is not one of task, file, page, message.'],
    ["kb_search", { status: "maybe" }, 'invalid_argument: status "maybe" is not one of open, done.'],
    ["kb_search", { sortBy: "size" }, 'invalid_argument: sortBy "size" is not one of relevance, recency, due.'],
    [
      "kb_search",
      { groupBy: "color" },
      'invalid_argument: groupBy "color" is not one of kind, source, person, status, month.',
    ],
    ["kb_search", { detail: "verbose" }, 'invalid_argument: detail "verbose" is not one of concise, detailed.'],
    ["kb_search", { dateField: "opened" }, 'invalid_argument: dateField "opened" is not one of updated, created, due.'],
    ["kb_search", { limit: "many" }, 'invalid_argument: limit "many" is not a number from 1 to 50.'],
    ["kb_search", { limit: { n: 1 } }, "invalid_argument: limit an object is not a number from 1 to 50."],
    ["kb_search", { query: true }, "invalid_argument: query must be text, not true."],
    ["kb_search", { query: { text: "x" } }, "invalid_argument: query must be text, not an object."],
    ["kb_search", { assignee: ["a", "b"] }, "invalid_argument: assignee takes one value, not 2. Call once for each."],
    ["kb_search", { kind: LONG }, "invalid_argument: kind is longer than 2100 characters."],
    ["kb_search", { sortBy: LONG }, "invalid_argument: sortBy is longer than 2100 characters."],
    ["kb_search", { cursor: LONG }, "invalid_argument: cursor is longer than 2100 characters."],
    ["kb_search", { limit: LONG }, "invalid_argument: limit is longer than 2100 characters."],
    ["kb_search", { kind: Array(60).fill("tasks") }, "invalid_argument: kind has 60 values. Give at most 50."],
    [
      "kb_search_entities",
      { [LONG]: 1 },
      "unknown_argument: A name of 3000 characters. kb_search_entities takes query, type, limit, maxTokens, cursor.",
    ],
    ["kb_search", { assignee: LONG }, "invalid_argument: assignee is longer than 500 characters."],
    ["kb_search", { source: LONG }, "invalid_argument: source is longer than 2100 characters."],
    ["kb_search", { after: 5.5e30, people: false }, "invalid_argument: people must be text, not false."],
    [
      "kb_search",
      { team: "x" },
      'unknown_argument: "team". kb_search takes query, kind, status, assignee, people, priority, source, after, before, dateField, sortBy, groupBy, limit, maxTokens, detail, cursor, live.',
    ],
    [
      "kb_search",
      { __proto__x: 1 },
      'unknown_argument: "__proto__x". kb_search takes query, kind, status, assignee, people, priority, source, after, before, dateField, sortBy, groupBy, limit, maxTokens, detail, cursor, live.',
    ],
    [
      "kb_search",
      JSON.parse('{"constructor": "x", "query": "y"}'),
      'unknown_argument: "constructor". kb_search takes query, kind, status, assignee, people, priority, source, after, before, dateField, sortBy, groupBy, limit, maxTokens, detail, cursor, live.',
    ],
    ["kb_search", "release", 'invalid_argument: arguments of kb_search must be an object such as {"query": "…"}.'],
    ["kb_search", ["release"], 'invalid_argument: arguments of kb_search must be an object such as {"query": "…"}.'],
    [
      "kb_search_entities",
      { type: "planet" },
      'invalid_argument: type "planet" is not one of person, project, repository, channel, label, team, space, folder.',
    ],
    [
      "kb_search_entities",
      { query: ["a", "b"] },
      "invalid_argument: query takes one value, not 2. Call once for each.",
    ],
    [
      "kb_search_entities",
      { colour: "red" },
      'unknown_argument: "colour". kb_search_entities takes query, type, limit, maxTokens, cursor.',
    ],
    [
      "kb_get_entity_context",
      {},
      "invalid_argument: entity is missing. kb_get_entity_context needs an entityId, email, URL, name, or me.",
    ],
    ["kb_get_entity_context", { entity: LONG }, "invalid_argument: entity is longer than 2100 characters."],
    [
      "kb_get_entity_context",
      { entity: "x", kind: "event" },
      'invalid_argument: kind "event" is not one of task, file, page, message.',
    ],
    [
      "kb_get_entity_context",
      { entity: 7, depth: 2 },
      'unknown_argument: "depth". kb_get_entity_context takes entity, kind, after, maxTokens.',
    ],
    [
      "kb_get_file_content",
      { kbId: null },
      "invalid_argument: kbId is missing. kb_get_file_content needs a kbId from kb_search, a URL, an issue key, a path or a title.",
    ],
    ["kb_get_file_content", { kbId: LONG }, "invalid_argument: kbId is longer than 2100 characters."],
    ["kb_get_file_content", { kbId: "x", offset: "end" }, 'invalid_argument: offset "end" is not a number from 0 on.'],
    [
      "kb_get_file_content",
      { kbId: "x", limit: 5 },
      'unknown_argument: "limit". kb_get_file_content takes kbId, find, offset, maxTokens.',
    ],
  ])("%s with %j says what is wrong", (tool, raw, message) => {
    expect(errorOf(tool, raw)).toBe(message);
  });

  test("any JSON ends in values or in one of the two errors, and no hidden character comes back", () => {
    fc.assert(
      fc.property(fc.constantFrom(...TOOL_NAMES), fc.jsonValue(), (tool, raw) => {
        const outcome = errorOf(tool, raw);
        expect(outcome).toMatch(/^(no error$|invalid_argument: |unknown_argument: )/);
        expect(outcome).not.toMatch(/[\n\r]/);
      }),
      { numRuns: 500 },
    );
  });
});
