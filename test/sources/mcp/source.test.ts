import { expect, test } from "vitest";
import { contextOf } from "../../kit/fixture.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
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
