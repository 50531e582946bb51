import { expect, test } from "vitest";
import { readSentence } from "#server/search/query-filters.ts";
import { TEST_NOW } from "../../helpers.ts";
import { DAY, makeKit } from "../mcp/kit.ts";

test("a sentence of nothing but filters is read as them", () => {
  expect(readSentence("My open tasks due this week?")).toEqual({
    assignee: "me",
    status: "open",
    kinds: ["task"],
    dateField: "due",
    after: "this week",
    before: "this week",
  });
  expect(readSentence("show me the documents changed since monday")).toEqual({
    kinds: ["file"],
    dateField: "updated",
    after: "monday",
  });
  expect(readSentence("high priority issues")).toEqual({ priority: "high", kinds: ["task"] });
  expect(readSentence("what are my overdue tasks")).toMatchObject({
    assignee: "me",
    status: "open",
    before: "yesterday",
  });
});

test("one word more, a quote or too little makes it a search for words", () => {
  for (const query of [
    "my open tasks due this week budget",
    'my "open" tasks',
    "open document",
    "my",
    "tasks",
    "due diligence",
    "my task file",
    "",
  ]) {
    expect([query, readSentence(query)]).toEqual([query, undefined]);
  }
});

test("what fits the filters is the answer, with a note; where nothing does, the words are searched for", async () => {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  await kb.addItems(owner, [
    {
      title: "Renew the certificate",
      kind: "task",
      status: "open",
      text: "x",
      dueAt: TEST_NOW + DAY,
      priority: "High",
    },
    { title: "High priority issues", kind: "page", text: "How we sort them." },
  ]);
  const found = await kb.tool(owner, "kb_search", { query: "high priority tasks" });
  expect([found.titles, found.data.notes]).toEqual([
    ["Renew the certificate"],
    [expect.stringContaining("the query was read as priority=high kind=task")],
  ]);
  expect((await kb.tool(owner, "kb_search", { query: "low priority issues" })).titles).toContain(
    "High priority issues",
  );
  for (const args of [{ query: "", priority: "high" }, { query: "priority:high" }]) {
    expect((await kb.tool(owner, "kb_search", args)).titles).toEqual(["Renew the certificate"]);
  }
  expect(found.text).toContain("priority: High");
});

test("channels are found without their mark, and author is read as people", async () => {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const bo = { name: "Bo Lind", claimed: true };
  await kb.addItems(owner, [
    {
      title: "Deploy",
      kind: "message",
      text: "done",
      author: bo,
      containers: [{ type: "channel", id: "c1", name: "#eng" }],
    },
  ]);
  for (const query of ["eng", "#eng"]) {
    expect((await kb.tool(owner, "kb_search_entities", { query, type: "channel" })).data.entities).toHaveLength(1);
    expect((await kb.tool(owner, "kb_search", { query: "", source: query })).titles).toEqual(["Deploy"]);
  }
  const by = await kb.tool(owner, "kb_search", { query: "", author: "Bo Lind" });
  expect([by.titles, by.data.notes]).toEqual([["Deploy"], ['"author" was read as people.']]);
  const counted = await kb.tool(owner, "kb_search", { query: "", groupBy: "person" });
  expect(counted.text).toContain("1 x Bo Lind | assignee: 0, author or other: 1 | entityId:");
  const { facets } = (await kb.as(owner).get("/api/connectors/search?groupBy=person")).json;
  expect(facets.person).toEqual([expect.objectContaining({ name: "Bo Lind", count: 1, assigned: 0 })]);
  const both = (await kb.as(owner).get("/api/connectors/search?query=done&facets=person&facets=kind")).json;
  expect(both.results.map(({ title }: { title: string }) => title)).toEqual(["Deploy"]);
  expect(both.facets).toEqual({
    person: [{ value: expect.stringMatching(/^ent_/), name: "Bo Lind", count: 1 }],
    kind: [{ value: "message", count: 1 }],
  });
});

test("a source can be one connector, and one that no one may see is as one that is not there", async () => {
  const kb = await makeKit();
  const owner = await kb.addOwner();
  const stranger = await kb.addOwner("Other");
  const add = async (title: string) => {
    const [kbId = ""] = await kb.addItems(owner, [{ title, text: "plan" }]);
    const row = kb.database.read.selectFrom("items").select("connectorId").where("kbId", "=", kbId);
    return (await row.executeTakeFirstOrThrow()).connectorId;
  };
  const [first, second] = [await add("One"), await add("Two")];
  const found = async (user: typeof owner, source: string, query = "plan") => {
    const { status, json } = await kb
      .as(user)
      .get(`/api/connectors/search?query=${query}&source=${source}&facets=kind`);
    return [status, json.total, json.results.map(({ title }: { title: string }) => title), json.facets, json.notes];
  };
  expect((await found(owner, first)).slice(0, 3)).toEqual([200, 1, ["One"]]);
  expect((await found(owner, second, "")).slice(0, 3)).toEqual([200, 1, ["Two"]]);
  const nowhere = `con_${"0".repeat(16)}`;
  expect(await found(stranger, first)).toEqual(await found(stranger, nowhere));
  expect((await found(stranger, first)).slice(0, 3)).toEqual([200, 0, []]);
});
