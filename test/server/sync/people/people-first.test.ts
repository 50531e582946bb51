import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { TestUser } from "../../../helpers.ts";
import { askForIdentities } from "#server/sync/schedule/identity-requests.ts";
import { BASE_URL, makeForge, openTo, person, WHOLE, type ForgeContext, type ForgeWorld } from "./forge.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const ADDRESSES = ["ann@acme.test", "ben@acme.test"];

/** A forge whose plan is for the team, two members who are users of it, and an owner who reads nothing there. */
async function makeWorld() {
  const world = {
    team: ["0"],
    log: [] as string[],
    beforePeople: (): void | Promise<void> => undefined,
    items: ({ group }: ForgeContext): SyncEvent[] => [openTo("plan", group("team"))],
  };
  const forge: ForgeWorld = {
    *items(at) {
      world.log.push("items");
      yield* world.items(at);
    },
    async *people({ user, group }) {
      world.log.push("people");
      await world.beforePeople();
      for (const [id, address] of ADDRESSES.entries()) yield person(user(String(id)), address);
      yield { t: "group", group: group("team"), members: world.team.map(user) };
      yield { t: "checkpoint", cursor: 1 };
      yield WHOLE;
    },
  };
  const kb = await makeForge({ [BASE_URL]: forge });
  const members: TestUser[] = [];
  for (const address of ADDRESSES) {
    const member = await kb.addMember(kb.owner.workspaceId, "member", address);
    await kb.verify(member);
    members.push(member);
  }
  await kb.setDomains(["acme.test"]);
  await kb.register();
  const connectorId = await kb.connect(kb.owner);
  const path = `/api/connectors/${connectorId}/syncs`;
  world.log.length = 0;
  kb.clock.advance(SECOND_MS);
  const ask = async (body: object = {}) => (await kb.as(kb.owner).post(path, body)).json.sync;
  return {
    kb,
    world,
    connectorId,
    ask,
    show: async (id: string, as = kb.owner) => (await kb.as(as).get(`${path}/${id}`)).json.sync,
    readers: async () => {
      const found: string[] = [];
      for (const member of members) if ((await kb.readable(member)).includes("plan")) found.push(member.email);
      return found;
    },
  };
}

describe("a sync that someone asks for", () => {
  test("reads people and groups first: who lost the right finds nothing once it has ended, who gained it does", async ({
    expect,
  }) => {
    const { kb, world, connectorId, ask, show, readers } = await makeWorld();
    expect(await readers()).toEqual([ADDRESSES[0]]);
    world.team = ["1"];
    const sync = await ask();
    expect(sync).toMatchObject({ state: "queued", people: { state: "waiting", problem: null } });
    await kb.work();
    expect(world.log).toEqual(["people", "items"]);
    expect(await show(sync.id)).toMatchObject({ state: "succeeded", people: { state: "read", problem: null } });
    expect(await show(sync.people.syncId)).toMatchObject({ mode: "identities", trigger: "manual", people: null });
    const { syncs } = (await kb.as(kb.owner).get(`/api/connectors/${connectorId}/syncs?limit=2`)).json;
    expect(syncs.map(({ id }: { id: string }) => id)).toEqual([sync.id, sync.people.syncId]);
    expect(await readers()).toEqual([ADDRESSES[1]]);
  });

  test("is not stood for by a reading that began before it", async ({ expect }) => {
    const { kb, world, ask, show, readers } = await makeWorld();
    const readings = [
      // A scheduled one, which was told the team before somebody left it.
      async () => void (sync = await ask()),
      () => void (world.team = []),
    ];
    let sync = { id: "" };
    world.beforePeople = () => readings.shift()?.();
    await kb.pass(16 * MINUTE_MS);
    expect(world.log).toEqual(["people", "people", "items"]);
    expect(await show(sync.id)).toMatchObject({ state: "succeeded", people: { state: "read" } });
    expect(await readers()).toEqual([]);
  });

  test("syncs all the same where people can't be read, and says so: why, to its owner alone", async ({ expect }) => {
    const { kb, world, ask, show, readers } = await makeWorld();
    world.beforePeople = () => {
      throw new ApiError("source_forbidden", { message: "No word about members." });
    };
    world.items = ({ group }) => [openTo("plan", group("team")), openTo("news", group("team"))];
    world.team = [];
    const sync = await ask();
    await kb.work();
    expect(await show(sync.id)).toMatchObject({
      state: "succeeded",
      problem: null,
      counts: { upserted: 1, unchanged: 1 },
      people: { state: "failed", problem: { code: "forbidden", message: "No word about members." } },
    });
    // As old as before, and told to be.
    expect(await readers()).toEqual([ADDRESSES[0]]);
    const admin = await kb.addMember(kb.owner.workspaceId, "admin");
    const { people } = await show(sync.id, admin);
    expect(people).toMatchObject({ state: "failed", problem: { code: "forbidden" } });
    expect(JSON.stringify(people)).not.toContain("word about members");
  });

  test("does not wait for people while their source makes the reading wait", async ({ expect }) => {
    const { kb, world, ask, show, readers } = await makeWorld();
    world.beforePeople = () => {
      throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: 30 * MINUTE_MS });
    };
    const sync = await ask();
    await kb.work();
    expect(await show(sync.id)).toMatchObject({
      state: "succeeded",
      people: { state: "failed", problem: { code: "rate_limited" } },
    });
    // The reading goes on by itself.
    world.beforePeople = () => undefined;
    world.team = [];
    await kb.pass(31 * MINUTE_MS);
    expect(await show(sync.people.syncId)).toMatchObject({ state: "succeeded" });
    expect(await readers()).toEqual([]);
  });

  test("goes on without the reading that someone cancels", async ({ expect }) => {
    const { kb, world, connectorId, ask, show } = await makeWorld();
    const sync = await ask();
    await kb.as(kb.owner).post(`/api/connectors/${connectorId}/syncs/${sync.people.syncId}/cancel`);
    await kb.work();
    expect(world.log).toEqual(["items"]);
    expect(await show(sync.id)).toMatchObject({
      state: "succeeded",
      people: { state: "failed", problem: { message: expect.stringContaining("cancelled") } },
    });
  });

  test("tells that some groups could not be read", async ({ expect }) => {
    const kb = await makeForge({
      [BASE_URL]: {
        items: () => [],
        people: ({ group }) => [
          { t: "group", group: group("other"), members: [] },
          { t: "end", listing: "complete", notLookedAt: [group("team"), group("crew")] },
        ],
      },
    });
    const path = `/api/connectors/${await kb.connect(kb.owner)}/syncs`;
    const { sync } = (await kb.as(kb.owner).post(path, {})).json;
    await kb.work();
    expect((await kb.as(kb.owner).get(`${path}/${sync.id}`)).json.sync).toMatchObject({
      state: "succeeded",
      people: { state: "partial", problem: { message: expect.stringContaining("2 groups and users") } },
    });
  });
});

describe("people and groups are read at most once a minute for those who ask", () => {
  test("a second wish waits for the minute to end, and sees what was taken away meanwhile", async ({ expect }) => {
    const { kb, world, ask, show, readers } = await makeWorld();
    await ask();
    await kb.work();
    world.team = [];
    kb.clock.advance(10 * SECOND_MS);
    const second = await ask();
    const third = await ask();
    expect([third.id, third.people.syncId]).toEqual([second.id, second.people.syncId]);
    await kb.work();
    expect(await show(second.id)).toMatchObject({ state: "queued", people: { state: "waiting" } });
    await kb.pass(50 * SECOND_MS - 1);
    expect(world.log).toEqual(["people", "items"]);
    await kb.pass(1);
    expect(world.log).toEqual(["people", "items", "people", "items"]);
    expect(await show(second.id)).toMatchObject({ state: "succeeded", people: { state: "read" } });
    expect(await readers()).toEqual([]);
  });

  test("however often they ask", async ({ expect }) => {
    const { kb, world, ask } = await makeWorld();
    for (let i = 0; i < 18; i++) {
      await ask(i % 2 === 0 ? {} : { mode: "identities" });
      await kb.pass(10 * SECOND_MS);
    }
    expect(world.log.filter((each) => each === "people")).toHaveLength(3 + 1);
  });

  test("a clock that goes back holds no one up", async ({ expect }) => {
    const { kb, connectorId } = await makeWorld();
    const { workspaceId } = kb.owner;
    const connector = await kb.store.in(workspaceId).connectors.find(connectorId);
    if (!connector) throw new Error("The connector is gone.");
    const askAt = (now: number) =>
      kb.store.transaction((tx) => askForIdentities(tx, workspaceId, connector, { now, randomBytes }));
    kb.clock.advance(5 * MINUTE_MS);
    await askAt(kb.clock.now());
    await kb.work();
    expect((await askAt(kb.clock.now() - 5 * MINUTE_MS)).resumeAt).toBeNull();
  });
});

describe("mode identities", () => {
  test("reads people and groups alone", async ({ expect }) => {
    const { kb, world, ask, show, readers, connectorId } = await makeWorld();
    world.team = ["1"];
    const sync = await ask({ mode: "identities" });
    expect(sync).toMatchObject({ mode: "identities", trigger: "manual", people: null });
    await kb.work();
    expect(world.log).toEqual(["people"]);
    expect(await show(sync.id)).toMatchObject({ state: "succeeded" });
    expect(await readers()).toEqual([ADDRESSES[1]]);
    const { connector } = (await kb.as(kb.owner).get(`/api/connectors/${connectorId}`)).json;
    expect(connector.freshness.oldestGroupAt).toBe(new Date(kb.clock.now()).toISOString());
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=connector.sync_requested")).json;
    expect(entries[0].details).toMatchObject({ mode: "identities", syncId: sync.id });
  });

  test("takes no items, and is refused to who doesn't manage the connector", async ({ expect }) => {
    const { kb, connectorId } = await makeWorld();
    const path = `/api/connectors/${connectorId}/syncs`;
    const withItems = await kb.as(kb.owner).post(path, { mode: "identities", items: ["plan"] });
    expect([withItems.status, withItems.json.errors[0].path]).toEqual([400, "items"]);
    const member = await kb.addMember(kb.owner.workspaceId);
    expect((await kb.as(member).post(path, { mode: "identities" })).status).toBe(404);
  });
});
