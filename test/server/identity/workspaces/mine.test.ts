import { describe, test } from "vitest";
import { makeServer, type TestServer, type TestUser } from "../../../helpers.ts";
import { withCookies } from "../sessions/people.ts";

const DAY_MS = 86_400_000;

async function join(
  kb: TestServer,
  user: TestUser,
  name: string,
  role: "owner" | "member" = "member",
): Promise<string> {
  const workspaceId = await kb.addWorkspace(name);
  await kb.store.in(workspaceId).members.insert({ userId: user.userId, role, joinedAt: kb.clock.now() });
  return workspaceId;
}

describe("my workspaces", () => {
  test("are listed in the order I joined them, page by page, with my role and where I am", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner("First");
    for (const name of ["Second", "Third"]) {
      kb.clock.advance(1_000);
      await join(kb, ana, name);
    }
    await kb.addOwner("Someone else's");
    const { workspaces, nextCursor } = (await kb.as(ana).get("/api/workspaces")).json;
    expect(workspaces).toMatchObject([
      { id: ana.workspaceId, name: "First", role: "owner", current: true },
      { name: "Second", role: "member", current: false },
      { name: "Third", role: "member", current: false },
    ]);
    expect(nextCursor).toBeNull();
    const names: string[] = [];
    let cursor = "";
    do {
      const page = (await kb.as(ana).get(`/api/workspaces?limit=1${cursor}`)).json;
      names.push(...page.workspaces.map((one: { name: string }) => one.name));
      cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
    } while (cursor !== "");
    expect(names).toEqual(["First", "Second", "Third"]);
  });

  test("are made by admins where people are invited, by anyone signed in where sign-up is open, by no token", async ({
    expect,
  }) => {
    const create = async (kb: TestServer, user: TestUser) =>
      (await kb.as(user).post("/api/workspaces", { name: "New", timeZone: "Asia/Tokyo" })).status;
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const admin = await kb.addMember(ana.workspaceId, "admin");
    const member = await kb.addMember(ana.workspaceId, "member");
    expect([await create(kb, ana), await create(kb, admin), await create(kb, member)]).toEqual([201, 201, 403]);
    expect((await kb.withToken(await kb.token(ana, ["kb:admin"])).post("/api/workspaces", { name: "X" })).status).toBe(
      403,
    );
    const open = await makeServer({ settings: { signup: "open" } });
    expect(await create(open, await open.addMember(await open.addWorkspace(), "member"))).toBe(201);
  });

  test("a new one is mine, with me alone in it, and audited there", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    kb.clock.advance(1_000);
    const made = await kb.as(ana).post("/api/workspaces", { name: "New", timeZone: "Asia/Tokyo" });
    expect(made).toMatchObject({
      status: 201,
      json: { workspace: { name: "New", timeZone: "Asia/Tokyo", secrets: "mask" } },
    });
    const { id } = made.json.workspace;
    expect((await kb.as(ana).get("/api/workspaces")).json.workspaces.at(-1)).toMatchObject({ id, role: "owner" });
    const acts = await kb.store.in(id).audit.list({ limit: 9 });
    expect(acts).toMatchObject([{ action: "workspace.created", actorUserId: ana.userId, targetId: id }]);
  });

  test("in managed mode one person owns at most ten", async ({ expect }) => {
    const kb = await makeServer({ settings: { mode: "managed", signup: "open" } });
    const ana = await kb.addOwner();
    await join(kb, ana, "Not mine");
    const all = await Promise.all(Array.from({ length: 12 }, () => kb.as(ana).post("/api/workspaces", { name: "W" })));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(9);
    expect(all.find(({ status }) => status !== 201)).toMatchObject({
      status: 409,
      json: { code: "workspace_limit_reached" },
    });
  });
});

describe("switching workspaces", () => {
  test("test 35: gives the session a new id and secret, and the old one is dead", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner("First");
    const workspaceId = await join(kb, ana, "Second");
    const before = (await kb.actor(ana)).credential.id;
    const switched = await kb.as(ana).post("/api/session/workspace", { workspaceId });
    expect(switched).toMatchObject({
      status: 200,
      json: { user: { id: ana.userId }, workspace: { id: workspaceId, name: "Second" }, role: "member" },
    });
    expect((await kb.as(ana).get("/api/session")).status).toBe(401);
    const now = await kb.anyone().request("GET", "/api/sessions", withCookies(switched));
    expect(now.json.sessions).toHaveLength(1);
    expect(now.json.sessions[0].id).not.toBe(before);
  });

  test("a session that ended after the request was let in does not live on in the other one", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner("First");
    const workspaceId = await join(kb, ana, "Second");
    const actor = await kb.actor(ana);
    expect((await kb.as(ana).delete("/api/session")).status).toBe(204);
    const context = { origin: { requestId: "req_test", clientIp: "127.0.0.1" }, userAgent: null, formerSecret: null };
    const switching = kb.deps.sessions.switchWorkspace(actor, workspaceId, context);
    await expect(switching).rejects.toMatchObject({ code: "not_found" });
  });

  test("makes a sign-in neither longer nor more recent", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner("First");
    const workspaceId = await join(kb, ana, "Second");
    const first = await kb.store.sessions.find((await kb.actor(ana)).credential.id);
    kb.clock.advance(6 * DAY_MS);
    const switched = await kb.as(ana).post("/api/session/workspace", { workspaceId });
    expect(switched.headers.get("set-cookie")).toContain(`Max-Age=${24 * 86_400};`);
    const { sessions } = (await kb.anyone().request("GET", "/api/sessions", withCookies(switched))).json;
    const second = await kb.store.sessions.find(sessions[0].id);
    expect(second).toMatchObject({ authenticatedAt: first?.authenticatedAt, expiresAt: first?.expiresAt });
  });

  test("test 43: another's workspace is not there, and the session stays as it was", async ({ expect }) => {
    const kb = await makeServer();
    const [ana, stranger] = [await kb.addOwner("First"), await kb.addOwner("Second")];
    for (const workspaceId of [stranger.workspaceId, "wsp_2222222222222222"]) {
      expect((await kb.as(ana).post("/api/session/workspace", { workspaceId })).status).toBe(404);
    }
    expect((await kb.as(ana).get("/api/session")).status).toBe(200);
  });
});
