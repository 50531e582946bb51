import { describe, test } from "vitest";
import type { EventType } from "#api/event-types.ts";
import type { OutgoingEvent } from "#api/events.ts";
import { staleOf } from "#server/connectors/view.ts";
import { makeEventWatch } from "#server/events/watch.ts";
import { makeOutbox } from "#server/events/outbox.ts";
import { CONNECTOR, end, makeHarness, upsert, WORKSPACE } from "../sync/harness.ts";
import { EVENT_TYPES } from "#api/event-types.ts";
import { randomBytes } from "node:crypto";

const CANARY = "Quarterly numbers of Zebedee";

/** A workspace with a connector, whose target wants everything. */
async function makeWatched(script: Parameters<typeof makeHarness>[0]) {
  const clock = { now: () => 0 };
  const emit = makeOutbox({ clock, randomBytes });
  const harness = await makeHarness(script, { emit });
  clock.now = () => harness.clock.now;
  const { store } = harness;
  const watch = makeEventWatch({ store, clock, emit, staleOf });
  const { eventTargets, eventDeliveries, connectors } = store.in(WORKSPACE);
  const targetId = "whk_2222222222222222";
  await store.transaction((tx) => watch.begin(tx, WORKSPACE));
  await eventTargets.create({
    targetId,
    url: "https://hooks.test/",
    types: [...EVENT_TYPES] satisfies EventType[],
    state: "active",
    pausedFor: null,
    pausedAt: null,
    sealed: "",
    previousUntil: null,
    createdBy: null,
    createdAt: harness.clock.now,
    failingSince: null,
    dueAt: null,
  });
  return {
    ...harness,
    connectors,
    tick: async () => {
      harness.clock.now += 10_000;
      await watch.tick();
    },
    told: async () => (await eventDeliveries.list(targetId, { limit: 200 })).map(({ event }) => event).toReversed(),
    events: async () =>
      (await eventDeliveries.list(targetId, { limit: 200 })).map(({ event }) => event.type).toReversed(),
  };
}

const items = (count: number) =>
  Array.from({ length: count }, (_, at) => upsert(`${CANARY} ${at}.md`, `${CANARY} ${at}`));

describe("what systems are told", () => {
  test("how each run ended, with ids, counts and codes and no word of the source", async ({ expect }) => {
    let isBroken = false;
    const kb = await makeWatched(function* () {
      yield* items(3);
      if (isBroken) throw new Error(`${CANARY} can't be opened`);
      yield end();
    });
    await kb.sync("full");
    isBroken = true;
    await kb.sync("full");
    const told = await kb.told();
    expect(told.map(({ type }) => type)).toEqual(["sync.finished", "sync.failed"]);
    expect(told[0]?.data).toMatchObject({
      connectorId: CONNECTOR,
      mode: "full",
      state: "succeeded",
      counts: { upserted: 3 },
      code: null,
    });
    expect(told[1]?.data).toMatchObject({ code: "internal" });
    expect(JSON.stringify(told)).not.toContain("Zebedee");
  });

  test("once that a connector needs credentials, by whatever way it came to that, and again after it was well", async ({
    expect,
  }) => {
    const kb = await makeWatched(() => [end()]);
    await kb.connectors.update(CONNECTOR, { state: "needs_reauth", stateReason: CANARY });
    await kb.tick();
    await kb.tick();
    expect(await kb.events()).toEqual(["connector.needs_reauth"]);
    expect((await kb.told())[0]?.data).toEqual({
      connectorId: CONNECTOR,
      providerId: (await kb.connector()).providerId,
      code: "credentials_removed",
    });
    await kb.connectors.update(CONNECTOR, { state: "active", stateReason: null });
    await kb.tick();
    await kb.connectors.update(CONNECTOR, { state: "needs_reauth", refusedAt: kb.clock.now });
    await kb.tick();
    expect((await kb.told()).map(({ data }) => data["code"])).toEqual(["credentials_removed", "credentials_refused"]);
  });

  test("that permissions grew stale, by time alone", async ({ expect }) => {
    const kb = await makeWatched(() => [end()]);
    await kb.connectors.update(CONNECTOR, { aclCheckedAt: kb.clock.now });
    await kb.tick();
    expect(await kb.events()).toEqual([]);
    const checkedAt = kb.clock.now;
    kb.clock.now += 3 * 86_400_000;
    await kb.tick();
    await kb.tick();
    expect(await kb.events()).toEqual(["connector.acl_stale"]);
    expect((await kb.told())[0]?.data).toMatchObject({ code: "not_checked" });
    await kb.connectors.update(CONNECTOR, { aclCheckedAt: kb.clock.now });
    await kb.tick();
    await kb.connectors.update(CONNECTOR, { aclCheckedAt: checkedAt - 86_400_000 });
    await kb.tick();
    expect(await kb.events()).toEqual(["connector.acl_stale", "connector.acl_stale"]);
  });

  test("that removals wait for approval, how many, and of more that come", async ({ expect }) => {
    let count = 90;
    const kb = await makeWatched(function* () {
      yield* items(count);
      yield end();
    });
    await kb.sync("full");
    count = 50;
    await kb.sync("full");
    await kb.tick();
    await kb.tick();
    const told = (await kb.told()).filter(({ type }) => type === "removal.held");
    expect(told.map(({ data }) => data["held"])).toEqual([40]);
    expect(JSON.stringify(told)).not.toContain("Zebedee");
    kb.clock.now += 60_000;
    count = 10;
    await kb.sync("full");
    await kb.tick();
    const after = (await kb.told()).filter(({ type }) => type === "removal.held");
    expect(after.map(({ data }) => data["held"])).toEqual([40, 80]);
  });

  test("nothing of what was so before the first target", async ({ expect }) => {
    const emitted: OutgoingEvent[] = [];
    const { store, clock } = await makeHarness(() => [end()]);
    const watch = makeEventWatch({
      store,
      clock: { now: () => clock.now },
      emit: async (_tx, _workspaceId, event) => void emitted.push(event),
      staleOf,
    });
    await store.in(WORKSPACE).connectors.update(CONNECTOR, { state: "needs_reauth" });
    await store.transaction((tx) => watch.begin(tx, WORKSPACE));
    await watch.tick();
    expect(emitted).toEqual([]);
  });
});
