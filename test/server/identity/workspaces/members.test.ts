import { describe, test } from "vitest";
import type { Role } from "#api/common.ts";
import { mintSecret } from "#core/secrets.ts";
import { makeServer, TEST_PASSWORD, type TestServer, type TestUser } from "../../../helpers.ts";

const UNKNOWN_USER = "usr_2222222222222222";

/** One of each role, and a stranger from another workspace. */
async function makeCast(kb: TestServer) {
  const owner = await kb.addOwner();
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const member = await kb.addMember(owner.workspaceId, "member");
  const stranger = await kb.addOwner("Other");
  return { owner, admin, member, stranger };
}

/** A push connector with a key that `creator` made; the connectors' own code is not needed for it. */
async function addConnector(kb: TestServer, owner: TestUser, change: Record<string, unknown> = {}) {
  const { workspaceId } = owner;
  const connectorId = `con_${Math.random().toString(36).slice(2, 10)}`;
  await kb.database.write
    .insertInto("connectors")
    .values({
      workspaceId,
      connectorId,
      providerId: "push",
      name: "Builds",
      ownerUserId: owner.userId,
      visibility: "members",
      memberIds: "[]",
      groupIds: "[]",
      config: "{}",
      scope: '{"include":[],"exclude":[]}',
      scopeVersion: 1,
      accountId: null,
      connectionId: null,
      everyMinutes: null,
      state: "active",
      stateReason: null,
      nextRunAt: null,
      cursor: null,
      consecutiveFailures: 0,
      aclCheckedAt: null,
      lastFullAt: null,
      refusedAt: null,
      proofTriedAt: null,
      pausedBy: null,
      withheldAt: null,
      ownedSince: 0,
      createdAt: kb.clock.now(),
      createdBy: owner.userId,
      ...change,
    })
    .execute();
  return connectorId;
}

async function addKey(kb: TestServer, creator: TestUser, connectorId: string): Promise<string> {
  const { plaintext, hash, shown } = mintSecret("kb_con_", (n) => crypto.getRandomValues(new Uint8Array(n)));
  await kb.database.write
    .insertInto("connector_keys")
    .values({
      workspaceId: creator.workspaceId,
      keyId: `key_${hash.slice(0, 8)}`,
      connectorId,
      hash,
      prefix: shown,
      createdAt: kb.clock.now(),
      createdBy: creator.userId,
      expiresAt: null,
      revokedAt: null,
    })
    .execute();
  return plaintext;
}

describe("members", () => {
  test("are listed in the order they joined, page by page, to members of that workspace only", async ({ expect }) => {
    const kb = await makeServer();
    const { owner, admin, member, stranger } = await makeCast(kb);
    const all = (await kb.as(member).get("/api/workspace/members")).json;
    const ids = (list: { userId: string }[]) => list.map((one) => one.userId);
    expect(new Set(ids(all.members))).toEqual(new Set([owner.userId, admin.userId, member.userId]));
    expect(all.nextCursor).toBeNull();
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const { json } = await kb.as(member).get(`/api/workspace/members?limit=1${cursor ? `&cursor=${cursor}` : ""}`);
      paged.push(...ids(json.members));
      cursor = json.nextCursor;
    } while (cursor);
    expect(paged).toEqual(ids(all.members));
    expect(ids((await kb.as(stranger).get("/api/workspace/members")).json.members)).toEqual([stranger.userId]);
  });

  test("a page's cursor is of no use to someone else, for another list, damaged, or after two days", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const { owner, member } = await makeCast(kb);
    const { nextCursor } = (await kb.as(owner).get("/api/workspace/members?limit=1")).json;
    const use = (who: TestUser, path: string, cursor = nextCursor) => kb.as(who).get(`${path}?cursor=${cursor}`);
    expect((await use(owner, "/api/workspace/members")).status).toBe(200);
    const damaged = (nextCursor.startsWith("A") ? "B" : "A") + nextCursor.slice(1);
    for (const answer of [
      await use(member, "/api/workspace/members"),
      await use(owner, "/api/groups"),
      await use(owner, "/api/workspace/members", damaged),
      await use(owner, "/api/workspace/members", "short"),
    ]) {
      expect(answer).toMatchObject({ status: 400, json: { code: "invalid_cursor", field: "cursor" } });
    }
    kb.clock.advance(2 * 86_400_000);
    expect(await use(owner, "/api/workspace/members")).toMatchObject({ status: 400 });
  });

  test("another workspace's member and an unknown one read the same", async ({ expect }) => {
    const kb = await makeServer();
    const { owner, stranger } = await makeCast(kb);
    for (const send of ["get", "delete"] as const) {
      const unknown = await kb.as(owner)[send](`/api/workspace/members/${UNKNOWN_USER}`);
      const foreign = await kb.as(owner)[send](`/api/workspace/members/${stranger.userId}`);
      expect(unknown.status).toBe(404);
      expect({ ...foreign.json, requestId: "" }).toEqual({ ...unknown.json, requestId: "" });
    }
    expect((await kb.as(stranger).get("/api/session")).status).toBe(200);
  });

  /** Who may set the role `to` of somebody with the role `from`. Source: S22. */
  const LADDER: [actor: Role, from: Role, to: Role, status: number][] = [
    ["owner", "member", "admin", 200],
    ["owner", "member", "owner", 200],
    ["owner", "admin", "member", 200],
    ["owner", "owner", "member", 200],
    ["admin", "member", "admin", 403],
    ["admin", "member", "owner", 403],
    ["admin", "member", "member", 200],
    ["admin", "admin", "member", 403],
    ["admin", "owner", "member", 403],
    ["member", "member", "admin", 403],
    ["member", "owner", "member", 403],
  ];
  test.for(LADDER)("role ladder: %s changes %s to %s → %i", async ([role, from, to, status], { expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const actor = role === "owner" ? owner : await kb.addMember(owner.workspaceId, role);
    const target = await kb.addMember(owner.workspaceId, from);
    const answer = await kb.as(actor).patch(`/api/workspace/members/${target.userId}`, { role: to });
    expect(answer.status).toBe(status);
    const after = (await kb.as(owner).get(`/api/workspace/members/${target.userId}`)).json.member;
    expect(after.role).toBe(status === 200 ? to : from);
  });

  test.for([
    ["owner", "admin", 204],
    ["owner", "owner", 204],
    ["admin", "member", 204],
    ["admin", "admin", 403],
    ["admin", "owner", 403],
    ["member", "member", 403],
  ] as const)("role ladder: %s removes %s → %i", async ([role, victim, status], { expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const actor = role === "owner" ? owner : await kb.addMember(owner.workspaceId, role);
    const target = await kb.addMember(owner.workspaceId, victim);
    expect((await kb.as(actor).delete(`/api/workspace/members/${target.userId}`)).status).toBe(status);
    expect((await kb.as(target).get("/api/session")).status).toBe(status === 204 ? 401 : 200);
  });

  test("an admin's token without kb:admin removes no one", async ({ expect }) => {
    const kb = await makeServer();
    const { owner, member } = await makeCast(kb);
    const token = await kb.token(owner, ["kb:api"]);
    expect((await kb.withToken(token).delete(`/api/workspace/members/${member.userId}`)).status).toBe(403);
  });

  test("the last owner can neither leave nor be demoted; another one frees them", async ({ expect }) => {
    const kb = await makeServer();
    const { owner, admin } = await makeCast(kb);
    const path = `/api/workspace/members/${owner.userId}`;
    const refused = { status: 409, json: { code: "last_owner" } };
    expect(await kb.as(owner).delete(path)).toMatchObject(refused);
    expect(await kb.as(owner).patch(path, { role: "member" })).toMatchObject(refused);
    await kb.as(owner).patch(`/api/workspace/members/${admin.userId}`, { role: "owner" });
    const both = await Promise.all([
      kb.as(owner).delete(path),
      kb.as(admin).delete(`/api/workspace/members/${admin.userId}`),
    ]);
    expect(both.map((answer) => answer.status).sort()).toEqual([204, 409]);
  });

  test("a removed member loses everything at once, and coming back restores none of it", async ({ expect }) => {
    const kb = await makeServer();
    const { owner, admin } = await makeCast(kb);
    const { access } = kb.store.in(owner.workspaceId);
    const pat = await kb.token(admin, ["kb:api"]);
    const invited = (await kb.as(admin).post("/api/workspace/invitations", { email: "x@y.test", role: "member" })).json;
    const connectorId = await addConnector(kb, owner, { memberIds: JSON.stringify([owner.userId, admin.userId]) });
    const ownConnector = await addConnector(kb, admin, { accountId: "acc_1" });
    await access.setMembers(`group:connector:${connectorId}`, [`user:${admin.userId}`], "kb");
    const key = await addKey(kb, admin, connectorId);
    const group = (await kb.as(owner).post("/api/groups", { name: "Ops", memberIds: [admin.userId] })).json.group;
    expect(await kb.deps.tokens.findConnector(key)).toMatchObject({ connectorId });
    const epoch = await access.epoch();

    await kb.as(owner).delete(`/api/workspace/members/${admin.userId}`);
    expect(await access.epoch()).toBeGreaterThan(epoch);
    await kb.store.transaction((tx) =>
      tx.in(owner.workspaceId).members.insert({ userId: admin.userId, role: "admin", joinedAt: 0 }),
    );

    expect((await kb.as(admin).get("/api/session")).status).toBe(401);
    expect((await kb.withToken(pat).get("/api/workspace")).status).toBe(401);
    expect(await kb.deps.tokens.findConnector(key)).toBeUndefined();
    expect(await access.expand([`user:${admin.userId}`])).toEqual([`user:${admin.userId}`]);
    expect((await kb.as(owner).get(`/api/groups/${group.id}`)).json.group.memberIds).toEqual([]);
    const accept = { name: "X", email: "x@y.test", password: TEST_PASSWORD, token: invited.url.split("token=")[1] };
    expect((await kb.anyone().post("/api/invitations/accept", accept)).status).toBe(410);
    const rows = await kb.database.read
      .selectFrom("connectors")
      .select(["connectorId", "memberIds", "state", "stateReason"])
      .execute();
    expect(rows).toEqual(
      expect.arrayContaining([
        { connectorId, memberIds: JSON.stringify([owner.userId]), state: "active", stateReason: null },
        {
          connectorId: ownConnector,
          memberIds: "[]",
          state: "needs_owner",
          stateReason: expect.stringContaining("left the workspace"),
        },
      ]),
    );
  });

  test("removal in one workspace leaves the person's other workspaces alone", async ({ expect }) => {
    const kb = await makeServer();
    const { owner, member, stranger } = await makeCast(kb);
    await kb.store.transaction((tx) =>
      tx.in(stranger.workspaceId).members.insert({ userId: member.userId, role: "member", joinedAt: 0 }),
    );
    const there = await kb.signIn({ ...member, workspaceId: stranger.workspaceId });
    await kb.as(owner).delete(`/api/workspace/members/${member.userId}`);
    expect((await kb.as(member).get("/api/session")).status).toBe(401);
    expect((await kb.as(there).get("/api/session")).json.workspace.id).toBe(stranger.workspaceId);
  });
});

describe("a connector key", () => {
  test("dies with its connector's deletion, its revocation and its end", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const connectorId = await addConnector(kb, owner);
    const key = await addKey(kb, owner, connectorId);
    const set = (change: Record<string, unknown>) =>
      kb.database.write.updateTable("connector_keys").set(change).where("connectorId", "=", connectorId).execute();
    await set({ expiresAt: kb.clock.now() + 1000 });
    expect(await kb.deps.tokens.findConnector(key)).toBeDefined();
    kb.clock.advance(1000);
    expect(await kb.deps.tokens.findConnector(key)).toBeUndefined();
    await set({ expiresAt: null });
    await kb.database.write.updateTable("connectors").set({ state: "deleting" }).execute();
    expect(await kb.deps.tokens.findConnector(key)).toBeUndefined();
  });
});

describe("the workspace", () => {
  test("is read by members and changed by admins", async ({ expect }) => {
    const kb = await makeServer();
    const { admin, member } = await makeCast(kb);
    const changed = await kb.as(admin).patch("/api/workspace", { name: "Acme Ltd", timeZone: "Europe/Vienna" });
    expect(changed).toMatchObject({
      status: 200,
      json: { workspace: { name: "Acme Ltd", timeZone: "Europe/Vienna" } },
    });
    expect((await kb.as(member).get("/api/workspace")).json).toEqual(changed.json);
    expect((await kb.actor(member)).timeZone).toBe("Europe/Vienna");
    expect((await kb.as(member).patch("/api/workspace", { name: "Mine" })).status).toBe(403);
    expect(await kb.as(admin).patch("/api/workspace", { id: "x" })).toMatchObject({
      status: 400,
      json: { field: "id" },
    });
    expect(await kb.as(admin).patch("/api/workspace", { timeZone: "Nowhere" })).toMatchObject({ status: 400 });
  });
});
