import { describe, test } from "vitest";
import { makeNoThrottle } from "#server/http/throttle.ts";
import { makeLinkService } from "#server/identity/sessions/links.ts";
import { makePasswords } from "#server/identity/sessions/passwords.ts";
import { makeProfileService } from "#server/identity/sessions/profile.ts";
import { makeServer, TEST_PASSWORD, TEST_PASSWORD_COSTS, type TestServer, type TestUser } from "../../../helpers.ts";
import { addGrant, grantsOf, makeMailingServer, outside, verifiedAt } from "./people.ts";

const NEW_PASSWORD = "green ladder evening";

describe("a profile", () => {
  test("takes a name and a time zone, and gives the zone back to the workspace", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const changed = await kb.as(ana).patch("/api/profile", { name: "Ana B", timeZone: "Asia/Tokyo" });
    expect(changed).toMatchObject({
      status: 200,
      json: { user: { id: ana.userId, name: "Ana B", timeZone: "Asia/Tokyo" } },
    });
    expect((await kb.actor(ana)).timeZone).toBe("Asia/Tokyo");
    await kb.as(ana).patch("/api/profile", { timeZone: null });
    expect((await kb.actor(ana)).timeZone).toBe("UTC");
    expect((await kb.as(ana).patch("/api/profile", { email: "x@y.test" })).status).toBe(400);
    const { audit } = kb.store.in(ana.workspaceId);
    expect(await audit.list({ limit: 9, action: "user.changed" })).toMatchObject([
      { details: { fields: ["timeZone"] } },
      { details: { fields: ["name", "timeZone"] } },
    ]);
  });
});

describe("changing a password", () => {
  test("test 33: ends the other sessions and the grants in every workspace, keeps this session and the person's tokens", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const there = await kb.addWorkspace("Other");
    await kb.store.in(there).members.insert({ userId: ana.userId, role: "member", joinedAt: kb.clock.now() });
    const others = [await kb.signIn(ana), await kb.signIn({ ...ana, workspaceId: there })];
    const bo = await kb.addMember(ana.workspaceId);
    await addGrant(kb, ana, "a");
    await addGrant(kb, { ...ana, workspaceId: there }, "b");
    await addGrant(kb, bo, "c");
    const pat = await kb.token(ana, ["kb:api"]);
    const body = { currentPassword: TEST_PASSWORD, newPassword: NEW_PASSWORD };
    expect((await kb.as(ana).post("/api/profile/password", body)).status).toBe(204);
    expect((await kb.as(ana).get("/api/session")).status).toBe(200);
    expect((await kb.withToken(pat).get("/api/session")).status).toBe(200);
    for (const other of others) expect((await kb.as(other).get("/api/session")).status).toBe(401);
    expect(await grantsOf(kb)).toEqual({ living: ["gra_c"], records: ["gra_c"] });
    expect((await kb.as(bo).get("/api/session")).status).toBe(200);
    await kb.deps.afterwards.idle();
    expect(mailbox.mails).toMatchObject([{ to: ana.email, subject: "Your password on 127.0.0.1:7700 was changed" }]);
    expect((await kb.anyone().post("/api/session", { email: ana.email, password: NEW_PASSWORD })).status).toBe(200);
  });

  test("needs the present one, which is throttled; a weak new one is refused", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const change = (currentPassword: string, newPassword = NEW_PASSWORD) =>
      kb.as(ana).post("/api/profile/password", { currentPassword, newPassword });
    expect(await change(TEST_PASSWORD, "short")).toMatchObject({ status: 422, json: { code: "password_too_weak" } });
    expect(await change("not it at all")).toMatchObject({
      status: 403,
      json: { code: "password_wrong", field: "currentPassword" },
    });
    for (let i = 0; i < 9; i++) await change("not it at all");
    expect((await change(TEST_PASSWORD)).status).toBe(429);
  });

  test("is for the person in a browser, never for a token", async ({ expect }) => {
    const kb = await makeServer();
    const token = kb.withToken(await kb.token(await kb.addOwner(), ["kb:admin"]));
    for (const path of ["/api/profile/password", "/api/profile/email", "/api/email-verification", "/api/sso/link"]) {
      expect((await token.post(path, {})).status).toBe(403);
    }
  });
});

describe("changing an address", () => {
  const change = (kb: TestServer, user: TestUser, email: string, password = TEST_PASSWORD) =>
    kb.as(user).post("/api/profile/email", { email, password });
  const confirm = (kb: TestServer, user: TestUser, token: string) =>
    kb.as(user).post("/api/email-verification/confirm", { token });

  test("with a mail server: the new one confirms, the old one is told, and links sent to the old one are dead", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    await kb.anyone().post("/api/password-reset", { email: ana.email });
    await kb.deps.afterwards.idle();
    const reset = mailbox.linkFor(ana.email);
    expect(await change(kb, ana, "new@acme.test")).toMatchObject({
      status: 200,
      json: { sent: true, user: { email: ana.email } },
    });
    await kb.deps.afterwards.idle();
    const done = await confirm(kb, ana, mailbox.linkFor("new@acme.test"));
    expect(done).toMatchObject({ status: 200, json: { purpose: "email_change", session: null } });
    expect((await kb.as(ana).get("/api/session")).json.user).toMatchObject({
      email: "new@acme.test",
      emailVerifiedAt: "2026-11-21T09:30:00.000Z",
    });
    await kb.deps.afterwards.idle();
    expect(mailbox.subjectsFor(ana.email)).toContain("Your address on 127.0.0.1:7700 was changed");
    const late = await kb.anyone().post("/api/password-reset/confirm", { token: reset, password: NEW_PASSWORD });
    expect(late.status).toBe(410);
  });

  test("test 39: with a mail server a taken address gets the same answer, and its owner is told", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const [free, taken] = [await change(kb, ana, "new@acme.test"), await change(kb, ana, bo.email)];
    expect(outside(free)).toEqual(outside(taken));
    await kb.deps.afterwards.idle();
    // Both go out at the same time, in any order.
    expect(mailbox.subjectsFor(bo.email)).toEqual(["You have an account on 127.0.0.1:7700"]);
    // Taken between the message and the click.
    const token = mailbox.linkFor("new@acme.test");
    await kb.addMember(ana.workspaceId, "member", "new@acme.test");
    expect((await confirm(kb, ana, token)).json.code).toBe("link_invalid");
  });

  test("without a mail server it counts at once and is unproved; a taken one is refused", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    await kb.store.users.markVerified(ana.userId, ana.email, kb.clock.now());
    expect(await change(kb, ana, bo.email)).toMatchObject({ status: 409, json: { code: "email_taken" } });
    expect(await change(kb, ana, "new@acme.test", "not it at all")).toMatchObject({ json: { code: "password_wrong" } });
    const changed = await change(kb, ana, "New@acme.test");
    expect(changed.json).toMatchObject({ sent: false, user: { email: "New@acme.test", emailVerifiedAt: null } });
    expect(await verifiedAt(kb, "new@acme.test")).toBeNull();
  });
});

describe("proving an address", () => {
  test("takes the mailed link in the person's session, once", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    expect((await kb.as(ana).post("/api/email-verification")).status).toBe(202);
    const token = mailbox.linkFor(ana.email);
    const confirm = () => kb.as(ana).post("/api/email-verification/confirm", { token });
    expect(await confirm()).toMatchObject({ status: 200, json: { purpose: "verification", session: null } });
    expect(await verifiedAt(kb, ana.email)).toEqual(kb.clock.now());
    expect((await confirm()).status).toBe(410);
    expect(await kb.as(ana).post("/api/email-verification")).toMatchObject({ json: { code: "already_verified" } });
  });

  test("says when no mail goes out, and when the mail server takes none", async ({ expect }) => {
    const bare = await makeServer();
    const ana = await bare.addOwner();
    expect(await bare.as(ana).post("/api/email-verification")).toMatchObject({
      status: 422,
      json: { code: "mail_not_configured" },
    });
    const { kb, mailbox } = await makeMailingServer();
    mailbox.breakDown();
    expect(await kb.as(await kb.addOwner()).post("/api/email-verification")).toMatchObject({
      status: 503,
      json: { code: "mail_failed" },
    });
  });
});

describe("identities", () => {
  test("are listed for their person alone", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const createdAt = kb.clock.now();
    const { userId } = ana;
    await kb.store.sso.insertIdentity({ issuer: "https://idp.test", subject: "1", userId, label: "ana", createdAt });
    expect((await kb.as(ana).get("/api/profile/identities")).json).toEqual({
      identities: [{ issuer: "https://idp.test", label: "ana", createdAt: "2026-11-21T09:30:00.000Z" }],
      nextCursor: null,
    });
    expect((await kb.as(bo).get("/api/profile/identities")).json.identities).toEqual([]);
  });
});

test("a change under way when the password is reset does not take the account back", async ({ expect }) => {
  const kb = await makeServer();
  const ana = await kb.addOwner();
  const actor = await kb.deps.sessions.findActor(ana.sessionSecret);
  if (!actor) throw new Error("The session must be alive.");
  const passwords = makePasswords(TEST_PASSWORD_COSTS);
  const resetHash = await passwords.hash("green ladder evening");
  const profile = makeProfileService({
    ...kb.deps,
    store: kb.store,
    passwords,
    throttle: makeNoThrottle(),
    links: makeLinkService({ ...kb.deps, store: kb.store, baseUrl: "http://127.0.0.1:7700" }),
    post: { canMail: false, send: async () => undefined, sendLater: () => undefined },
    sessions: {
      // The former password was right when it was looked at.
      async prove() {
        await kb.store.users.setPasswordHash(ana.userId, resetHash);
        return { userId: ana.userId };
      },
    },
  });
  const change = profile.changePassword(
    actor,
    { currentPassword: TEST_PASSWORD, newPassword: "the thief's own words" },
    { origin: { requestId: "req_1", clientIp: null }, userAgent: null, formerSecret: null },
  );
  await expect(change).rejects.toMatchObject({ code: "password_wrong" });
  expect((await kb.store.users.find(ana.userId))?.passwordHash).toBe(resetHash);
});
