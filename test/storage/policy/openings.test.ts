import { describe, test } from "vitest";
import { makePushServer } from "../../server/connectors/push-harness.ts";
import { pushed } from "../../server/connectors/server.ts";

/** A push connector that its owner opened to a group of an admin's, with one item for its owner alone. */
async function makeBoard() {
  const kb = await makePushServer();
  const team = (await kb.as(kb.admin).post("/api/groups", { name: "Team" })).json.group.id as string;
  const path = `/api/connectors/${kb.id}`;
  await kb.as(kb.owner).patch(path, { access: { visibility: "members", groupIds: [team] } });
  await kb.push([pushed("board", { access: { known: true, all: [[`user:${kb.owner.userId}`]] } })]);
  const shownTo = async (user: typeof kb.owner) => (await kb.as(user).get(path)).json.connector;
  return { ...kb, team, path, shownTo };
}

describe("what others opened of a connector", () => {
  test("is shown to its owner: who, when, what, and to whom; own changes are not", async ({ expect }) => {
    const kb = await makeBoard();
    expect((await kb.shownTo(kb.owner)).openedByOthers).toEqual([]);
    await kb.as(kb.admin).patch(`/api/groups/${kb.team}`, { memberIds: [kb.member.userId] });
    kb.clock.advance(1_000);
    const open = { known: true, all: [[`user:${kb.owner.userId}`, `user:${kb.admin.userId}`]] };
    await kb.push([{ t: "acl", externalId: "board", access: open }]);
    kb.clock.advance(1_000);
    await kb.push([{ t: "member", group: `group:${kb.id}:hr`, member: `user:${kb.member.userId}` }]);
    expect((await kb.shownTo(kb.owner)).openedByOthers).toMatchObject([
      { action: "connector.people_pushed", by: null, added: { named: [{ id: kb.member.userId }], others: 0 } },
      {
        action: "connector.access_pushed",
        by: null,
        items: 1,
        times: 1,
        before: { named: [{ id: kb.owner.userId }] },
        added: { named: [{ id: kb.admin.userId, name: expect.any(String) }], others: 0 },
      },
      {
        action: "group.changed",
        by: { id: kb.admin.userId, name: expect.any(String) },
        target: { id: kb.team, name: "Team" },
        added: { named: [{ id: kb.member.userId }], others: 0 },
      },
    ]);
  });

  test("names each kind of act once a day, with how often; narrowing is no opening", async ({ expect }) => {
    const kb = await makeBoard();
    const acl = (...list: string[]) =>
      kb.push([{ t: "acl", externalId: "board", access: { known: true, all: [list] } }]);
    for (let i = 0; i < 3; i++) {
      await acl("workspace");
      await acl(`user:${kb.owner.userId}`);
    }
    expect((await kb.shownTo(kb.owner)).openedByOthers).toMatchObject([{ times: 3 }]);
    kb.clock.advance(86_400_000);
    await acl("workspace");
    expect((await kb.shownTo(kb.owner)).openedByOthers).toMatchObject([{ times: 1 }, { times: 3 }]);
    kb.clock.advance(91 * 86_400_000);
    const again = await kb.signIn(kb.owner);
    expect((await kb.shownTo(again)).openedByOthers).toEqual([]);
  });

  test("is at most 20 acts, the newest", async ({ expect }) => {
    const kb = await makeBoard();
    const target = { type: "connector", id: kb.id };
    for (let n = 0; n < 24; n++) {
      kb.clock.advance(1_000);
      const act = { action: "connector.people_pushed", target, details: { isWidened: true, keyId: `key ${n}` } };
      await kb.store.transaction((tx) => kb.deps.audit.recordSystem(tx, kb.owner.workspaceId, act));
    }
    const { openedByOthers } = await kb.shownTo(kb.owner);
    expect(openedByOthers).toHaveLength(20);
    expect(openedByOthers[0].at > openedByOthers[19].at).toBe(true);
  });

  test("is for no one else, and in no list", async ({ expect }) => {
    const kb = await makeBoard();
    await kb.as(kb.admin).patch(`/api/groups/${kb.team}`, { memberIds: [kb.member.userId] });
    const other = await kb.addMember(kb.owner.workspaceId, "owner");
    for (const user of [kb.admin, other]) expect(await kb.shownTo(user)).not.toHaveProperty("openedByOthers");
    const stranger = await kb.addOwner();
    expect((await kb.as(stranger).get(kb.path)).status).toBe(404);
    const [listed] = (await kb.as(kb.owner).get("/api/connectors")).json.connectors;
    expect(listed).not.toHaveProperty("openedByOthers");
  });
});

describe("what others opened by a group", () => {
  test("is shown to its owner, what went into groups in it too", async ({ expect }) => {
    const kb = await makeBoard();
    const all = (await kb.as(kb.owner).post("/api/groups", { name: "All", groupIds: [kb.team] })).json.group.id;
    await kb.as(kb.admin).patch(`/api/groups/${kb.team}`, { memberIds: [kb.member.userId] });
    await kb.as(kb.admin).patch(`/api/groups/${all}`, { memberIds: [kb.member.userId] });
    const shownTo = async (user: typeof kb.owner) => (await kb.as(user).get(`/api/groups/${all}`)).json.group;
    expect((await shownTo(kb.owner)).openedByOthers).toMatchObject([
      { target: { name: "All" }, by: { id: kb.admin.userId } },
      { target: { name: "Team" }, by: { id: kb.admin.userId } },
    ]);
    expect(await shownTo(kb.admin)).not.toHaveProperty("openedByOthers");
    expect((await kb.as(kb.owner).get("/api/groups")).json.groups[1]).not.toHaveProperty("openedByOthers");
  });

  test("says nothing of another workspace, not even where an act there names the same group", async ({ expect }) => {
    const kb = await makeBoard();
    const stranger = await kb.addOwner();
    const act = { action: "group.changed", target: { type: "group", id: kb.team }, details: { isWidened: true } };
    await kb.store.transaction((tx) => kb.deps.audit.recordSystem(tx, stranger.workspaceId, act));
    expect((await kb.as(kb.admin).get(`/api/groups/${kb.team}`)).json.group.openedByOthers).toEqual([]);
    await kb.store.transaction((tx) => kb.deps.audit.recordSystem(tx, kb.owner.workspaceId, act));
    expect((await kb.as(kb.admin).get(`/api/groups/${kb.team}`)).json.group.openedByOthers).toHaveLength(1);
  });
});
