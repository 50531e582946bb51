import { expect, test } from "vitest";
import { makeMcpSource } from "#sources/mcp/index.ts";
import type { SourceMcp } from "#sources/mcp-contract.ts";
import { contextOf, type KitFixture } from "../../kit/fixture.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { INITIALIZED, makeTestOpener, send, startRaw } from "../../mcp-client/servers.ts";
import { makeFixtureOver, startNotes } from "./fixture.ts";

test("resources, those of templates, and what mapped tools list are items, with their texts", async () => {
  const replica = makeReplica();
  await runInto(makeFixtureOver(await startNotes()), replica);
  const items = [...replica.items.values()].map(({ externalId, title, content }) => [externalId, title, content]);
  expect(items).toEqual(
    expect.arrayContaining([
      ["resource:note:///shelf/0.md", "0.md", { type: "inline", text: "resource 0" }],
      ["resource:people://anna", "Person anna", { type: "inline", text: "about people://anna" }],
      ["tool:n0", "Note n0", { type: "inline", text: "note 0" }],
    ]),
  );
  expect(items).toHaveLength(10);
});

test("a tool that changed since it was mapped is not called, and the run says so", async () => {
  const server = await startNotes();
  const fixture = makeFixtureOver(server);
  const replica = makeReplica();
  await runInto(fixture, replica);
  server.changeTool();
  const calls = server.requests();
  await expect(runInto(fixture, replica, { mode: "incremental" })).rejects.toMatchObject({
    code: "connector_config_invalid",
    details: { reason: "tool_changed", role: "list" },
  });
  // A session, and the list of tools.
  expect(server.requests() - calls).toBeLessThanOrEqual(4);
  expect(await fixture.source.check(contextOf(fixture))).toMatchObject({ ok: false });
  const read = fixture.source.fetchContent?.(contextOf(fixture), { externalId: "tool:n0" });
  await expect(read).rejects.toMatchObject({ code: "connector_config_invalid" });
});

test("a connector without a connection reads nothing", async () => {
  const fixture = makeFixtureOver(await startNotes());
  const bare = { ...fixture, context: {} };
  await expect(runInto(bare, makeReplica())).rejects.toMatchObject({ code: "source_unauthorized" });
});

test("a listing that gives the same page for ever ends as partial and removes nothing", async () => {
  const server = await startNotes();
  const fixture = makeFixtureOver(server);
  const replica = makeReplica();
  await runInto(fixture, replica);
  server.repeatPage();
  const before = replica.items.size;
  const { events } = await runInto(fixture, replica);
  expect(events.at(-1)).toMatchObject({ t: "end", listing: "partial", why: expect.stringContaining("leads back") });
  expect(replica.items.size).toBe(before);
});

/** A server of resources, of which some may fail. */
async function connectTo(answers: Parameters<typeof startRaw>[0]) {
  const url = await startRaw({
    initialize: () => INITIALIZED("2025-06-18", { resources: {}, completions: {} }),
    "resources/list": () => ({ resources: ["a", "bad", "c"].map((name) => ({ uri: `note:///${name}`, name })) }),
    "resources/templates/list": () => ({ resourceTemplates: [] }),
    "resources/read": ({ params }) => ({ contents: [{ uri: String(params["uri"]), text: "Words." }] }),
    ...answers,
  });
  const openMcp = makeTestOpener([url]);
  const source = makeMcpSource();
  const mcp: SourceMcp = {
    open: ({ signal, isListening }) => openMcp({ url, headers: async () => ({}) }, signal, isListening),
    mapping: undefined,
    isWaiting: false,
  };
  // What a run needs of a fixture.
  return { source, config: source.spec.config.parse({}), context: { mcp } } as unknown as KitFixture;
}

test("a resource at which the server fails stays as it was, and the others are read", async () => {
  let isBroken = false;
  const fixture = await connectTo({
    "resources/read": ({ id, params, response }) => {
      const uri = String(params["uri"]);
      const text = isBroken ? "Other words." : "Words.";
      if (!isBroken || uri !== "note:///bad") return { contents: [{ uri, text }] };
      return send(response, { jsonrpc: "2.0", id, error: { code: -32_603, message: "no attribute 'content'" } });
    },
  });
  const replica = makeReplica();
  await runInto(fixture, replica);
  isBroken = true;
  const { events } = await runInto(fixture, replica);
  const texts = [...replica.items.values()].map(({ content }) => content?.type === "inline" && content.text);
  expect(texts).toEqual(["Other words.", "Words.", "Other words."]);
  const failed = { t: "skip", externalId: "resource:note:///bad", reason: "failed" };
  expect(events).toContainEqual(expect.objectContaining(failed));
});

test("a server that completes and has no templates is read, and one behind which something else answers isn't", async () => {
  const replica = makeReplica();
  await runInto(await connectTo({ "resources/templates/list": undefined as never }), replica);
  expect(replica.items.size).toBe(3);
  const other = await connectTo({
    "resources/templates/list": ({ response }) => void response.writeHead(404).end(),
  });
  await expect(runInto(other, replica)).rejects.toMatchObject({ code: "source_not_found" });
  expect(replica.items.size).toBe(3);
});
