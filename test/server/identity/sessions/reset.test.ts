import { describe, test } from "vitest";
import { makeServer, TEST_PASSWORD, type TestServer, type TestUser } from "../../../helpers.ts";
import { makeMailingServer, outside, verifiedAt } from "./people.ts";

const NEW_PASSWORD = "green ladder evening";
const confirm = (kb: TestServer, token: string, password = NEW_PASSWORD) =>
  kb.anyone().post("/api/password-reset/confirm", { token, password });
const signIn = async (kb: TestServer, { email }: TestUser, password: string) =>
  (await kb.anyone().post("/api/session", { email, password })).status;
const tokenOf = (url: string) => url.slice(url.indexOf("#token=") + 7);

describe("a password reset by mail", () => {
  test("sets the new password, ends every other credential, proves the address, signs in, and is told and audited", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const elsewhere = await kb.signIn(ana);
    const pat = await kb.token(ana);
    expect(await kb.anyone().post("/api/password-reset", { email: ana.email.toUpperCase() })).toMatchObject({
      status: 202,
      json: { sent: true },
    });
    await kb.deps.afterwards.idle();
    expect(mailbox.mails[0]?.text).toContain("http://127.0.0.1:7700/reset-password#token=");
    const token = mailbox.linkFor(ana.email);
    const done = await confirm(kb, token);
    expect(done).toMatchObject({ status: 200, json: { user: { id: ana.userId }, role: "owner" } });
    expect(done.headers.get("set-cookie")).toMatch(/^kb_session=/);
    for (const dead of [kb.as(ana), kb.as(elsewhere), kb.withToken(pat)]) {
      expect((await dead.get("/api/session")).status).toBe(401);
    }
    expect([await signIn(kb, ana, TEST_PASSWORD), await signIn(kb, ana, NEW_PASSWORD)]).toEqual([401, 200]);
    expect(await verifiedAt(kb, ana.email)).toEqual(kb.clock.now());
    await kb.deps.afterwards.idle();
    expect(mailbox.mails.at(-1)).toMatchObject({
      to: ana.email,
      subject: "Your password on 127.0.0.1:7700 was changed",
    });
    const acts = await kb.store.in(ana.workspaceId).audit.list({ limit: 20, action: "user.password_reset" });
    expect(acts).toMatchObject([{ actorUserId: ana.userId, targetId: ana.userId, details: { isMailed: true } }]);
    expect((await confirm(kb, token)).json.code).toBe("link_invalid");
  });

  test("test 39: an unknown address gets the same answer and no mail", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const known = await kb.anyone().post("/api/password-reset", { email: ana.email });
    const unknown = await kb.anyone().post("/api/password-reset", { email: "nobody@acme.test" });
    expect(outside(known)).toEqual(outside(unknown));
    await kb.deps.afterwards.idle();
    expect(mailbox.mails.map(({ to }) => to)).toEqual([ana.email]);
  });

  test("a link works once, for an hour, for one of several at once, and not for a weak password", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const ask = async () => {
      await kb.anyone().post("/api/password-reset", { email: ana.email });
      await kb.deps.afterwards.idle();
      return mailbox.linkFor(ana.email);
    };
    const [old, token] = [await ask(), await ask()];
    expect(await confirm(kb, token, "short")).toMatchObject({ status: 422, json: { field: "password" } });
    const all = await Promise.all(Array.from({ length: 5 }, () => confirm(kb, token)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410, 410]);
    expect((await confirm(kb, old)).status).toBe(410);
    const late = await ask();
    kb.clock.advance(3_600_000);
    expect((await confirm(kb, late)).status).toBe(410);
    expect((await confirm(kb, "made-up")).status).toBe(410);
  });

  test("takes away identities that were linked while the address was unproved: they may be a stranger's", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer();
    const createdAt = kb.clock.now();
    const [squatted, proved] = [await kb.addOwner("One"), await kb.addOwner("Two")];
    await kb.store.users.markVerified(proved.userId, proved.email, createdAt);
    for (const { userId } of [squatted, proved]) {
      await kb.store.sso.insertIdentity({ issuer: "https://idp.test", subject: userId, userId, label: "x", createdAt });
    }
    for (const user of [squatted, proved]) {
      await kb.anyone().post("/api/password-reset", { email: user.email });
      await kb.deps.afterwards.idle();
      expect((await confirm(kb, mailbox.linkFor(user.email))).status).toBe(200);
    }
    expect(await kb.store.sso.identitiesOf(squatted.userId)).toEqual([]);
    expect(await kb.store.sso.identitiesOf(proved.userId)).toHaveLength(1);
  });

  test("takes away an identity that was linked to the account later: the holder of a session may have done it", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const { userId } = ana;
    const issuer = "https://idp.test";
    await kb.store.users.markVerified(userId, ana.email, kb.clock.now());
    await kb.store.sso.insertIdentity({
      issuer,
      subject: "own",
      userId,
      label: "x",
      createdAt: kb.clock.now(),
    });
    kb.clock.advance(86_400_000);
    await kb.store.sso.insertIdentity({
      issuer,
      subject: "thief",
      userId,
      label: "x",
      createdAt: kb.clock.now(),
    });
    await kb.anyone().post("/api/password-reset", { email: ana.email });
    await kb.deps.afterwards.idle();
    expect((await confirm(kb, mailbox.linkFor(ana.email))).status).toBe(200);
    expect(await kb.store.sso.identitiesOf(userId)).toMatchObject([{ subject: "own" }]);
  });

  test("test 40: is throttled per account and per network; without a mail server it says so", async ({ expect }) => {
    const { kb } = await makeMailingServer();
    const ask = async (email: string, ip: string) =>
      (await kb.anyone().request("POST", "/api/password-reset", { body: { email }, ip })).status;
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push(await ask("a@x.test", `10.0.0.${i}`));
    for (let i = 0; i < 6; i++) statuses.push(await ask(`a${i}@x.test`, `2001:db8:1:2::${i}`));
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429, 202, 202, 202, 202, 202, 429]);
    const bare = await makeServer();
    expect(await bare.anyone().post("/api/password-reset", { email: "a@x.test" })).toMatchObject({
      status: 422,
      json: { code: "mail_not_configured", hint: "Ask an owner of your workspace for a link." },
    });
  });
});

describe("the link of a reset, before a password is chosen", () => {
  const check = (kb: TestServer, token: string) => kb.anyone().post("/api/password-reset/check", { token });

  test("tells whose it is, as often as it is opened, and no cache keeps it", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    await kb.anyone().post("/api/password-reset", { email: ana.email });
    await kb.deps.afterwards.idle();
    const token = mailbox.linkFor(ana.email);
    for (let times = 0; times < 70; times++) expect((await check(kb, token)).status).toBe(200);
    const shown = await check(kb, token);
    expect(shown.json).toEqual({ email: ana.email, expiresAt: "2026-11-21T10:30:00.000Z" });
    expect(shown.headers.get("cache-control")).toBe("no-store");
    expect((await confirm(kb, token)).status).toBe(200);
  });

  test("gives one answer for an unknown, a used, an expired one and one of another purpose", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const ask = async () => {
      await kb.anyone().post("/api/password-reset", { email: ana.email });
      await kb.deps.afterwards.idle();
      return mailbox.linkFor(ana.email);
    };
    await kb.as(ana).post("/api/email-verification");
    await kb.deps.afterwards.idle();
    const other = mailbox.linkFor(ana.email);
    const used = await ask();
    await confirm(kb, used);
    const expired = await ask();
    kb.clock.advance(3_600_000);
    const confirmed = await confirm(kb, "made-up");
    expect(confirmed).toMatchObject({ status: 410, json: { code: "link_invalid" } });
    for (const token of ["made-up", used, expired, other]) {
      expect(outside(await check(kb, token))).toEqual(outside(confirmed));
    }
  });

  test("is over when its maker no longer may hold it", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const made = await kb.as(ana).post(`/api/workspace/members/${bo.userId}/password-reset`);
    const token = tokenOf(made.json.url);
    expect((await check(kb, token)).json).toMatchObject({ email: bo.email });
    // Bo joins a workspace that Ana does not own: their account is no longer hers to open.
    const elsewhere = await kb.addWorkspace("Elsewhere");
    await kb.store.in(elsewhere).members.insert({ userId: bo.userId, role: "member", joinedAt: kb.clock.now() });
    expect(await check(kb, token)).toMatchObject({ status: 410, json: { code: "link_invalid" } });
  });
});

describe("a reset link made for a member", () => {
  const ask = (kb: TestServer, by: TestUser, { userId }: TestUser) =>
    kb.as(by).post(`/api/workspace/members/${userId}/password-reset`);

  test("without a mail server is handed over: it proves no address, and ends sessions, tokens, links and identities", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const pat = await kb.token(bo);
    const createdAt = kb.clock.now();
    const { userId } = bo;
    await kb.store.sso.insertIdentity({ issuer: "https://idp.test", subject: "bo", userId, label: "x", createdAt });
    const made = await ask(kb, ana, bo);
    expect(made).toMatchObject({ status: 201, json: { expiresAt: "2026-11-22T09:30:00.000Z" } });
    expect(made.json.url).toMatch(/^http:\/\/127\.0\.0\.1:7700\/reset-password#token=[\w-]{43}$/);
    // Not before it is used.
    expect((await kb.withToken(pat).get("/api/workspaces")).status).not.toBe(401);
    const other = tokenOf((await ask(kb, ana, bo)).json.url);
    expect((await confirm(kb, tokenOf(made.json.url))).json).toMatchObject({
      user: { id: userId, emailVerifiedAt: null },
    });
    expect((await kb.as(bo).get("/api/session")).status).toBe(401);
    expect((await kb.withToken(pat).get("/api/workspaces")).status).toBe(401);
    expect((await confirm(kb, other)).status).toBe(410);
    expect(await kb.store.sso.identitiesOf(userId)).toEqual([]);
    const { audit } = kb.store.in(ana.workspaceId);
    expect(await audit.list({ limit: 9, action: "member.reset_link_made" })).toMatchObject([
      { actorUserId: ana.userId, targetId: userId },
      { actorUserId: ana.userId, targetId: userId },
    ]);
    expect(await audit.list({ limit: 9, action: "user.password_reset" })).toMatchObject([
      { targetId: userId, details: { isMailed: false, madeBy: ana.userId } },
    ]);
  });

  test("with a mail server goes to the member, names who made it, and is shown to no one", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    expect(await ask(kb, ana, bo)).toMatchObject({ status: 201, json: { url: null } });
    expect(mailbox.mails).toMatchObject([{ to: bo.email }]);
    expect(mailbox.mails[0]?.text).toContain("person1 created this link for you.");
    expect((await confirm(kb, mailbox.linkFor(bo.email))).status).toBe(200);
    await kb.deps.afterwards.idle();
    expect(mailbox.mails.at(-1)?.text).toContain("with a link that an admin created");
    mailbox.breakDown();
    expect(await ask(kb, ana, bo)).toMatchObject({ status: 503, json: { code: "mail_failed" } });
  });

  test("a token gets none for an admin or an owner to hold; for a member it does", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const token = kb.withToken(await kb.token(ana, ["kb:admin"]));
    const statuses = [];
    for (const role of ["owner", "admin", "member"] as const) {
      const { userId } = await kb.addMember(ana.workspaceId, role);
      statuses.push((await token.post(`/api/workspace/members/${userId}/password-reset`)).status);
    }
    expect(statuses).toEqual([403, 403, 201]);
  });

  test("five a minute for one person, so that no one is flooded with mail", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await ask(kb, ana, bo)).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
    expect(mailbox.mails).toHaveLength(5);
  });

  test("S22: is shown to no one who does not own every workspace of its person", async ({ expect }) => {
    const kb = await makeServer();
    const [mallory, victim] = [await kb.addOwner("Trap"), await kb.addOwner("Home")];
    const at = kb.clock.now();
    await kb.store.in(mallory.workspaceId).members.insert({ userId: victim.userId, role: "member", joinedAt: at });
    expect(await ask(kb, mallory, victim)).toMatchObject({ status: 403, json: { code: "role_too_low" } });
    await kb.store.in(victim.workspaceId).members.insert({ userId: mallory.userId, role: "owner", joinedAt: at });
    expect((await ask(kb, mallory, victim)).status).toBe(201);
    expect(await ask(kb, mallory, mallory)).toMatchObject({ status: 403, json: { code: "forbidden" } });
  });

  test("is carried by hand by an owner only, and its person is told at each sign-in for a day", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const eve = await kb.addMember(ana.workspaceId, "admin");
    const bob = await kb.addMember(ana.workspaceId);
    expect(await ask(kb, eve, bob)).toMatchObject({ status: 403, json: { code: "role_too_low" } });
    expect((await kb.as(bob).get("/api/session")).json.notices).toEqual([]);
    expect((await ask(kb, ana, bob)).status).toBe(201);
    const told = [{ type: "reset_link_made", at: "2026-11-21T09:30:00.000Z", by: "person1" }];
    expect((await kb.as(bob).get("/api/session")).json.notices).toEqual(told);
    kb.clock.advance(2 * 86_400_000);
    expect((await kb.as(bob).get("/api/session")).json.notices).toEqual([]);
    const signIn = () => kb.anyone().post("/api/session", { email: bob.email, password: TEST_PASSWORD });
    expect((await signIn()).json.notices).toEqual(told);
    // Told again: the person who signed in with the link may have been the one who was told.
    expect((await signIn()).json.notices).toEqual(told);
    kb.clock.advance(90 * 86_400_000);
    expect((await signIn()).json.notices).toEqual([]);
  });

  test("S22: is over once its maker was removed or demoted, or its person has a workspace elsewhere", async ({
    expect,
  }) => {
    const changes: ((kb: TestServer, who: Record<"ana" | "eve" | "bob", TestUser>) => Promise<unknown>)[] = [
      (kb, { ana, eve }) => kb.as(ana).delete(`/api/workspace/members/${eve.userId}`),
      (kb, { ana, eve }) => kb.as(ana).patch(`/api/workspace/members/${eve.userId}`, { role: "admin" }),
      (kb, { bob }) => kb.as(bob).post("/api/workspaces", { name: "Own" }),
      (kb, { eve }) => kb.as(eve).patch("/api/profile", { name: "Eva" }),
    ];
    const outcomes: number[] = [];
    for (const change of changes) {
      const kb = await makeServer({ settings: { signup: "open" } });
      const ana = await kb.addOwner();
      const eve = await kb.addMember(ana.workspaceId, "owner");
      const bob = await kb.addMember(ana.workspaceId);
      const { json } = await ask(kb, eve, bob);
      await change(kb, { ana, eve, bob });
      outcomes.push((await confirm(kb, tokenOf(json.url))).status);
    }
    expect(outcomes).toEqual([410, 410, 410, 200]);
  });
});
