import { describe, test } from "vitest";
import { makeServer } from "../../../helpers.ts";

const UNKNOWN_GROUP = "grp_2222222222222222";

async function makeTeam() {
  const kb = await makeServer();
  const owner = await kb.addOwner();
  const bo = await kb.addMember(owner.workspaceId);
  return { kb, owner, bo, me: kb.as(owner), access: kb.store.in(owner.workspaceId).access };
}

describe("groups", () => {
  test("nest, and a member's principals follow at once", async ({ expect }) => {
    const { me, bo, access } = await makeTeam();
    const ops = (await me.post("/api/groups", { name: "Ops", memberIds: [bo.userId] })).json.group;
    const all = (await me.post("/api/groups", { name: "All", groupIds: [ops.id] })).json.group;
    expect(all).toMatchObject({ name: "All", memberIds: [], groupIds: [ops.id] });
    expect(new Set(await access.expand([`user:${bo.userId}`]))).toEqual(
      new Set([`user:${bo.userId}`, `group:${ops.id}`, `group:${all.id}`]),
    );
    const epoch = await access.epoch();
    const changed = await me.patch(`/api/groups/${ops.id}`, { memberIds: [], name: "Operations" });
    expect(changed.json.group).toMatchObject({ name: "Operations", memberIds: [] });
    expect(await access.epoch()).toBeGreaterThan(epoch);
    expect(await access.expand([`user:${bo.userId}`])).toEqual([`user:${bo.userId}`]);
  });

  test("never contain themselves, directly or around", async ({ expect }) => {
    const { me } = await makeTeam();
    const a = (await me.post("/api/groups", { name: "A" })).json.group;
    const b = (await me.post("/api/groups", { name: "B", groupIds: [a.id] })).json.group;
    const c = (await me.post("/api/groups", { name: "C", groupIds: [b.id] })).json.group;
    for (const groupIds of [[a.id], [b.id], [c.id]]) {
      expect(await me.patch(`/api/groups/${a.id}`, { groupIds })).toMatchObject({
        status: 422,
        json: { code: "group_cycle", field: "groupIds" },
      });
    }
    expect((await me.get(`/api/groups/${a.id}`)).json.group.groupIds).toEqual([]);
  });

  test("take members and groups of their own workspace only", async ({ expect }) => {
    const { kb, me } = await makeTeam();
    const stranger = await kb.addOwner("Other");
    const foreign = (await kb.as(stranger).post("/api/groups", { name: "Theirs" })).json.group;
    expect(await me.post("/api/groups", { name: "X", memberIds: [stranger.userId] })).toMatchObject({
      status: 422,
      json: { code: "unknown_member" },
    });
    expect(await me.post("/api/groups", { name: "X", groupIds: [foreign.id] })).toMatchObject({
      status: 422,
      json: { code: "unknown_group" },
    });
    expect((await me.get("/api/groups")).json.groups).toEqual([]);
    for (const id of [foreign.id, UNKNOWN_GROUP, "nonsense"]) {
      expect((await me.get(`/api/groups/${id}`)).status).toBe(404);
      expect((await me.patch(`/api/groups/${id}`, { name: "Y" })).status).toBe(404);
      expect((await me.delete(`/api/groups/${id}`)).status).toBe(404);
    }
  });

  test("when deleted open nothing more, wherever they stood", async ({ expect }) => {
    const { me, bo, access } = await makeTeam();
    const ops = (await me.post("/api/groups", { name: "Ops", memberIds: [bo.userId] })).json.group;
    const all = (await me.post("/api/groups", { name: "All", groupIds: [ops.id] })).json.group;
    expect((await me.delete(`/api/groups/${ops.id}`)).status).toBe(204);
    expect((await me.get(`/api/groups/${all.id}`)).json.group.groupIds).toEqual([]);
    expect(await access.expand([`user:${bo.userId}`])).toEqual([`user:${bo.userId}`]);
  });

  test("are listed page by page and changed by admins only", async ({ expect }) => {
    const { kb, me, bo } = await makeTeam();
    for (const name of ["A", "B", "C"]) {
      await me.post("/api/groups", { name });
      kb.clock.advance(1);
    }
    const first = (await kb.as(bo).get("/api/groups?limit=2")).json;
    const rest = (await kb.as(bo).get(`/api/groups?limit=2&cursor=${first.nextCursor}`)).json;
    expect([...first.groups, ...rest.groups].map((group: { name: string }) => group.name)).toEqual(["A", "B", "C"]);
    expect(rest.nextCursor).toBeNull();
    expect((await kb.as(bo).post("/api/groups", { name: "D" })).status).toBe(403);
  });

  test.for([
    ["no name", {}, "name"],
    ["a wrong type", { name: "A", memberIds: "all" }, "memberIds"],
    ["an impossible id", { name: "A", memberIds: ["bo"] }, "memberIds.0"],
    ["an unknown key", { name: "A", members: [] }, "members"],
  ] as const)("refuse %s", async ([, body, field], { expect }) => {
    const { me } = await makeTeam();
    expect(await me.post("/api/groups", body)).toMatchObject({ status: 400, json: { field } });
  });
});

test("the audit says of a change what changed, and of the owner only where they did", async ({ expect }) => {
  const { kb, owner, me } = await makeTeam();
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const { id } = (await me.post("/api/groups", { name: "Ops" })).json.group;
  const changed = async (body: object) => {
    expect((await me.patch(`/api/groups/${id}`, body)).status).toBe(200);
    const { entries } = (await me.get("/api/audit?action=group.changed")).json;
    return entries[0].details;
  };
  expect(await changed({ name: "Operations" })).toMatchObject({ isRenamed: true });
  expect(await changed({ name: "Ops" })).not.toHaveProperty("owner");
  const handed = await changed({ ownerId: admin.userId });
  expect(handed).toMatchObject({ owner: { from: owner.userId, to: admin.userId } });
  expect(handed).not.toHaveProperty("isRenamed");
});
