import { describe, test } from "vitest";
import { makeServer, TEST_PASSWORD } from "../../../helpers.ts";

const ROOT = "rot_2222222222222222";

describe("the audit", () => {
  test("has a row for every admin act, with who, how, from where and in which request", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const bo = await kb.addMember(owner.workspaceId);
    const me = kb.as(owner);
    const renamed = await me.patch("/api/workspace", { name: "Acme Ltd" });
    const invited = (await me.post("/api/workspace/invitations", { email: "cy@acme.test", role: "member" })).json;
    await me.delete(`/api/workspace/invitations/${invited.invitation.id}`);
    const group = (await me.post("/api/groups", { name: "Ops" })).json.group;
    await me.patch(`/api/groups/${group.id}`, { name: "Operations" });
    await me.delete(`/api/groups/${group.id}`);
    await me.patch(`/api/workspace/members/${bo.userId}`, { role: "admin" });
    await me.delete(`/api/workspace/members/${bo.userId}`);
    const token = (await me.post("/api/api-tokens", { name: "Secret plan", scopes: ["kb:admin"] })).json;
    await me.delete(`/api/api-tokens/${token.token.id}`);

    const { entries } = (await me.get("/api/audit?limit=200")).json;
    expect(entries.map((entry: { action: string }) => entry.action).toReversed()).toEqual([
      "session.opened",
      "session.opened",
      "workspace.changed",
      "invitation.created",
      "invitation.withdrawn",
      "group.created",
      "group.changed",
      "group.deleted",
      "member.role_changed",
      "member.removed",
      "token.created",
      "token.revoked",
    ]);
    expect(entries.map((entry: { seq: number }) => entry.seq)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(entries.at(-3)).toMatchObject({
      actorUserId: owner.userId,
      credential: expect.stringMatching(/^session:ses_/),
      targetType: "workspace",
      targetId: owner.workspaceId,
      outcome: "done",
      ip: "127.0.0.1",
      requestId: renamed.headers.get("x-request-id"),
    });
    const text = JSON.stringify(entries);
    for (const secret of ["Secret plan", "Acme Ltd", "Operations", token.plaintext, TEST_PASSWORD, "cy@acme.test"]) {
      expect(text).not.toContain(secret);
    }
  });

  test("names people, things and programs beside its rows as they are called now, and no items", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const bo = await kb.addMember(owner.workspaceId);
    const me = kb.as(owner);
    const { group } = (await me.post("/api/groups", { name: "Ops", memberIds: [bo.userId] })).json;
    await me.patch(`/api/groups/${group.id}`, { name: "Operations" });
    const { token } = (await me.post("/api/api-tokens", { name: "Cursor", scopes: ["mcp:read"] })).json;
    const { invitation } = (await me.post("/api/workspace/invitations", { email: "cy@acme.test", role: "member" }))
      .json;
    const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    await kb.anyone().request("POST", "/api/session", {
      body: { email: bo.email, password: TEST_PASSWORD },
      headers: { "user-agent": browser },
    });
    await me.delete(`/api/workspace/members/${bo.userId}`);
    const folder = {
      action: "local_root.added",
      target: { type: "local_root", id: ROOT },
      details: { path: "/srv/docs" },
    };
    await kb.store.transaction((tx) => kb.deps.audit.recordSystem(tx, owner.workspaceId, folder));

    const { entries, names } = (await me.get("/api/audit?limit=200")).json;
    const session = entries.findLast((entry: { actorUserId: string }) => entry.actorUserId === bo.userId).targetId;
    expect(names).toMatchObject({
      [owner.userId]: expect.any(String),
      // Who left is named by the acts that are theirs.
      [bo.userId]: expect.any(String),
      [group.id]: "Operations",
      [token.id]: "Cursor",
      [invitation.id]: "cy@acme.test",
      [ROOT]: "/srv/docs",
    });
    expect(Object.values(names)).toContain(browser);
    expect(session).toMatch(/^ses_/);
    const stranger = await kb.addOwner("Other");
    const removed = { ...folder, action: "local_root.removed", details: {} };
    await kb.store.transaction((tx) => kb.deps.audit.recordSystem(tx, stranger.workspaceId, removed));
    const theirs = (await kb.as(stranger).get("/api/audit")).json;
    expect(Object.keys(theirs.names)).not.toContain(owner.userId);
    expect(JSON.stringify(theirs.names)).not.toContain("/srv/docs");
  });

  test("gives the acts between two moments", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const moment = () => new Date(kb.clock.now()).toISOString();
    kb.clock.advance(60_000);
    const since = moment();
    await kb.as(owner).post("/api/groups", { name: "A" });
    kb.clock.advance(60_000);
    const until = moment();
    await kb.as(owner).post("/api/groups", { name: "B" });
    const seqsOf = async (query: string) =>
      (await kb.as(owner).get(`/api/audit?${query}`)).json.entries.map((entry: { seq: number }) => entry.seq);
    expect(await seqsOf(`since=${since}&until=${until}`)).toEqual([2]);
    expect(await seqsOf(`since=${until}`)).toEqual([3]);
    expect(await seqsOf(`until=${since}`)).toEqual([1]);
  });

  test("an act that failed leaves no row", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const before = (await kb.as(owner).get("/api/audit")).json.entries.length;
    await kb.as(owner).delete(`/api/workspace/members/${owner.userId}`);
    await kb.as(owner).post("/api/groups", { name: "X", groupIds: ["grp_2222222222222222"] });
    expect((await kb.as(owner).get("/api/audit")).json.entries).toHaveLength(before);
  });

  test("is paged, filtered and of one workspace; the cursor keeps to its filter", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const stranger = await kb.addOwner("Other");
    for (const name of ["A", "B", "C"]) await kb.as(owner).post("/api/groups", { name });
    const first = (await kb.as(owner).get("/api/audit?action=group.created&limit=2")).json;
    expect(first.entries.map((entry: { seq: number }) => entry.seq)).toEqual([4, 3]);
    const path = `/api/audit?action=group.created&limit=2&cursor=${first.nextCursor}`;
    expect((await kb.as(owner).get(path)).json).toMatchObject({ entries: [{ seq: 2 }], nextCursor: null });
    expect((await kb.as(owner).get(`/api/audit?cursor=${first.nextCursor}`)).status).toBe(400);
    expect((await kb.as(stranger).get("/api/audit")).json.entries).toHaveLength(1);
    const byStranger = await kb.as(owner).get(`/api/audit?userId=${stranger.userId}`);
    expect(byStranger.json.entries).toEqual([]);
  });

  test.for([
    ["limit=0", "limit"],
    ["limit=x", "limit"],
    ["since=1", "since"],
    ["userId=bo", "userId"],
  ] as const)("refuses ?%s", async ([query, field], { expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    expect(await kb.as(owner).get(`/api/audit?${query}`)).toMatchObject({ status: 400, json: { field } });
  });
});
