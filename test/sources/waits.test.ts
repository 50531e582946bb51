import { expect, test } from "vitest";
import { makeWaits } from "#sources/waits.ts";
import { callsOf, type KitFixture } from "../kit/fixture.ts";
import { makeReplica, runInto } from "../kit/replica.ts";
import { openSite as openConfluence } from "./confluence/fixture.ts";
import { makeGithubFixture } from "./github/fixture.ts";
import { makeWorld as makeGithubWorld } from "./github/world.ts";
import { openSite as openJira } from "./jira/fixture.ts";

const MINUTE_MS = 60_000;

function open(now = 1_000_000) {
  const kept = new Map<string, unknown>();
  const clock = { now };
  const state = {
    get: async (key: string) => kept.get(key),
    put: (key: string, value: unknown) => void kept.set(key, value),
  };
  return { waits: makeWaits({ state, now: () => clock.now }), clock };
}

test("what failed three times waits, twice as long after each further failure, and three hours at most", async () => {
  const { waits, clock } = open();
  for (let at = 0; at < 2; at++) {
    await waits.failed("one");
    expect(await waits.isWaiting("one")).toBe(false);
  }
  for (const minutes of [30, 60, 120, 180, 180]) {
    await waits.failed("one");
    clock.now += minutes * MINUTE_MS - 1;
    expect(await waits.isWaiting("one")).toBe(true);
    expect(await waits.isWaiting("other")).toBe(false);
    clock.now += 1;
    expect(await waits.isWaiting("one")).toBe(false);
  }
  await waits.done("one");
  await waits.failed("one");
  expect(await waits.isWaiting("one")).toBe(false);
});

test("a clock that goes back makes nothing wait for longer than three hours", async () => {
  const { waits, clock } = open(1_000 * 24 * 60 * MINUTE_MS);
  for (let at = 0; at < 3; at++) await waits.failed("one");
  clock.now = 1_000_000;
  expect(await waits.isWaiting("one")).toBe(false);
});

/** Fixtures of sources whose increments read a container as a whole after it failed. */
const FIXTURES: Readonly<Record<string, () => Promise<KitFixture>>> = {
  jira: async () => (await openJira()).fixture,
  confluence: async () => (await openConfluence()).fixture,
  github: async () => makeGithubFixture(await makeGithubWorld()),
};

test.each(Object.entries(FIXTURES))(
  "%s: a container that fails in each run is asked for less and less, and read once it can be",
  { timeout: 60_000 },
  async (_name, make) => {
    const given = await make();
    let late = 0;
    const fixture = { ...given, context: { ...given.context, now: () => Date.now() + late } };
    const replica = makeReplica();
    const failing = await fixture.fail?.("two_containers");
    await runInto(fixture, replica);
    const calls: number[] = [];
    for (let at = 0; at < 6; at++) {
      const before = callsOf(fixture);
      const { events } = await runInto(fixture, replica, { mode: "incremental" });
      calls.push(callsOf(fixture) - before);
      expect(events.filter((event) => event.t === "skip" && event.reason === "failed")).not.toEqual([]);
    }
    expect(calls.at(-1)).toBeLessThan(calls[1] ?? 0);
    await failing?.heal();
    late = 4 * 60 * MINUTE_MS;
    await runInto(fixture, replica, { mode: "incremental" });
    expect((failing?.externalIds ?? []).filter((id) => !replica.named.has(id))).toEqual([]);
  },
);
