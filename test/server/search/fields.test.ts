import { describe, test } from "vitest";
import { findQueryFilters, withField } from "#server/search/query-filters.ts";
import type { SourceItem } from "#sources/item.ts";
import { FOLDER, makeConnectorServer, pushed } from "../connectors/server.ts";
import { DAY, makeKit } from "../mcp/kit.ts";
import { item } from "../sync/harness.ts";
import { TEST_NOW } from "../../helpers.ts";
import { verifies } from "../../requirements.ts";

/** Three notes that everybody sees, and one with fields of its own that only its owner does. */
async function makeWorld() {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const member = await kb.addMember(owner.workspaceId);
  await kb.addItems(owner, [
    {
      title: "One",
      text: "budget plan",
      fields: { status: "draft", pages: 12, created: "2024-03-05" },
      updatedAt: TEST_NOW - DAY,
    },
    { title: "Two", text: "budget status draft", fields: { status: "Final text", pages: 3, tags: ["q3", "q4"] } },
    { title: "Three", text: "budget sealed level 7" },
    {
      title: "Hidden",
      text: "budget",
      fields: { sealed: "yes", level: 7, status: "sealed" },
      readers: [`user:${owner.userId}`],
    },
  ]);
  const search = async (query: string, rest = "") => {
    const answer = await kb.as(member).get(`/api/connectors/search?query=${encodeURIComponent(query)}${rest}`);
    const titles = (answer.json.results ?? []).map((result: { title: string }) => result.title);
    return { ...answer.json, titles, status: answer.status };
  };
  const field = (...pairs: string[]) => pairs.map((pair) => `&field=${encodeURIComponent(pair)}`).join("");
  return { kb, owner, member, search, field };
}

describe("a name and a value in a query", () => {
  verifies(
    "fields:filter",
    "are a filter when something visible has them, and the answer says so",
    async ({ expect }) => {
      const { search } = await makeWorld();
      const drafts = await search("budget status:DRAFT");
      expect(drafts).toMatchObject({
        titles: ["One"],
        total: 1,
        notes: ['"status:DRAFT" in the query was read as a field.'],
      });
      expect((await search('budget status:"final text" pages:3')).titles).toEqual(["Two"]);
      expect((await search("budget created:2024-03")).titles).toEqual(["One"]);
      expect((await search("budget kind:file tags:q4")).notes).toEqual([
        '"kind:file" in the query was read as a filter.',
        '"tags:q4" in the query was read as a field.',
      ]);
    },
  );

  verifies(
    "fields:hidden",
    "are words where only hidden items have them, exactly as where nothing has",
    async ({ expect }) => {
      const { search } = await makeWorld();
      const answers = [await search("budget level:7"), await search("budget nosuch:7")];
      const about = answers.map(({ titles, notes }) => ({
        titles,
        notes: notes.map((note: string) => note.replace("nosuch", "level")),
      }));
      expect(about[0]?.titles).toContain("Three");
      expect(JSON.stringify(about)).not.toContain("read as a field");
    },
  );

  test("stay words in phrases, addresses and times, and the query keeps the rest", ({ expect }) => {
    const written = (query: string) => findQueryFilters(query).map((filter) => filter.written);
    expect(written('"error status:500 x" https://a.test/b 12:30 C:\\temp a:b :x x:')).toEqual([]);
    expect(written('x pages:12 "status:draft" due-date:"5 March" größe:l')).toEqual([
      "pages:12",
      'due-date:"5 March"',
      "größe:l",
    ]);
    const [filter] = findQueryFilters('"a pages:12 b" pages:12 c');
    expect(filter && withField({ query: '"a pages:12 b" pages:12 c', limit: 10 }, filter)).toMatchObject({
      query: '"a pages:12 b" c',
      fields: [{ key: "pages", value: "12" }],
    });
  });
});

describe("fields that are asked for outright", () => {
  verifies("fields:shown", "must all be met, and hits show theirs", async ({ expect }) => {
    const { search, field } = await makeWorld();
    const found = await search("budget", field("status:draft", "pages:12"));
    expect(found.results).toMatchObject([
      { title: "One", fields: { status: "draft", pages: 12, created: "2024-03-05" } },
    ]);
    expect((await search("", field('status:"final text"'))).titles).toEqual(["Two"]);
    expect((await search("", field("status:draft", "pages:3"))).titles).toEqual([]);
    expect((await search("budget", field("status"))).status).toBe(400);
  });

  test("find nothing where nothing visible has them, and the answer teaches by what there is", async ({ expect }) => {
    const { search, field } = await makeWorld();
    const value = await search("budget", field("status:sealed"));
    expect(value).toMatchObject({ total: 0, status: 200 });
    expect(value.notes[0]).toBe(
      "nothing you can see has the field status:sealed. Its values are, for example: Final text; draft.",
    );
    const name = await search("budget", field("level:7"));
    expect(name.notes[0]).toBe(
      "nothing you can see has the field level:7. Fields are, for example: pages; status; created; tags.",
    );
    expect(name.notes).toContain("without level:7: 3.");
    expect(JSON.stringify([value, name])).not.toMatch(/"sealed"|yes/);
  });

  test("come with the pages of a cursor", async ({ expect }) => {
    const { kb, owner, member, search, field } = await makeWorld();
    await kb.addItems(
      owner,
      Array.from({ length: 5 }, (_, n) => ({ title: `T${n}`, text: "budget", fields: { batch: "x" } })),
    );
    const first = await search("budget", `${field("batch:x")}&limit=3`);
    const second = await search("budget", `${field("batch:x")}&limit=3&cursor=${first.nextCursor}`);
    expect([...first.titles, ...second.titles].sort()).toEqual(["T0", "T1", "T2", "T3", "T4"]);
    const moved = await kb.as(member).get(`/api/connectors/search?query=budget&limit=3&cursor=${first.nextCursor}`);
    expect(moved.status).toBe(400);
  });
});

test("an agent filters by what a detailed hit shows", async ({ expect }) => {
  const { kb, member } = await makeWorld();
  const detailed = await kb.tool(member, "kb_search", { query: "budget plan", detail: "detailed" });
  expect(detailed.text).toContain("\nfields: status: draft; pages: 12; created: 2024-03-05\n");
  const narrowed = await kb.tool(member, "kb_search", { query: "budget created:2024-03-05" });
  expect(narrowed.titles).toEqual(["One"]);
  expect(narrowed.text).toContain('Note: "created:2024-03-05" in the query was read as a field.');
});

describe("the fields of a connector's items", () => {
  test("come from the source and the document, and a changed one is found again after the next run", async ({
    expect,
  }) => {
    const kb = await makeConnectorServer();
    const plan = (fields: NonNullable<SourceItem["fields"]>) =>
      item("plan.md", "the plan", { fields, version: JSON.stringify(fields) });
    kb.world.items = [plan({ status: "draft", owner: null })];
    const { json } = await kb.as(kb.owner).post("/api/connectors", { ...FOLDER, access: { visibility: "workspace" } });
    await kb.worker.runUntilIdle();
    const total = async (pair: string) =>
      (await kb.as(kb.member).get(`/api/connectors/search?field=${encodeURIComponent(pair)}`)).json.total;
    expect([await total("status:draft"), await total("status:final")]).toEqual([1, 0]);
    kb.world.items = [plan({ status: "final", due: "2026-12-01" })];
    await kb.as(kb.owner).post(`/api/connectors/${json.connector.id}/syncs`, {});
    await kb.worker.runUntilIdle();
    expect([await total("status:draft"), await total("status:final"), await total("due:2026-12")]).toEqual([0, 1, 1]);
    const { files } = (await kb.as(kb.member).get("/api/connectors/all-files")).json;
    expect(files).toMatchObject([{ fields: { status: "final", due: "2026-12-01" } }]);
  });

  test("are those of pushed items too, and read by their name from what an agent is shown", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const body = { providerId: "push", name: "Tracker", access: { visibility: "workspace" } };
    const { json } = await kb.as(kb.owner).post("/api/connectors", body);
    const line = pushed("T-1", {
      fields: { "Story points": 5, Sprint: "2026-W47", teams: ["web", "Ops & SRE"], done: null },
    });
    const path = `/api/connectors/${json.connector.id}/items`;
    const headers = { "content-type": "application/x-ndjson" };
    await kb.withToken(json.key).request("POST", path, { raw: JSON.stringify(line), headers });
    const found = await kb
      .as(kb.member)
      .get("/api/connectors/search?query=story-points:5%20teams:%22ops%20%26%20sre%22");
    expect(found.json.results).toMatchObject([
      { title: "Task T-1", fields: { Story_points: 5, Sprint: "2026-W47", teams: ["web", "Ops & SRE"] } },
    ]);
    expect(found.json.results[0].fields).not.toHaveProperty("done");
  });
});
