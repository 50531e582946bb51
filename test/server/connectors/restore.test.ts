import { describe, test } from "vitest";
import { HOUR_MS, makeMirror, OPEN } from "../sync/mirror.ts";
import { upsert } from "../sync/harness.ts";
import { FOLDER, makeConnectorServer, pushed } from "./server.ts";
import { makePushServer } from "./push-harness.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";

/** A folder of an admin, from which `a.md` was removed though it is there; the owner of the workspace reads nothing in it. */
async function makeRemoved() {
  const kb = await makeConnectorServer();
  const { admin, worker, world } = kb;
  const body = { ...FOLDER, access: { visibility: "members", memberIds: [kb.member.userId] } };
  const made = await kb.as(admin).post("/api/connectors", body);
  const id: string = made.json.connector.id;
  await worker.runUntilIdle();
  const all = world.items;
  const sync = async (body: Record<string, unknown> = { mode: "full" }) => {
    kb.clock.advance(1_000);
    await kb.as(admin).post(`/api/connectors/${id}/syncs`, body);
    await worker.runUntilIdle();
  };
  world.items = all.slice(1);
  await sync();
  world.items = all;
  const rows = await kb.database.read.selectFrom("items").select(["kbId", "externalId"]).execute();
  const kbId = rows.find(({ externalId }) => externalId === "a.md")?.kbId ?? "";
  const found = async (user: typeof kb.owner, words = "alpha") => {
    const { results } = (await kb.as(user).get(`/api/connectors/search?query=${words}`)).json;
    return results.map((hit: { kbId: string }) => hit.kbId);
  };
  const restore = (user: typeof kb.owner, fileId = kbId) =>
    kb.as(user).post(`/api/connectors/files/${fileId}/restore`, {});
  const removed = async (user: typeof kb.owner) =>
    (await kb.as(user).get(`/api/connectors/${id}/removed`)).json.removed;
  return { kb, id, kbId, sync, found, restore, removed, worker, world };
}

describe("an item that was removed", () => {
  test("is listed for who manages its connector, without its name", async ({ expect }) => {
    const { kb, id, kbId, removed } = await makeRemoved();
    const listed = [{ kbId, removedAt: expect.any(String) }];
    expect([await removed(kb.admin), await removed(kb.owner)]).toEqual([listed, listed]);
    for (const user of [kb.member, kb.stranger]) {
      expect((await kb.as(user).get(`/api/connectors/${id}/removed`)).status).toBe(404);
    }
  });

  test("is restored by them alone, is no one's until its source was asked, and then has its readers again", async ({
    expect,
  }) => {
    const { kb, kbId, found, restore, removed, worker } = await makeRemoved();
    for (const user of [kb.member, kb.stranger]) expect((await restore(user)).status).toBe(404);
    expect((await restore(kb.admin, "kbi_2222222222222222")).status).toBe(404);
    const { status, json } = await restore(kb.owner);
    expect([status, json.sync.mode]).toEqual([202, "items"]);
    const state = await kb.database.read.selectFrom("items").selectAll().where("kbId", "=", kbId).executeTakeFirst();
    expect(state).toMatchObject({ removedAt: null, aclId: 0, ownAclId: 0, indexState: "unsearchable" });
    for (const user of [kb.admin, kb.member, kb.owner]) expect(await found(user)).toEqual([]);
    expect((await restore(kb.admin)).status).toBe(404);
    await worker.runUntilIdle();
    expect(await found(kb.member)).toEqual([kbId]);
    expect([await found(kb.owner), await found(kb.stranger), await removed(kb.admin)]).toEqual([[], [], []]);
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=connector.item_restored")).json;
    expect(entries).toMatchObject([{ actorUserId: kb.owner.userId, details: { kbId } }]);
  });

  test("of a paused connector is read when that goes on, and of one that is deleted stays gone", async ({ expect }) => {
    const { kb, id, kbId, found, restore, worker } = await makeRemoved();
    await kb.as(kb.admin).post(`/api/connectors/${id}/pause`, {});
    expect((await restore(kb.admin)).json).toMatchObject({ kbId, sync: null });
    await worker.runUntilIdle();
    expect(await found(kb.member)).toEqual([]);
    await kb.as(kb.admin).post(`/api/connectors/${id}/resume`, {});
    for (let minute = 0; minute < 5; minute++) {
      kb.clock.advance(60_000);
      await worker.runUntilIdle();
    }
    expect(await found(kb.member)).toEqual([kbId]);
    const other = await makeRemoved();
    await other.kb.as(other.kb.admin).delete(`/api/connectors/${other.id}`);
    expect((await other.restore(other.kb.admin)).status).toBe(409);
  });

  test("can't be restored after 7 days", async ({ expect }) => {
    const { kb, restore, removed } = await makeRemoved();
    const removedAt = kb.clock.now() - 7 * 24 * HOUR_MS;
    await kb.database.write.updateTable("items").set({ removedAt }).where("removedAt", "is not", null).execute();
    expect([(await restore(kb.admin)).status, await removed(kb.admin)]).toEqual([404, []]);
  });

  test("that is restored while a run goes on is what its source says in the end", async ({ expect }) => {
    const { kb, kbId, found, restore, sync, worker, world } = await makeRemoved();
    let isFirst = true;
    world.between = async () => {
      if (!isFirst) return;
      isFirst = false;
      await restore(kb.admin);
    };
    await sync();
    await worker.runUntilIdle();
    expect(await found(kb.member)).toEqual([kbId]);
  });

  test("that was pushed waits for its next push", async ({ expect }) => {
    const kb = await makePushServer();
    await kb.push([pushed("board")]);
    const [{ kbId }] = (await kb.as(kb.owner).get("/api/connectors/all-files")).json.files;
    await kb.push([{ t: "delete", externalId: "board" }]);
    const { status, json } = await kb.as(kb.owner).post(`/api/connectors/files/${kbId}/restore`, {});
    expect([status, json.sync, await kb.readableBy(kb.owner)]).toEqual([202, null, []]);
    expect(await kb.results([pushed("board")])).toEqual(["upserted"]);
    expect(await kb.readableBy(kb.owner)).toEqual(["board"]);
  });
});

/** A mirror whose item `a` was removed and is restored; then the source says of it what `again` says. */
async function makeRestored(again: (id: string) => SyncEvent[]) {
  const END: SyncEvent = { t: "end", listing: "complete", permissions: "current" };
  const open = (id: string) => upsert(id, `text of ${id}`, { access: OPEN });
  const kb = await makeMirror(() => [open("a"), open("b"), END]);
  await kb.work();
  kb.world.script = () => [open("b"), END];
  await kb.sync();
  const before = await kb.readable();
  const { read } = kb.kb.database;
  const [row] = await read.selectFrom("items").select("kbId").where("removedAt", "is not", null).execute();
  kb.world.script = (run) => [
    ...(run.externalIds ?? []).flatMap(again),
    { t: "end", listing: "partial", permissions: "not_checked" },
  ];
  await kb.kb.as(kb.owner).post(`/api/connectors/files/${row?.kbId}/restore`, {});
  const meanwhile = await kb.readable();
  await kb.work();
  return { seen: [before, meanwhile, await kb.readable()], mode: kb.world.runs.at(-1), kb };
}

describe("of what is mirrored, a restored item", () => {
  test("has the readers that its source says now, and no one's before", async ({ expect }) => {
    const { seen, mode } = await makeRestored((id) => [upsert(id, `text of ${id}`, { access: OPEN })]);
    expect([seen, mode]).toEqual([[["b"], ["b"], ["a", "b"]], "items"]);
    const narrowed = await makeRestored((id) => [
      upsert(id, `text of ${id}`, { access: { known: true, all: [["user:usr_2222222222222222"]] } }),
    ]);
    expect(narrowed.seen).toEqual([["b"], ["b"], ["b"]]);
  });

  test("goes again when its source has it no more", async ({ expect }) => {
    const { seen, kb } = await makeRestored((externalId) => [{ t: "delete", externalId }]);
    expect(seen).toEqual([["b"], ["b"], ["b"]]);
    const { removed } = (await kb.kb.as(kb.owner).get(`/api/connectors/${kb.connectorId}/removed`)).json;
    expect(removed).toHaveLength(1);
  });
});
