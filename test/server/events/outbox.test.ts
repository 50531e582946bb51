import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { makeId } from "#api/common.ts";
import type { EventType } from "#api/event-types.ts";
import { makeOutbox } from "#server/events/outbox.ts";
import { NO_COUNTS } from "#storage/records/syncs.ts";
import type { Store } from "#storage/records/store.ts";
import { makeTestClock, openTestStore } from "../../helpers.ts";

const clock = makeTestClock();
const emit = makeOutbox({ clock, randomBytes });
const connectionId = makeId("connection", randomBytes);
const serverId = makeId("server", randomBytes);
const ACTIVE = { type: "connection.active", data: { connectionId, serverId } } as const;

async function makeWorkspace(store: Store): Promise<string> {
  const workspaceId = makeId("workspace", randomBytes);
  await store.workspaces.insert({ workspaceId, name: "One", timeZone: "UTC", createdAt: clock.now() });
  return workspaceId;
}

async function addTarget(store: Store, workspaceId: string, types: EventType[], state: "active" | "paused" = "active") {
  const targetId = makeId("eventTarget", randomBytes);
  await store.in(workspaceId).eventTargets.create({
    targetId,
    url: "https://receiver.test/",
    types,
    state,
    pausedFor: state === "paused" ? "admin" : null,
    pausedAt: null,
    sealed: "",
    previousUntil: null,
    createdBy: null,
    createdAt: clock.now(),
    failingSince: null,
    dueAt: null,
  });
  return targetId;
}

describe("the outbox", () => {
  test("keeps an event for each target that wants it, in the transaction of the change", async ({ expect }) => {
    const { store } = await openTestStore();
    const [one, other] = [await makeWorkspace(store), await makeWorkspace(store)];
    const wanting = await addTarget(store, one, ["connection.active"]);
    const paused = await addTarget(store, one, ["connection.active"], "paused");
    const without = await addTarget(store, one, ["sync.failed"]);
    const stranger = await addTarget(store, other, ["connection.active"]);
    const rolledBack = store.transaction(async (tx) => {
      await emit(tx, one, ACTIVE);
      throw new Error("The change did not happen.");
    });
    await expect(rolledBack).rejects.toThrow("did not happen");
    await store.transaction((tx) => emit(tx, one, ACTIVE));
    const { eventDeliveries } = store.in(one);
    const [told] = await eventDeliveries.list(wanting, { limit: 10 });
    expect(told).toMatchObject({ state: "waiting", event: { type: "connection.active", data: ACTIVE.data } });
    expect((await eventDeliveries.list(paused, { limit: 10 })).map(({ eventId }) => eventId)).toEqual([told?.eventId]);
    expect(await eventDeliveries.list(without, { limit: 10 })).toEqual([]);
    expect(await store.in(other).eventDeliveries.list(stranger, { limit: 10 })).toEqual([]);
    // What is paused waits until somebody ends the pause.
    const claims = [await claim(store), await claim(store)];
    expect(claims.map((found) => found?.target.targetId)).toEqual([wanting, undefined]);
  });

  test("writes nothing where no one wants to know", async ({ expect }) => {
    const { store, database } = await openTestStore();
    const workspaceId = await makeWorkspace(store);
    await addTarget(store, workspaceId, ["sync.failed"]);
    await store.transaction((tx) => emit(tx, workspaceId, ACTIVE));
    expect(await database.read.selectFrom("events").selectAll().execute()).toEqual([]);
  });

  test("takes ids, counts and codes and nothing else", async ({ expect }) => {
    const { store } = await openTestStore();
    const workspaceId = await makeWorkspace(store);
    const targetId = await addTarget(store, workspaceId, ["sync.failed", "connection.active"]);
    const failed = {
      connectorId: makeId("connector", randomBytes),
      providerId: "filesystem",
      syncId: makeId("sync", randomBytes),
      mode: "full",
      trigger: "manual",
      counts: NO_COUNTS,
      startedAt: null,
      finishedAt: new Date(clock.now()).toISOString(),
      code: "Budget 2027.xlsx is encrypted",
    } as const;
    await store.transaction((tx) => emit(tx, workspaceId, { type: "sync.failed", data: failed }));
    const [told] = await store.in(workspaceId).eventDeliveries.list(targetId, { limit: 1 });
    expect(told?.event.data).toMatchObject({ code: "other" });
    const titled = { ...ACTIVE, data: { ...ACTIVE.data, title: "Budget 2027" } };
    await expect(store.transaction((tx) => emit(tx, workspaceId, titled))).rejects.toThrow("title");
  });
});

function claim(store: Store) {
  return store.eventQueue.claim({ owner: "test", now: clock.now(), leaseUntil: clock.now() + 1_000 });
}
