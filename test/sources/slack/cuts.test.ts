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

test("a channel that could not be read is read whole by the next run, not its last days alone", async () => {
  const world = await makeWorld();
  const fixture = await makeSlackFixture(world);
  const replica = makeReplica();
  /** Days ago from which on each page was asked for. */
  const from: number[] = [];
  const run = async (isBroken: boolean) => {
    from.length = 0;
    world.front.instead = ({ name, values }, response) => {
      if (name !== "conversations.history" || values.get("channel") !== world.channels.engineering) return false;
      from.push(Math.round((Date.now() / 1_000 - Number(values.get("oldest"))) / 86_400));
      if (isBroken) response.writeHead(500).end();
      return isBroken;
    };
    return runInto(fixture, replica, { mode: "incremental" });
  };
  await run(false);
  const [whole] = from;
  expect(whole).toBeGreaterThan(300);
  await run(false);
  expect(new Set(from)).toEqual(new Set([7]));
  const { events } = await run(true);
  expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: world.channels.engineering }));
  await run(false);
  expect(new Set(from)).toEqual(new Set([whole]));
});
