import { describe, expect, test } from "vitest";
import { makeServer } from "../../../helpers.ts";

/** A group of each kind, and everybody who might want to change it. `head` is a plain member who owns it. */
async function makeGroups() {
  const kb = await makeServer();
  const owner = await kb.addOwner();
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const head = await kb.addMember(owner.workspaceId, "admin");
  const member = await kb.addMember(owner.workspaceId, "member");
  const other = await kb.addMember(owner.workspaceId, "member");
  const people = { owner, admin, head, member };
  const make = async (isClosed: boolean) =>
    (await kb.as(head).post("/api/groups", { name: "HR", isClosed, memberIds: [head.userId] })).json.group.id as string;
  return { kb, people, other, make };
}

type Person = "owner" | "admin" | "head" | "member";

const ACTS = ["rename", "add other", "add self", "close", "hand on", "delete"] as const;

describe("who may change a group", () => {
  test.each([
    ["open", "owner", "200 200 403 403 403 204"],
    ["open", "admin", "200 200 403 403 403 204"],
    ["open", "head", "200 200 200 200 200 204"],
    ["open", "member", "403 403 403 403 403 403"],
    ["closed", "owner", "403 403 403 403 403 403"],
    ["closed", "admin", "403 403 403 403 403 403"],
    ["closed", "head", "200 200 200 200 200 204"],
    ["closed", "member", "403 403 403 403 403 403"],
    ["closed, its owner left", "owner", "403 403 403 200 200 403"],
    ["closed, its owner left", "admin", "403 403 403 403 403 403"],
  ] as const)("%s, %s: %s", async (kind, who, wanted) => {
    const { kb, people, other, make } = await makeGroups();
    const me = people[who];
    const statuses: number[] = [];
    for (const act of ACTS) {
      const id = await make(kind !== "open");
      // Owning a group takes no role.
      await kb.as(people.owner).patch(`/api/workspace/members/${people.head.userId}`, { role: "member" });
      if (kind.endsWith("left")) await kb.database.write.updateTable("groups").set({ ownerUserId: null }).execute();
      const patch = (body: object) => kb.as(me).patch(`/api/groups/${id}`, body);
      const { userId: headId } = people.head;
      const answer = {
        rename: () => patch({ name: "Staff" }),
        "add other": () => patch({ memberIds: [headId, other.userId] }),
        "add self": () => patch({ memberIds: [headId, me.userId] }),
        close: () => patch({ isClosed: true }),
        "hand on": () => patch({ ownerId: other.userId }),
        delete: () => kb.as(me).delete(`/api/groups/${id}`),
      }[act];
      statuses.push((await answer()).status);
      await kb.as(people.owner).patch(`/api/workspace/members/${headId}`, { role: "admin" });
    }
    expect(statuses.join(" ")).toBe(wanted);
  });

  test("an admin gets into someone else's group by no way round", async () => {
    const { kb, people, make } = await makeGroups();
    const { admin } = people;
    const group = await make(false);
    const mine = (await kb.as(admin).post("/api/groups", { name: "Mine" })).json.group.id;
    const filled = (await kb.as(admin).post("/api/groups", { name: "Full", memberIds: [admin.userId] })).json.group.id;
    const patch = (id: string, body: object) => kb.as(admin).patch(`/api/groups/${id}`, body);
    expect((await patch(group, { groupIds: [filled] })).status).toBe(403);
    // Empty it may go in; then nobody fills it with themselves.
    expect((await patch(group, { groupIds: [mine] })).status).toBe(200);
    expect((await patch(mine, { memberIds: [admin.userId] })).status).toBe(403);
    const { access } = kb.store.in(admin.workspaceId);
    expect(await access.expand([`user:${admin.userId}`])).not.toContain(`group:${group}`);
  });

  test("an admin gets into a closed group by no group in it: it holds closed ones of its owner only", async () => {
    const { kb, people, make } = await makeGroups();
    const { admin, head } = people;
    const closed = await make(true);
    const [inner, open] = [await make(true), await make(false)];
    const theirs = (await kb.as(admin).post("/api/groups", { name: "Theirs", isClosed: true })).json.group.id;
    const patch = (id: string, body: object) => kb.as(head).patch(`/api/groups/${id}`, body);
    for (const id of [open, theirs]) {
      expect(await patch(closed, { groupIds: [id] })).toMatchObject({ status: 403, json: { code: "group_closed" } });
      const body = { name: "New", isClosed: true, groupIds: [id] };
      expect((await kb.as(head).post("/api/groups", body)).status).toBe(403);
    }
    expect((await patch(closed, { groupIds: [inner] })).status).toBe(200);
    // What is in it stays as it was when it went in.
    expect((await patch(inner, { isClosed: false })).status).toBe(403);
    expect((await patch(inner, { ownerId: admin.userId })).status).toBe(403);
    expect((await patch(closed, { ownerId: admin.userId })).status).toBe(403);
    expect((await patch(inner, { groupIds: [open] })).status).toBe(403);
    expect((await patch(inner, { name: "Inner" })).status).toBe(200);
    // An open group that holds an open one is closed once that is.
    const outer = (await kb.as(head).post("/api/groups", { name: "Outer", groupIds: [open] })).json.group.id;
    expect((await patch(outer, { isClosed: true })).status).toBe(403);
    expect((await patch(open, { isClosed: true })).status).toBe(200);
    expect((await patch(outer, { isClosed: true })).status).toBe(200);
    // Taken out it is free again.
    expect((await patch(closed, { groupIds: [] })).status).toBe(200);
    expect((await patch(inner, { isClosed: false })).status).toBe(200);
  });

  test("closed groups in each other get a new owner together, when theirs left", async () => {
    const { kb, people, other, make } = await makeGroups();
    const [outer, inner, deepest, apart] = [await make(true), await make(true), await make(true), await make(true)];
    await kb.as(people.head).patch(`/api/groups/${inner}`, { groupIds: [deepest] });
    await kb.as(people.head).patch(`/api/groups/${outer}`, { groupIds: [inner] });
    await kb.as(people.owner).delete(`/api/workspace/members/${people.head.userId}`);
    const named = await kb.as(people.owner).patch(`/api/groups/${inner}`, { ownerId: other.userId });
    expect(named.status).toBe(200);
    const { groups } = (await kb.as(people.owner).get("/api/groups")).json;
    const ownerOf = (id: string) => groups.find((group: { id: string }) => group.id === id).ownerId;
    expect([outer, inner, deepest, apart].map(ownerOf)).toEqual([other.userId, other.userId, other.userId, null]);
    const { entries } = (await kb.as(people.owner).get("/api/audit?action=group.changed")).json;
    expect(
      entries
        .slice(0, 3)
        .map((entry: { targetId: string }) => entry.targetId)
        .sort(),
    ).toEqual([outer, inner, deepest].sort());
  });

  test("whom an admin puts into an open group, an account they invited too, its owner is shown", async () => {
    const { kb, people, make } = await makeGroups();
    const id = await make(false);
    const second = await kb.addMember(people.owner.workspaceId, "member");
    const memberIds = [people.head.userId, second.userId];
    expect((await kb.as(people.admin).patch(`/api/groups/${id}`, { memberIds })).status).toBe(200);
    expect((await kb.as(people.head).get(`/api/groups/${id}`)).json.group.openedByOthers).toMatchObject([
      { by: { id: people.admin.userId }, added: { named: [{ id: second.userId }] } },
    ]);
    await kb.as(people.head).patch(`/api/groups/${id}`, { isClosed: true });
    expect((await kb.as(people.admin).patch(`/api/groups/${id}`, { memberIds: [] })).status).toBe(403);
  });

  test("each change of who is in it is in the audit with who came in and went out", async () => {
    const { kb, people, other, make } = await makeGroups();
    const id = await make(false);
    await kb.as(people.admin).patch(`/api/groups/${id}`, { memberIds: [other.userId] });
    const { entries } = (await kb.as(people.owner).get("/api/audit?action=group.changed")).json;
    expect(entries).toMatchObject([
      {
        actorUserId: people.admin.userId,
        targetId: id,
        details: {
          isWidened: true,
          before: { members: 1 },
          after: { members: 1 },
          added: { count: 1, ids: [other.userId] },
          removed: { count: 1, ids: [people.head.userId] },
        },
      },
    ]);
  });

  test("a token without kb:admin changes groups of its own person only", async () => {
    const { kb, people, make } = await makeGroups();
    const id = await make(false);
    const token = async (who: Person) => kb.withToken(await kb.token(people[who], ["kb:api"]));
    expect((await (await token("admin")).patch(`/api/groups/${id}`, { name: "X" })).status).toBe(403);
    expect((await (await token("head")).patch(`/api/groups/${id}`, { name: "X" })).status).toBe(200);
  });
});
