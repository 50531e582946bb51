import { describe, test } from "vitest";
import { makeServer, TEST_PASSWORD, type TestServer, type TestUser } from "../../../helpers.ts";

async function invite(kb: TestServer, from: TestUser, email: string, role = "member") {
  const { json } = await kb.as(from).post("/api/workspace/invitations", { email, role });
  return { invitation: json.invitation, url: json.url, token: String(json.url).split("#token=")[1] ?? "" };
}

const accept = (kb: TestServer, token: string, email: string, change: object = {}) =>
  kb.anyone().post("/api/invitations/accept", { token, email, name: "Bo", password: TEST_PASSWORD, ...change });

describe("an invitation", () => {
  test("makes a second person a member, signed in, with an unverified address", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const { invitation, url, token } = await invite(kb, owner, "Bo@Acme.test", "admin");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:7700\/invite#token=[\w-]{43}$/);
    expect(invitation).toMatchObject({
      email: "bo@acme.test",
      role: "admin",
      invitedBy: owner.userId,
      acceptedAt: null,
    });
    const accepted = await accept(kb, token, "bo@acme.test");
    expect(accepted).toMatchObject({
      status: 201,
      json: { role: "admin", user: { name: "Bo", emailVerifiedAt: null }, workspace: { id: owner.workspaceId } },
    });
    expect(accepted.headers.get("set-cookie")).toMatch(/^kb_session=/);
    const [listed] = (await kb.as(owner).get("/api/workspace/invitations")).json.invitations;
    expect(listed.acceptedAt).not.toBeNull();
    const rows = await kb.database.read.selectFrom("invitations").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test("works once, also when used ten times at once", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const { token } = await invite(kb, owner, "bo@acme.test");
    const all = await Promise.all(Array.from({ length: 10 }, () => accept(kb, token, "bo@acme.test")));
    expect(all.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(await kb.database.read.selectFrom("members").select("userId").execute()).toHaveLength(2);
    expect(await accept(kb, token, "bo@acme.test")).toMatchObject({
      status: 410,
      json: { code: "invitation_invalid" },
    });
  });

  test("is bound to its address, ends after 7 days, when withdrawn and when renewed", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const bo = await invite(kb, owner, "bo@acme.test");
    expect(await accept(kb, bo.token, "eve@acme.test")).toMatchObject({ status: 410, json: { field: "email" } });
    expect((await accept(kb, `${bo.token}x`, "bo@acme.test")).status).toBe(410);
    const again = await invite(kb, owner, "BO@acme.test");
    expect((await accept(kb, bo.token, "bo@acme.test")).status).toBe(410);
    const path = `/api/workspace/invitations/${again.invitation.id}`;
    expect((await kb.as(owner).delete(path)).status).toBe(204);
    expect((await kb.as(owner).delete(path)).status).toBe(404);
    expect((await accept(kb, again.token, "bo@acme.test")).status).toBe(410);
    const late = await invite(kb, owner, "bo@acme.test");
    kb.clock.advance(7 * 86_400_000);
    expect((await accept(kb, late.token, "bo@acme.test")).status).toBe(410);
    expect(await kb.database.read.selectFrom("users").select("userId").execute()).toHaveLength(1);
  });

  test("lets someone with an account in by its password only, and keeps their name", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const bo = await kb.addOwner("Other");
    const { token } = await invite(kb, owner, bo.email);
    const wrong = await accept(kb, token, bo.email, { password: "this is not it" });
    expect(wrong).toMatchObject({ status: 401, json: { code: "sign_in_failed" } });
    const right = await accept(kb, token, bo.email, { name: "Someone else" });
    expect(right).toMatchObject({
      status: 201,
      json: { user: { id: bo.userId }, workspace: { id: owner.workspaceId } },
    });
    expect(right.json.user.name).not.toBe("Someone else");
  });

  test("can't be made for a member, nor with a role above or beside the inviter's", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const admin = await kb.addMember(owner.workspaceId, "admin");
    const member = await kb.addMember(owner.workspaceId);
    const send = (who: TestUser, email: string, role: string) =>
      kb.as(who).post("/api/workspace/invitations", { email, role });
    expect(await send(owner, member.email, "member")).toMatchObject({ status: 409, json: { code: "already_member" } });
    expect(await send(admin, "x@y.test", "admin")).toMatchObject({ status: 403, json: { code: "role_too_low" } });
    expect((await send(admin, "x@y.test", "member")).status).toBe(201);
    expect((await send(member, "x@y.test", "member")).status).toBe(403);
    expect((await send(owner, "x@y.test", "owner")).status).toBe(400);
  });

  test("is a secret of its workspace", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const stranger = await kb.addOwner("Other");
    const { invitation } = await invite(kb, owner, "bo@acme.test");
    expect((await kb.as(stranger).get("/api/workspace/invitations")).json.invitations).toEqual([]);
    expect((await kb.as(stranger).delete(`/api/workspace/invitations/${invitation.id}`)).status).toBe(404);
    expect((await kb.as(owner).delete("/api/workspace/invitations/nonsense")).status).toBe(404);
  });

  test("an admin can't withdraw an admin's invitation of the owner", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const admin = await kb.addMember(owner.workspaceId, "admin");
    const { invitation } = await invite(kb, owner, "bo@acme.test", "admin");
    expect((await kb.as(admin).delete(`/api/workspace/invitations/${invitation.id}`)).status).toBe(403);
  });

  test.for([
    ["no token", { token: undefined }, "token"],
    ["a role of one's own", { role: "owner" }, "role"],
    ["an empty name", { name: "" }, "name"],
    ["a wrong type", { password: 7 }, "password"],
    ["too long a token", { token: "x".repeat(201) }, "token"],
  ] as const)("accepting refuses %s", async ([, change, field], { expect }) => {
    const kb = await makeServer();
    expect(await accept(kb, "t", "a@b", change)).toMatchObject({ status: 400, json: { field } });
  });
});
