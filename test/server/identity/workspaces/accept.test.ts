import { describe, test } from "vitest";
import { makeServer, TEST_PASSWORD, type TestServer } from "../../../helpers.ts";
import { makeMailingServer, outside, withCookies } from "../sessions/people.ts";

const BO = { name: "Bo", email: "bo@new.test", password: TEST_PASSWORD };

async function invite(kb: TestServer, email = BO.email) {
  const ana = await kb.addOwner("Inviting");
  const { json } = await kb.as(ana).post("/api/workspace/invitations", { email, role: "member" });
  return { ana, token: String(json.url).split("#token=")[1] ?? "", invitation: json.invitation };
}

describe("an invitation", () => {
  test("is mailed where the server sends email, and then shown to no one", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner("Inviting");
    const made = await kb.as(ana).post("/api/workspace/invitations", { email: BO.email, role: "admin" });
    expect(made).toMatchObject({ status: 201, json: { url: null, invitation: { email: BO.email, role: "admin" } } });
    expect(mailbox.mails).toEqual([
      {
        to: BO.email,
        subject: "person1 invites you to Inviting",
        text: expect.stringContaining("The link works once, until 28 November 2026, 09:30 UTC."),
      },
    ]);
    expect(mailbox.mails[0]?.text).toContain("http://127.0.0.1:7700/invite#token=");
    const accepted = await kb.anyone().post("/api/invitations/accept", { ...BO, token: mailbox.linkFor(BO.email) });
    expect(accepted).toMatchObject({ status: 201, json: { role: "admin", user: { email: BO.email } } });
  });

  test("that no mail server takes invites no one", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    mailbox.breakDown();
    const ana = await kb.addOwner();
    const failed = await kb.as(ana).post("/api/workspace/invitations", { email: BO.email, role: "member" });
    expect(failed).toMatchObject({ status: 503, json: { code: "mail_failed" } });
    expect((await kb.as(ana).get("/api/workspace/invitations")).json.invitations).toEqual([]);
  });

  test("20 a minute of a workspace, so that no one mails the world", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId, "admin");
    const statuses = [];
    for (let i = 0; i < 22; i++) {
      const body = { email: `p${i}@new.test`, role: "member" };
      statuses.push((await kb.as(i % 2 === 0 ? ana : bo).post("/api/workspace/invitations", body)).status);
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429]);
    expect(mailbox.mails).toHaveLength(20);
  });
});

describe("the link of an invitation", () => {
  const check = (kb: TestServer, token: string) => kb.anyone().post("/api/invitations/check", { token });

  test("tells who invites whom to which workspace, as often as it is opened, and no cache keeps it", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const { token } = await invite(kb);
    for (let times = 0; times < 70; times++) expect((await check(kb, token)).status).toBe(200);
    const shown = await check(kb, token);
    expect(shown.json).toEqual({
      workspaceName: "Inviting",
      inviterName: "person1",
      email: BO.email,
      expiresAt: "2026-11-28T09:30:00.000Z",
    });
    expect(shown.headers.get("cache-control")).toBe("no-store");
    // Looking uses nothing up.
    expect((await kb.anyone().post("/api/invitations/accept", { ...BO, token })).status).toBe(201);
  });

  test("gives one answer for an unknown, a used, a withdrawn and an expired one, the one of accepting", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const used = await invite(kb);
    await kb.anyone().post("/api/invitations/accept", { ...BO, token: used.token });
    const withdrawn = await invite(kb, "cy@new.test");
    await kb.as(withdrawn.ana).delete(`/api/workspace/invitations/${withdrawn.invitation.id}`);
    const expired = await invite(kb, "di@new.test");
    kb.clock.advance(7 * 86_400_000);
    const accepted = await kb.anyone().post("/api/invitations/accept", { ...BO, token: "made-up" });
    expect(accepted).toMatchObject({ status: 410, json: { code: "invitation_invalid" } });
    for (const token of ["made-up", used.token, withdrawn.token, expired.token]) {
      expect(outside(await check(kb, token))).toEqual(outside(accepted));
    }
  });

  test("can't be guessed: wrong ones are counted by address, with those of accepting", async ({ expect }) => {
    const kb = await makeServer();
    const { token } = await invite(kb);
    const statuses = [];
    for (let times = 0; times < 70; times++) statuses.push((await check(kb, `made-up-${times}`)).status);
    expect(new Set(statuses)).toEqual(new Set([410, 429]));
    expect((await check(kb, token)).status).toBe(429);
    expect((await kb.anyone().post("/api/invitations/accept", { ...BO, token })).status).toBe(429);
  });
});

describe("accepting an invitation", () => {
  test("is for who says both an address and a password, or is signed in", async ({ expect }) => {
    const kb = await makeServer();
    const { token } = await invite(kb);
    for (const half of [{ password: TEST_PASSWORD }, { email: BO.email }, {}]) {
      const { status, json } = await kb.anyone().post("/api/invitations/accept", { token, name: "Bo", ...half });
      expect([half, status, json.code]).toEqual([half, 401, "unauthenticated"]);
    }
  });

  test("a person signed in to another workspace accepts with the link alone and goes on there", async ({ expect }) => {
    const kb = await makeServer();
    const bo = await kb.addMember(await kb.addWorkspace("Own"), "owner", BO.email);
    const { ana, token } = await invite(kb);
    const accepted = await kb.as(bo).post("/api/invitations/accept", { token });
    expect(accepted).toMatchObject({
      status: 201,
      json: { user: { id: bo.userId }, workspace: { id: ana.workspaceId } },
    });
    expect((await kb.as(bo).get("/api/session")).status).toBe(401);
    expect((await kb.anyone().request("GET", "/api/session", withCookies(accepted))).json.role).toBe("member");
  });

  test("leaves the time zone that the person chose", async ({ expect }) => {
    const kb = await makeServer();
    const bo = await kb.addMember(await kb.addWorkspace("Own"), "owner", BO.email);
    const { token } = await invite(kb);
    await kb.as(bo).patch("/api/profile", { timeZone: "Europe/Berlin" });
    const body = { token, email: bo.email, password: TEST_PASSWORD, timeZone: "America/New_York" };
    const accepted = await kb.anyone().post("/api/invitations/accept", body);
    expect(accepted).toMatchObject({ status: 201, json: { user: { timeZone: "Europe/Berlin" } } });
  });

  test("test 42: a session of someone else, or none, does not do", async ({ expect }) => {
    const kb = await makeServer();
    const { token } = await invite(kb);
    const stranger = await kb.addOwner();
    expect(await kb.as(stranger).post("/api/invitations/accept", { token })).toMatchObject({
      status: 410,
      json: { code: "invitation_invalid", field: "email" },
    });
    expect((await kb.anyone().post("/api/invitations/accept", { token })).status).toBe(401);
    const { name: _name, ...unnamed } = BO;
    expect(await kb.anyone().post("/api/invitations/accept", { ...unnamed, token })).toMatchObject({
      status: 400,
      json: { field: "name" },
    });
    expect((await kb.anyone().post("/api/invitations/accept", { ...BO, token })).status).toBe(201);
  });

  test.for([
    ["an invitation for another email", { email: "mallory@new.test" }, 410],
    ["a role in the body", { role: "owner" }, 400],
    ["a wrong secret", { token: "made-up" }, 410],
  ] as const)("test 42: %s is refused", async ([, change, status], { expect }) => {
    const kb = await makeServer();
    const { token } = await invite(kb);
    expect((await kb.anyone().post("/api/invitations/accept", { ...BO, token, ...change })).status).toBe(status);
  });

  test("test 42: a used, a withdrawn and an expired one are refused", async ({ expect }) => {
    const kb = await makeServer();
    const used = await invite(kb);
    expect((await kb.anyone().post("/api/invitations/accept", { ...BO, token: used.token })).status).toBe(201);
    const withdrawn = await invite(kb, "cy@new.test");
    await kb.as(withdrawn.ana).delete(`/api/workspace/invitations/${withdrawn.invitation.id}`);
    const expired = await invite(kb, "di@new.test");
    kb.clock.advance(7 * 86_400_000);
    for (const [{ token }, email] of [
      [used, BO.email],
      [withdrawn, "cy@new.test"],
      [expired, "di@new.test"],
    ] as const) {
      const again = await kb.anyone().post("/api/invitations/accept", { ...BO, email, token });
      expect(again).toMatchObject({ status: 410, json: { code: "invitation_invalid" } });
    }
  });
});
