import { describe, test } from "vitest";
import { makeServer, TEST_PASSWORD, type TestServer } from "../../../helpers.ts";
import type { Mailbox } from "../../../mailbox.ts";
import { makeMailingServer, verifiedAt } from "./people.ts";

const CEO = "ceo@corp.test";
const NEW_PASSWORD = "green ladder evening";
const tokenOf = (url: string) => url.slice(url.indexOf("#token=") + 7);

/** One way to be taken for somebody whose mailbox one does not read. */
type Bypass = (kb: TestServer, mailbox: Mailbox) => Promise<void>;

const invite = async (kb: TestServer) => {
  const mallory = await kb.addOwner();
  return kb.as(mallory).post("/api/workspace/invitations", { email: CEO, role: "member" });
};
const accept = (kb: TestServer, token: string, body = {}) =>
  kb.anyone().post("/api/invitations/accept", { token, name: "X", email: CEO, password: TEST_PASSWORD, ...body });

const WITHOUT_MAIL: Record<string, Bypass> = {
  "an invitation link that was handed over": async (kb) => {
    await accept(kb, tokenOf((await invite(kb)).json.url));
  },
  "the same, accepted with an account of the address": async (kb) => {
    const url = (await invite(kb)).json.url;
    await kb.addMember(await kb.addWorkspace(), "owner", CEO);
    await accept(kb, tokenOf(url));
  },
  "the same, accepted in a session": async (kb) => {
    const url = (await invite(kb)).json.url;
    const squatter = await kb.addMember(await kb.addWorkspace(), "owner", CEO);
    await kb.as(squatter).post("/api/invitations/accept", { token: tokenOf(url) });
  },
  "the first admin's own address": async (kb) => {
    const setupCode = await kb.deps.onboarding.makeSetupCode();
    const body = { setupCode, name: "X", email: CEO, password: TEST_PASSWORD, workspaceName: "X" };
    await kb.anyone().post("/api/onboarding", body);
  },
  "the address of the settings": async (kb) => {
    await kb.deps.onboarding.bootstrap({ email: CEO, password: TEST_PASSWORD });
  },
  "a reset link that an admin made": async (kb) => {
    const mallory = await kb.addOwner();
    const puppet = await kb.addMember(mallory.workspaceId, "member", CEO);
    const { json } = await kb.as(mallory).post(`/api/workspace/members/${puppet.userId}/password-reset`);
    await kb.anyone().post("/api/password-reset/confirm", { token: tokenOf(json.url), password: NEW_PASSWORD });
  },
  "a change of address": async (kb) => {
    const mallory = await kb.addOwner();
    await kb.store.users.markVerified(mallory.userId, mallory.email, kb.clock.now());
    await kb.as(mallory).post("/api/profile/email", { email: CEO, password: TEST_PASSWORD });
  },
};

/** The mailbox's owner opens what they did not ask for; the attacker has everything but the mailbox. */
const WITH_MAIL: Record<string, Bypass> = {
  "a link for an address that was changed since": async (kb, mailbox) => {
    const mallory = await kb.addOwner();
    await kb.as(mallory).post("/api/email-verification");
    const token = mailbox.linkFor(mallory.email);
    await kb.store.users.setEmail(mallory.userId, CEO, null);
    await kb.as(mallory).post("/api/email-verification/confirm", { token });
  },
  "a click of the mailbox's owner on a link for another's account": async (kb, mailbox) => {
    const squatter = await kb.addMember(await kb.addWorkspace(), "owner", CEO);
    await kb.as(squatter).post("/api/email-verification");
    await kb.anyone().post("/api/email-verification/confirm", { token: mailbox.linkFor(CEO) });
  },
  "the same click, by someone signed in as another person": async (kb, mailbox) => {
    const squatter = await kb.addMember(await kb.addWorkspace(), "owner", CEO);
    await kb.as(squatter).post("/api/email-verification");
    const token = mailbox.linkFor(CEO);
    await kb.as(await kb.addOwner()).post("/api/email-verification/confirm", { token });
  },
  "a click on a stranger's change to this address": async (kb, mailbox) => {
    const mallory = await kb.addOwner();
    await kb.as(mallory).post("/api/profile/email", { email: CEO, password: TEST_PASSWORD });
    await kb.deps.afterwards.idle();
    await kb.anyone().post("/api/email-verification/confirm", { token: mailbox.linkFor(CEO) });
  },
  "a click on a stranger's sign-up": async (kb, mailbox) => {
    const body = { name: "X", email: CEO, password: TEST_PASSWORD, workspaceName: "X" };
    await kb.anyone().post("/api/sign-up", body);
    await kb.deps.afterwards.idle();
    await kb.anyone().post("/api/email-verification/confirm", { token: mailbox.linkFor(CEO) });
  },
  "a link that is too old": async (kb, mailbox) => {
    const squatter = await kb.addMember(await kb.addWorkspace(), "owner", CEO);
    await kb.as(squatter).post("/api/email-verification");
    kb.clock.advance(86_400_000);
    await kb.as(squatter).post("/api/email-verification/confirm", { token: mailbox.linkFor(CEO) });
  },
  "a link of another purpose": async (kb, mailbox) => {
    const squatter = await kb.addMember(await kb.addWorkspace(), "owner", CEO);
    await kb.anyone().post("/api/password-reset", { email: CEO });
    await kb.deps.afterwards.idle();
    await kb.as(squatter).post("/api/email-verification/confirm", { token: mailbox.linkFor(CEO) });
  },
  "an address that only looks the same": async (kb, mailbox) => {
    // The Kelvin sign: NFKC and a careless lower-casing make a k of it.
    const mallory = await kb.addMember(await kb.addWorkspace(), "owner", "\u212Aim@corp.test");
    await kb.addMember(mallory.workspaceId, "member", "kim@corp.test");
    await kb.as(mallory).post("/api/email-verification");
    await kb.as(mallory).post("/api/email-verification/confirm", { token: mailbox.linkFor(mallory.email) });
  },
};

describe("S3: nothing but a mailbox's owner proves its address", () => {
  test.for(Object.entries(WITHOUT_MAIL))("not %s", async ([, bypass], { expect }) => {
    const kb = await makeServer();
    await bypass(kb, null as never);
    expect(await verifiedAt(kb, CEO)).toBeNull();
  });

  test.for(Object.entries(WITH_MAIL))("not %s", async ([, bypass], { expect }) => {
    const { kb, mailbox } = await makeMailingServer({ mode: "managed", signup: "open" });
    await bypass(kb, mailbox);
    expect((await verifiedAt(kb, CEO)) ?? null).toBeNull();
    expect((await verifiedAt(kb, "kim@corp.test")) ?? null).toBeNull();
  });

  test("but a mailed invitation that is accepted does, for a new account and for an old one", async ({ expect }) => {
    for (const hasAccount of [false, true]) {
      const { kb, mailbox } = await makeMailingServer();
      expect((await invite(kb)).json.url).toBeNull();
      if (hasAccount) await kb.addMember(await kb.addWorkspace(), "owner", CEO);
      expect((await accept(kb, mailbox.linkFor(CEO))).status).toBe(201);
      expect(await verifiedAt(kb, CEO)).toEqual(kb.clock.now());
    }
  });
});

describe("an address in a request", () => {
  test.for([
    "ceo@corp.test,mallory@evil.test",
    "ceo@corp.test;mallory@evil.test",
    "group:ceo@corp.test",
    "(comment)ceo@corp.test",
    "ceo\u200B@corp.test",
    "<ceo@corp.test>",
    "ceo@corp.test\r\nBcc: mallory@evil.test",
  ])("is one mailbox and nothing else: %j is refused", async (email, { expect }) => {
    const kb = await makeServer();
    const answer = await kb.anyone().post("/api/session", { email, password: TEST_PASSWORD });
    expect(answer).toMatchObject({ status: 400, json: { field: "email" } });
  });
});

test("who opens a link without being signed in is asked for the password of the account", async ({ expect }) => {
  const { kb, mailbox } = await makeMailingServer();
  const ana = await kb.addOwner();
  await kb.as(ana).post("/api/email-verification");
  const token = mailbox.linkFor(ana.email);
  const open = (body: object) => kb.anyone().post("/api/email-verification/confirm", { token, ...body });
  for (const body of [{}, { password: "not the password" }]) {
    expect(await open(body)).toMatchObject({ status: 403, json: { code: "password_needed" } });
  }
  expect(await verifiedAt(kb, ana.email)).toBeNull();
  expect((await open({ password: TEST_PASSWORD })).status).toBe(200);
});
