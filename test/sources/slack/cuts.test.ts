import { expect, test } from "vitest";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { makeSlackFixture, makeWorld } from "./fixture.ts";

test("a page of a channel that is empty and not the last one is no end: the channel stays as it is", async () => {
  const world = await makeWorld();
  const fixture = await makeSlackFixture(world);
  const replica = makeReplica();
  await runInto(fixture, replica);
  const before = [...replica.items.keys()].sort();
  expect(before.length).toBeGreaterThan(5);
  world.front.instead = ({ name }, response) => {
    if (name !== "conversations.history") return false;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: true, messages: [], has_more: true }));
    return true;
  };
  const { events } = await runInto(fixture, replica);
  expect(events.filter(({ t }) => t === "skip").length).toBeGreaterThan(0);
  expect([...replica.items.keys()].sort()).toEqual(before);
});
