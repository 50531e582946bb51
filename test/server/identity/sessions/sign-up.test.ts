import { describe, test } from "vitest";
import { makeServer, TEST_PASSWORD } from "../../../helpers.ts";
import { verifies } from "../../../requirements.ts";
import { cookiesOf, makeMailingServer, outside, withCookies } from "./people.ts";

const BO = { name: "Bo", email: "bo@new.test", password: TEST_PASSWORD, workspaceName: "Bo & Co" };
const MANAGED = { mode: "managed", signup: "open" } as const;

describe("signing up on a server that sends email", () => {
  verifies(
    "service:managed-sign-up",
    "makes nothing until the link is opened in the same browser; then an account, a workspace and a session",
    async ({ expect }) => {
      const { kb, mailbox } = await makeMailingServer(MANAGED);
      const asked = await kb.anyone().post("/api/sign-up", { ...BO, timeZone: "Asia/Tokyo" });
      await kb.deps.afterwards.idle();
      expect(asked).toMatchObject({ status: 201, json: { sent: true } });
      expect(asked.headers.get("set-cookie")).toMatch(
        /^kb_sign_up=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/,
      );
      expect(await kb.store.users.findByEmail(BO.email)).toBeUndefined();
      expect(mailbox.mails).toMatchObject([{ to: BO.email, subject: "Confirm your account on 127.0.0.1:7700" }]);
      expect(mailbox.mails[0]?.text).toContain("http://127.0.0.1:7700/confirm#token=");

      const token = mailbox.linkFor(BO.email);
      const done = await kb
        .anyone()
        .request("POST", "/api/email-verification/confirm", { body: { token }, ...withCookies(asked) });
      expect(done).toMatchObject({
        status: 200,
        json: {
          purpose: "sign_up",
          session: {
            user: { email: BO.email, name: "Bo", emailVerifiedAt: "2026-11-21T09:30:00.000Z", timeZone: "Asia/Tokyo" },
            workspace: { name: "Bo & Co", timeZone: "Asia/Tokyo" },
            role: "owner",
          },
        },
      });
      // The browser is known for this person from now on, as after a sign-in with the password.
      expect(cookiesOf(done)).toMatch(/^kb_session=[\w-]{43}; kb_known=[\w-]{22}(?:\.[\w-]{22}){2}; kb_sign_up=$/);
      const again = await kb.anyone().request("GET", "/api/session", withCookies(done));
      expect(again.json).toEqual(done.json.session);
      expect(await kb.anyone().post("/api/email-verification/confirm", { token })).toMatchObject({
        status: 410,
        json: { code: "link_invalid" },
      });
    },
  );

  test("in another browser the link needs the password that was chosen: a stranger's click makes no account", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer(MANAGED);
    await kb.anyone().post("/api/sign-up", BO);
    await kb.deps.afterwards.idle();
    const token = mailbox.linkFor(BO.email);
    const confirm = (body: object) => kb.anyone().post("/api/email-verification/confirm", { token, ...body });
    expect(await confirm({})).toMatchObject({ status: 403, json: { code: "password_needed", field: "password" } });
    expect(await confirm({ password: "not the right one" })).toMatchObject({ json: { code: "password_needed" } });
    expect(await kb.store.users.findByEmail(BO.email)).toBeUndefined();
    expect(await confirm({ password: TEST_PASSWORD })).toMatchObject({ status: 200, json: { purpose: "sign_up" } });
  });

  test("test 39: known and unknown addresses get the same answer; the known one is told by mail and nothing changes", async ({
    expect,
  }) => {
    const { kb, mailbox } = await makeMailingServer(MANAGED);
    const ana = await kb.addOwner();
    const known = await kb.anyone().post("/api/sign-up", { ...BO, email: ana.email.toUpperCase() });
    const unknown = await kb.anyone().post("/api/sign-up", BO);
    expect(outside(known)).toEqual(outside(unknown));
    await kb.deps.afterwards.idle();
    expect(mailbox.mails.map(({ to, subject }) => ({ to, subject }))).toEqual([
      { to: ana.email, subject: "You have an account on 127.0.0.1:7700" },
      { to: BO.email, subject: "Confirm your account on 127.0.0.1:7700" },
    ]);
    expect(mailbox.mails[0]?.text).not.toContain("#token=");
    expect((await kb.anyone().post("/api/session", { email: ana.email, password: TEST_PASSWORD })).status).toBe(200);
  });

  test("test 39: the answer waits for no look-up, so its time says nothing either", async ({ expect }) => {
    const { kb } = await makeMailingServer(MANAGED);
    kb.store.users.findByEmail = () => new Promise(() => {});
    expect(await kb.anyone().post("/api/sign-up", BO)).toMatchObject({ status: 201, json: { sent: true } });
    expect(await kb.anyone().post("/api/password-reset", { email: BO.email })).toMatchObject({ status: 202 });
  });

  test("a mail server that is down changes nothing of the answer, and the log names no address", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer(MANAGED);
    mailbox.breakDown();
    expect(await kb.anyone().post("/api/sign-up", BO)).toMatchObject({ status: 201, json: { sent: true } });
    await kb.deps.afterwards.idle();
    const warned = kb.log.lines.filter(({ level }) => level === "warn");
    expect(warned).toMatchObject([{ message: "a sign-up failed" }]);
    expect(JSON.stringify(warned)).not.toContain(BO.email);
  });

  test("of two confirmed sign-ups of one address the first makes the account", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer(MANAGED);
    const password = "another good password";
    await kb.anyone().post("/api/sign-up", BO);
    await kb.deps.afterwards.idle();
    const first = mailbox.linkFor(BO.email);
    await kb.anyone().post("/api/sign-up", { ...BO, password });
    await kb.deps.afterwards.idle();
    const second = mailbox.linkFor(BO.email);
    const [one, two] = await Promise.all([
      kb.anyone().post("/api/email-verification/confirm", { token: first, password: TEST_PASSWORD }),
      kb.anyone().post("/api/email-verification/confirm", { token: second, password }),
    ]);
    expect([one.status, two.status].sort()).toEqual([200, 410]);
    expect(await kb.database.read.selectFrom("workspaces").select("workspaceId").execute()).toHaveLength(1);
  });

  test("a link ends after 24 hours; the database holds no secret and no plain password", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer(MANAGED);
    const asked = await kb.anyone().post("/api/sign-up", BO);
    await kb.deps.afterwards.idle();
    const token = mailbox.linkFor(BO.email);
    const rows = JSON.stringify(await kb.database.read.selectFrom("email_links").selectAll().execute());
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(TEST_PASSWORD);
    expect(rows).not.toContain(cookiesOf(asked).split("=")[1]);
    kb.clock.advance(86_400_000);
    expect((await kb.anyone().post("/api/email-verification/confirm", { token, password: TEST_PASSWORD })).status).toBe(
      410,
    );
  });
});

describe("signing up on a server without email", () => {
  test("is refused, alike for known and unknown addresses", async ({ expect }) => {
    const kb = await makeServer({ settings: MANAGED });
    const ana = await kb.addOwner();
    const known = await kb.anyone().post("/api/sign-up", { ...BO, email: ana.email });
    const unknown = await kb.anyone().post("/api/sign-up", BO);
    expect(known.json.code).toBe("mail_not_configured");
    expect(outside(unknown)).toEqual(outside(known));
  });
});

describe("signing up twice at once", () => {
  test("of 20 sign-ups of one address, one makes an account", async ({ expect }) => {
    const { kb, mailbox } = await makeMailingServer({ ...MANAGED, rateLimits: "off" });
    await Promise.all(Array.from({ length: 20 }, () => kb.anyone().post("/api/sign-up", BO)));
    await kb.deps.afterwards.idle();
    const tokens = mailbox.mails.flatMap(({ text }) => /#token=([\w-]{43})/.exec(text)?.[1] ?? []);
    expect(tokens).toHaveLength(20);
    const { password } = BO;
    const all = await Promise.all(
      tokens.map((token) => kb.anyone().post("/api/email-verification/confirm", { token, password })),
    );
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(all.filter(({ status }) => status !== 200).map(({ json }) => json.code))).toEqual(
      new Set(["link_invalid"]),
    );
    expect(await kb.database.read.selectFrom("workspaces").select("workspaceId").execute()).toHaveLength(1);
  });
});

describe("who may sign up", () => {
  test.for(["invite", "closed"] as const)("no one where it is %s", async (signup, { expect }) => {
    const kb = await makeServer({ settings: { signup } });
    expect(await kb.anyone().post("/api/sign-up", BO)).toMatchObject({ status: 403, json: { code: "sign_up_closed" } });
  });

  test("on one's own server no one before the first admin", async ({ expect }) => {
    const { kb } = await makeMailingServer({ signup: "open" });
    expect(await kb.anyone().post("/api/sign-up", BO)).toMatchObject({
      status: 409,
      json: { code: "onboarding_needed" },
    });
    await kb.store.installation.complete(kb.clock.now());
    expect((await kb.anyone().post("/api/sign-up", BO)).status).toBe(201);
  });

  test("a managed server with open sign-up has no first admin and no setup code", async ({ expect }) => {
    const kb = await makeServer({ settings: MANAGED });
    expect((await kb.anyone().get("/api/onboarding")).json).toEqual({
      needed: false,
      mode: "managed",
      signup: "open",
      sso: null,
      canMail: false,
    });
    expect(await kb.deps.onboarding.makeSetupCode()).toBeUndefined();
    const body = { ...BO, setupCode: "x" };
    expect(await kb.anyone().post("/api/onboarding", body)).toMatchObject({ json: { code: "onboarding_closed" } });
    const closed = await makeServer({ settings: { mode: "managed", signup: "invite" } });
    expect((await closed.anyone().get("/api/onboarding")).json.needed).toBe(true);
    expect(await closed.deps.onboarding.makeSetupCode()).toBeDefined();
  });

  test("someone whose last workspace removed them gets one of their own at sign-in, only where sign-up is open", async ({
    expect,
  }) => {
    for (const settings of [MANAGED, { signup: "invite" }] as const) {
      const kb = await makeServer({ settings });
      const ana = await kb.addOwner();
      const cy = await kb.addMember(ana.workspaceId);
      await kb.as(ana).delete(`/api/workspace/members/${cy.userId}`);
      const signedIn = await kb.anyone().post("/api/session", { email: cy.email, password: TEST_PASSWORD });
      if (settings.signup === "invite") expect(signedIn.status).toBe(403);
      else
        expect(signedIn).toMatchObject({
          status: 200,
          json: { role: "owner", workspace: { name: "Workspace of person2" } },
        });
    }
  });

  test("test 40: five tries a minute of one account, and of one address of the network", async ({ expect }) => {
    const { kb } = await makeMailingServer(MANAGED);
    const ask = (email: string, ip: string) =>
      kb.anyone().request("POST", "/api/sign-up", { body: { ...BO, email }, ip });
    const statuses = async (of: (i: number) => Promise<{ status: number }>) => {
      const all = [];
      for (let i = 0; i < 7; i++) all.push((await of(i)).status);
      return all;
    };
    expect(await statuses((i) => ask("bo@new.test", `10.0.0.${i}`))).toEqual([201, 201, 201, 201, 201, 429, 429]);
    expect(await statuses((i) => ask(`p${i}@new.test`, `2001:db8:1:2::${i + 1}`))).toEqual([
      201, 201, 201, 201, 201, 429, 429,
    ]);
  });
});
