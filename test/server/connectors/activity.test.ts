import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { FOLDER, makeConnectorServer } from "./server.ts";

const MINUTE_MS = 60_000;
const ACCESS = { access: { visibility: "private" } };

async function makeFolder() {
  const kb = await makeConnectorServer();
  const owner = kb.as(kb.owner);
  const add = async (name: string) =>
    (await owner.post("/api/connectors", { ...FOLDER, ...ACCESS, name })).json.connector.id as string;
  const id = await add("Docs");
  const seenBy = async (client: typeof owner, connectorId = id) =>
    (await client.get(`/api/connectors/${connectorId}`)).json.connector;
  const activity = async (connectorId = id) => (await seenBy(owner, connectorId)).activity;
  const iso = (ms = 0) => new Date(kb.clock.now() + ms).toISOString();
  const work = () => kb.worker.runUntilIdle();
  const fail = (error: Error) => {
    kb.world.between = async () => {
      throw error;
    };
  };
  const sync = async () => {
    kb.clock.advance(1);
    await owner.post(`/api/connectors/${id}/syncs`, {});
    await work();
  };
  return { kb, owner, id, add, seenBy, activity, iso, work, fail, sync };
}

describe("what a connector does now", () => {
  test("is to wait for a worker, behind those that came before", async ({ expect }) => {
    const { kb, add, activity, iso } = await makeFolder();
    const since = iso();
    expect(await activity()).toEqual({ type: "queued", since, before: 0 });
    kb.clock.advance(5);
    const later = await add("Later");
    expect(await activity(later)).toEqual({ type: "queued", since: iso(), before: 1 });
    expect(await activity()).toEqual({ type: "queued", since, before: 0 });
  });

  test("is to sync, and then nothing until the schedule says so", async ({ expect }) => {
    const { kb, activity, iso, work } = await makeFolder();
    const during: unknown[] = [];
    kb.world.between = async () => void during.push(await activity());
    await work();
    expect(during[0]).toEqual({ type: "syncing", mode: "full", since: iso(), done: 0, total: null });
    expect(await activity()).toEqual({ type: "idle", nextRunAt: iso(30 * MINUTE_MS) });
  });

  test("is to wait out a limit of the source, which asks nothing of anyone", async ({ expect }) => {
    const { owner, id, activity, iso, work, fail, seenBy } = await makeFolder();
    fail(new ApiError("source_rate_limited", { message: "Slow down.", retryAfterMs: 10 * MINUTE_MS }));
    await work();
    const until = iso(10 * MINUTE_MS);
    expect(await activity()).toMatchObject({ type: "waiting", until, reason: { code: "rate_limited" } });
    expect(await seenBy(owner, id)).toMatchObject({ state: "active", stateReason: null });
  });

  test("is to fail, with the reason for its owner and the next try", async ({ expect }) => {
    const { kb, activity, seenBy, work, fail, sync } = await makeFolder();
    fail(new ApiError("source_unavailable", { message: "nas.test does not answer." }));
    await work();
    await sync();
    const told = await activity();
    expect(told).toMatchObject({
      type: "failing",
      failures: 2,
      reason: { code: "unreachable", message: "nas.test does not answer." },
    });
    // The second failure waits two minutes, spread by a quarter.
    const waitMs = Date.parse(told.nextTryAt) - kb.clock.now();
    expect(waitMs).toBeGreaterThanOrEqual(1.5 * MINUTE_MS);
    expect(waitMs).toBeLessThanOrEqual(2.5 * MINUTE_MS);
    const others = (await seenBy(kb.as(kb.admin))).activity;
    expect(others).toMatchObject({ type: "failing", reason: { code: "unreachable" } });
    expect(JSON.stringify(others)).not.toContain("nas.test");
    kb.world.between = async () => {};
    await sync();
    expect(await activity()).toMatchObject({ type: "idle" });
  });

  test("is to wait for a worker again where one died over it", async ({ expect }) => {
    const { kb, id, activity } = await makeFolder();
    const { store } = kb.deps;
    const [job] = await store.queue.claim({ owner: "dead", limit: 1, leaseMs: MINUTE_MS, now: kb.clock.now() });
    const [sync] = await store.in(kb.owner.workspaceId).syncs.listOpen([id]);
    await store
      .in(kb.owner.workspaceId)
      .syncs.update(sync?.syncId ?? "", { state: "running", startedAt: kb.clock.now() });
    expect([job?.payload["connectorId"], (await activity()).type]).toEqual([id, "syncing"]);
    kb.clock.advance(2 * MINUTE_MS);
    expect(await activity()).toMatchObject({ type: "queued", before: 0 });
  });

  test("is nothing where its state asks for someone", async ({ expect }) => {
    const { owner, id, activity, seenBy, work, fail, sync } = await makeFolder();
    await work();
    fail(new ApiError("source_unauthorized", { message: "401" }));
    await sync();
    expect(await seenBy(owner)).toMatchObject({ state: "needs_reauth", activity: { type: "stopped" } });
    const paused = await makeFolder();
    await paused.owner.post(`/api/connectors/${paused.id}/pause`, {});
    expect(await paused.activity()).toEqual({ type: "stopped" });
    expect([id, (await activity()).type]).toEqual([id, "stopped"]);
  });

  test("is nothing where items are pushed to it", async ({ expect }) => {
    const { kb, owner, seenBy } = await makeFolder();
    const body = { providerId: "push", name: "Tasks", ...ACCESS };
    const { json } = await kb.as(kb.owner).post("/api/connectors", body);
    expect(json.connector).toMatchObject({ isPushed: true, activity: { type: "idle", nextRunAt: null } });
    expect(await seenBy(owner)).toMatchObject({ isPushed: false });
  });
});
