import { describe, test } from "vitest";
import type { Role } from "#api/common.ts";
import { makeServer, type TestServer, type TestUser } from "../../../helpers.ts";
import { addGrant, grantsOf } from "../sessions/people.ts";

type Act = (kb: TestServer, actor: TestUser, target: TestUser) => Promise<{ status: number }>;

/** What one person does to another. */
const ACTS: Record<string, Act> = {
  "makes a reset link for": (kb, actor, { userId }) =>
    kb.as(actor).post(`/api/workspace/members/${userId}/password-reset`),
  removes: (kb, actor, { userId }) => kb.as(actor).delete(`/api/workspace/members/${userId}`),
  "makes a member of": (kb, actor, { userId }) =>
    kb.as(actor).patch(`/api/workspace/members/${userId}`, { role: "member" }),
  "makes an admin of": (kb, actor, { userId }) =>
    kb.as(actor).patch(`/api/workspace/members/${userId}`, { role: "admin" }),
  "makes an owner of": (kb, actor, { userId }) =>
    kb.as(actor).patch(`/api/workspace/members/${userId}`, { role: "owner" }),
};

/** Actor × act → statuses towards an owner, an admin, a member. A role that is held already is no change. */
const LADDER: [actor: Role, act: string, statuses: [owner: number, admin: number, member: number]][] = [
  ["owner", "makes a reset link for", [201, 201, 201]],
  ["owner", "removes", [204, 204, 204]],
  ["owner", "makes a member of", [200, 200, 200]],
  ["owner", "makes an admin of", [200, 200, 200]],
  ["owner", "makes an owner of", [200, 200, 200]],
  ["admin", "makes a reset link for", [403, 403, 403]],
  ["admin", "removes", [403, 403, 204]],
  ["admin", "makes a member of", [403, 403, 200]],
  ["admin", "makes an admin of", [403, 200, 403]],
  ["admin", "makes an owner of", [200, 403, 403]],
  ["member", "makes a reset link for", [403, 403, 403]],
  ["member", "removes", [403, 403, 403]],
  ["member", "makes a member of", [403, 403, 403]],
  ["member", "makes an admin of", [403, 403, 403]],
  ["member", "makes an owner of", [403, 403, 403]],
];

describe("S22: the ladder of roles", () => {
  test.for(LADDER)(
    "an actor who is %s %s an owner, an admin, a member: %j",
    async ([role, act, expected], { expect }) => {
      const kb = await makeServer();
      const founder = await kb.addOwner();
      const actor = await kb.addMember(founder.workspaceId, role);
      const statuses = [];
      for (const targetRole of ["owner", "admin", "member"] as const) {
        const target = await kb.addMember(founder.workspaceId, targetRole);
        statuses.push((await ACTS[act]?.(kb, actor, target))?.status);
      }
      expect(statuses).toEqual(expected);
    },
  );

  test.for([
    ["owner", [201, 201]],
    ["admin", [403, 201]],
    ["member", [403, 403]],
  ] as [Role, [admin: number, member: number]][])(
    "%s invites an admin, a member: %j",
    async ([role, expected], { expect }) => {
      const kb = await makeServer();
      const founder = await kb.addOwner();
      const actor = await kb.addMember(founder.workspaceId, role);
      const statuses = [];
      for (const invited of ["admin", "member"] as const) {
        const body = { email: `${invited}@new.test`, role: invited };
        statuses.push((await kb.as(actor).post("/api/workspace/invitations", body)).status);
      }
      expect(statuses).toEqual(expected);
      const body = { email: "x@new.test", role: "owner" };
      expect((await kb.as(actor).post("/api/workspace/invitations", body)).status).toBe(role === "member" ? 403 : 400);
    },
  );

  test("test 43: people of another workspace read as if they were not there", async ({ expect }) => {
    const kb = await makeServer();
    const [ana, stranger] = [await kb.addOwner("One"), await kb.addOwner("Two")];
    for (const [name, act] of Object.entries(ACTS)) {
      expect({ name, status: (await act(kb, ana, stranger)).status }).toEqual({ name, status: 404 });
    }
  });

  test("test 44: two owners who remove each other at once leave one", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId, "owner");
    const remove = ACTS["removes"];
    const statuses = await Promise.all([remove?.(kb, ana, bo), remove?.(kb, bo, ana), remove?.(kb, ana, ana)]);
    expect(statuses.filter((answer) => answer?.status === 204)).toHaveLength(1);
    expect(await kb.store.in(ana.workspaceId).members.countOwners()).toBe(1);
  });
});

describe("S13: leaving and returning", () => {
  test("a removed member's grants end here with all that hangs on them, and coming back restores none", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const there = await kb.addWorkspace("Other");
    await kb.store.in(there).members.insert({ userId: bo.userId, role: "owner", joinedAt: kb.clock.now() });
    await addGrant(kb, bo, "here");
    await addGrant(kb, { ...bo, workspaceId: there }, "there");
    expect((await kb.as(ana).delete(`/api/workspace/members/${bo.userId}`)).status).toBe(204);
    const left = { living: ["gra_there"], records: ["gra_there"] };
    expect(await grantsOf(kb)).toEqual(left);
    const { url } = (await kb.as(ana).post("/api/workspace/invitations", { email: bo.email, role: "member" })).json;
    const body = { token: url.split("#token=")[1], email: bo.email, password: "blue kettle morning" };
    expect((await kb.anyone().post("/api/invitations/accept", body)).status).toBe(201);
    expect(await grantsOf(kb)).toEqual(left);
    expect((await kb.as(bo).get("/api/session")).status).toBe(401);
  });
});
