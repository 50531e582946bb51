import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { FileRecord } from "#api/files.ts";
import {
  AGENT_FIELDS,
  FIELD_NAMES,
  type FieldName,
  fieldOf,
  type FieldType,
  fieldsIn,
  ITEM_FIELDS,
  PAIR_FIELDS,
} from "#api/item-fields.ts";
import { SearchQuery, SearchResult } from "#api/search.ts";
import { makePushLineSchema } from "#sources/push/json-schema.ts";
import { openTestStore } from "../helpers.ts";
import { makePushServer } from "../server/connectors/push-harness.ts";

/** What a layer has beside the fields: which item it is, where it is, who may read it, its text. A new field is none of these. */
const BESIDE = {
  line: "externalId parentId replyTo place url version people containers text content access",
  file: "kbId externalId connectorId providerId source url indexedAt indexState textState aclCheckedAt",
  result: "kbId providerId source url snippet highlights section sectionUrl explanation indexedAt textAsOf",
  table: [
    "workspaceId kbId connectorId externalId parentExternalId providerId source url lineAnchor version identityHint",
    "textHash textChars sections textReason textMessage retryAt indexedAt indexState indexHash maskedSecrets",
    "reader readerVersion readAgainAt formerSince",
    "aclId ownAclId ownClockAt ownClockCause ownClockBy seenBy readElsewhere removedAt replyTo contentRef cutRetries",
  ].join(" "),
};

function expectFields(found: readonly string[], fields: readonly FieldName[], beside: string) {
  expect([...found].sort()).toEqual([...fields, ...beside.split(" ")].sort());
}

describe("the fields that one table describes are those of", () => {
  test("a pushed line", () => {
    const schema = JSON.stringify(makePushLineSchema());
    // The schema of an item is the one definition with an `externalId` and a `title`.
    const { $defs } = JSON.parse(schema) as { $defs: { Item: { properties: object } } };
    expectFields(Object.keys($defs.Item.properties), FIELD_NAMES, BESIDE.line);
  });

  test("the records of the answers", () => {
    expectFields(Object.keys(FileRecord.shape), fieldsIn("file"), BESIDE.file);
    expectFields(Object.keys(SearchResult.shape), fieldsIn("result"), BESIDE.result);
  });

  test("the table of items", async () => {
    const { database } = await openTestStore();
    const tables = await database.read.introspection.getTables();
    const columns = tables.find(({ name }) => name === "items")?.columns.map(({ name }) => name) ?? [];
    expectFields(columns, FIELD_NAMES, BESIDE.table);
  });

  test("the guide", () => {
    const page = readFileSync(new URL("../../docs/fields.md", import.meta.url), "utf8");
    const [table = ""] = /\| field [\s\S]*?\n\n/.exec(page) ?? [];
    expect([...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)).toEqual(FIELD_NAMES);
  });

  test("the filters of a search", () => {
    for (const name of FIELD_NAMES) {
      const { argument } = fieldOf(name);
      if (argument !== undefined) expect(SearchQuery.shape, name).toHaveProperty(argument);
    }
  });
});

/** A value of each type as a line has it, and as the answers say it. */
const SAMPLES: Record<FieldType, (name: string) => { pushed: unknown; answered?: unknown }> = {
  kind: () => ({ pushed: "task" }),
  title: () => ({ pushed: "Renew the certificate" }),
  status: () => ({ pushed: "open" }),
  text: (name) => ({ pushed: `some ${name}` }),
  name: (name) => ({ pushed: `a-${name}` }),
  path: () => ({ pushed: ["Board", "2026"] }),
  texts: (name) => ({ pushed: [`one ${name}`, `two ${name}`] }),
  date: () => ({ pushed: "2026-11-20T10:00:00+01:00", answered: "2026-11-20T09:00:00.000Z" }),
  number: () => ({ pushed: 12 }),
  person: () => ({ pushed: { name: "Ana Diaz" }, answered: { name: "Ana Diaz", claimed: true } }),
  people: () => ({ pushed: [{ name: "Bo Li" }], answered: [{ name: "Bo Li", claimed: true }] }),
  record: () => ({ pushed: { pages: 3 } }),
};
const sampleOf = (name: FieldName) => SAMPLES[fieldOf(name).type](name);
const answered = (names: readonly FieldName[]) =>
  Object.fromEntries(names.map((name) => [name, sampleOf(name).answered ?? sampleOf(name).pushed]));

async function pushEveryField() {
  const kb = await makePushServer();
  const fields = Object.fromEntries(FIELD_NAMES.map((name) => [name, sampleOf(name).pushed]));
  const access = { known: true, all: [["workspace"]] };
  const [result] = await kb.push([{ t: "upsert", item: { externalId: "1", ...fields, text: "Some words.", access } }]);
  expect(result).toMatchObject({ result: "upserted" });
  const get = async (path: string) => (await kb.as(kb.owner).get(`/api/connectors/${path}`)).json;
  const reader = kb.withToken(await kb.token(kb.owner));
  const tool = async (name: string, args: unknown) => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
    const headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26" };
    return (await reader.request("POST", "/mcp", { body, headers })).json.result;
  };
  return { get, tool };
}

describe("every field of a pushed item", () => {
  test("is in the file's record and in the hit, as far as they show it", async () => {
    const { get } = await pushEveryField();
    expect((await get("all-files")).files[0]).toMatchObject(answered(fieldsIn("file")));
    expect((await get("search?query=words")).results[0]).toMatchObject(answered(fieldsIn("result")));
  });

  test("is read by agents under the name that they have for it", async () => {
    const { get, tool } = await pushEveryField();
    const found = await tool("kb_search", { query: "words", detail: "detailed" });
    const read = await tool("kb_get_file_content", { kbId: (await get("all-files")).files[0].kbId });
    for (const name of AGENT_FIELDS) {
      const { as, ...agent } = ITEM_FIELDS[name].agent;
      expect(found.structuredContent.results[0], name).toHaveProperty(as);
      if (!("line" in agent)) continue;
      expect(found.content[0].text, name).toContain(` | ${agent.line}`);
      expect(read.content[0].text, name).toContain(agent.line);
    }
  });

  test("is found by its value where a query may name it", async () => {
    const { get } = await pushEveryField();
    const found = async (pair: string) => (await get(`search?query=&field=${encodeURIComponent(pair)}`)).total;
    for (const name of PAIR_FIELDS) {
      expect(await found(`${name}:${String(sampleOf(name).pushed)}`), name).toBe(1);
      expect(await found(`${name}:another`), name).toBe(0);
    }
  });
});
