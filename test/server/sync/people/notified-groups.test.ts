import { describe, test } from "vitest";
import { BASE_URL, type ForgeContext, makeForge, openTo, person, WHOLE } from "./forge.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A forge whose plan is for the team, whose one user is a member here; and what it says, reading by reading. */
async function makeWorld() {
  const world = {
    team: ["1"],
    state: "active" as "active" | "suspended",
    readings: [] as string[],
    during: async (_mode: string): Promise<void> => undefined,
    beforeItems: async (): Promise<void> => undefined,
  };
  const told = ({ user, group }: ForgeContext) => ({
    t: "group" as const,
    group: group("team"),
    members: world.team.map(user),
  });
  const kb = await makeForge({
    [BASE_URL]: {
      async *items({ group }) {
        await world.beforeItems();
        yield openTo("plan", group("team"));
      },
      async *people(at, { mode }) {
        world.readings.push(mode);
        // What is read at the beginning is told later.
        const [before, state] = [told(at), world.state];
        await world.during(mode);
        if (mode !== "groups") yield person(at.user("1"), "ann@acme.test", state === "suspended" ? { state } : {});
        yield before;
        yield mode === "groups" ? { t: "end", listing: "partial" } : WHOLE;
      },
    },
  });
  const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  const connectorId = await kb.connect(kb.owner);
  const send = await kb.notifier(connectorId);
  world.readings.length = 0;
  return {
    kb,
    world,
    connectorId,
    send,
    team: { t: "groups", ids: ["team"] } as const,
    mayRead: async () => (await kb.readable(ann)).includes("plan"),
  };
}

describe("a notification of a group", () => {
  test("has it read within 10 seconds, and what is told meanwhile with it", async ({ expect }) => {
    const { kb, world, send, team, mayRead } = await makeWorld();
    expect(await mayRead()).toBe(true);
    world.team = [];
    for (let i = 0; i < 5; i++) expect(await send([team])).toBe(200);
    await kb.work();
    expect(world.readings).toEqual([]);
    await kb.pass(3 * SECOND_MS);
    expect([world.readings, await mayRead()]).toEqual([["groups"], false]);
  });

  test("changes nothing by its word: no one comes in or goes whom the source does not name", async ({ expect }) => {
    const { kb, world, send, mayRead } = await makeWorld();
    const forged = [{ t: "groups", ids: ["team"], members: [], removed: ["1"] }] as never;
    expect(await send(forged, "another-secret")).toBe(404);
    await kb.pass(3 * SECOND_MS);
    expect(world.readings).toEqual([]);
    await send(forged);
    await kb.pass(3 * SECOND_MS);
    expect([world.readings, await mayRead()]).toEqual([["groups"], true]);
    world.team = [];
    await send([{ t: "groups", ids: ["team"], members: ["1", "2"] } as never]);
    await kb.pass(3 * SECOND_MS);
    expect(await mayRead()).toBe(false);
    await send([{ t: "groups", ids: ["team"], members: ["1", "3"] } as never]);
    await kb.pass(3 * SECOND_MS);
    expect(await mayRead()).toBe(false);
  });

  test("is read while everything is being read, which does not bring back who has left since", async ({ expect }) => {
    const { kb, world, connectorId, send, team, mayRead } = await makeWorld();
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    let hasBegun: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (hasBegun = resolve));
    world.during = async (mode) => {
      if (mode === "groups") return;
      hasBegun();
      await gate;
    };
    await kb.as(kb.owner).post(`/api/connectors/${connectorId}/syncs`, { mode: "identities" });
    const everything = kb.work();
    await begun;
    world.team = [];
    kb.clock.advance(SECOND_MS);
    await send([team]);
    kb.clock.advance(3 * SECOND_MS);
    const some = kb.work();
    // It ends with the other one, and not before: only its reading is waited for.
    while (await mayRead()) await tick();
    expect(world.readings).toEqual(["changes", "groups"]);
    kb.clock.advance(SECOND_MS);
    letGo();
    await Promise.all([everything, some]);
    expect(await mayRead()).toBe(false);
    // Nor does the next reading: it is of now.
    world.during = async () => undefined;
    world.team = ["1"];
    await kb.pass(20 * MINUTE_MS);
    expect(await mayRead()).toBe(true);
  });

  test("is read though every worker has a long sync to do", async ({ expect }) => {
    const { kb, world, send, team, mayRead } = await makeWorld();
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    const begun: number[] = [];
    world.beforeItems = async () => {
      begun.push(kb.clock.now());
      await gate;
    };
    for (let i = 0; i < 6; i++) await kb.add(kb.owner);
    const long = kb.work();
    while (begun.length < 4) await tick();
    world.team = [];
    await send([team]);
    kb.clock.advance(3 * SECOND_MS);
    const some = kb.work();
    while (await mayRead()) await tick();
    expect(begun).toHaveLength(4);
    letGo();
    await Promise.all([long, some]);
  });

  test("of more groups than are worth naming has everything read once", async ({ expect }) => {
    const { kb, world, send } = await makeWorld();
    for (let i = 0; i < 8; i++) {
      await send([{ t: "groups", ids: Array.from({ length: 50 }, (_, at) => `g${i}-${at}`) }]);
    }
    await kb.pass(3 * SECOND_MS);
    expect(world.readings.toSorted()).toEqual(["changes", "groups"]);
  });
});

test("a notification that names no group has everyone read within 10 seconds", async ({ expect }) => {
  const { kb, world, send, mayRead } = await makeWorld();
  world.state = "suspended";
  await send([{ t: "people" }]);
  await kb.pass(3 * SECOND_MS);
  expect([world.readings, await mayRead()]).toEqual([["changes"], false]);
});

test("notifications, however many, cost a share of what the credential may send", async ({ expect }) => {
  const { kb, world, connectorId, send, team } = await makeWorld();
  const { identitySchedules } = kb.store.in(kb.owner.workspaceId);
  const now = kb.clock.now();
  await send([team]);
  await kb.pass(3 * SECOND_MS);
  const { paidUntil } = await identitySchedules.paceOf(connectorId);
  expect(paidUntil).toBeGreaterThan(now);
  // Those before took all that they may at once, and 20 seconds more.
  await identitySchedules.setPace(connectorId, { paidUntil: kb.clock.now() + 5 * MINUTE_MS + 20 * SECOND_MS });
  world.readings.length = 0;
  for (let second = 0; second < 19; second++) {
    await send([team, { t: "people" }]);
    await kb.pass(SECOND_MS);
  }
  expect(world.readings).toEqual([]);
  await kb.pass(2 * SECOND_MS);
  expect(world.readings.toSorted()).toEqual(["changes", "groups"]);
});
