import { describe, test } from "vitest";
import { makeHostAdminService } from "#server/identity/sessions/host-admin.ts";
import { makePasswords } from "#server/identity/sessions/passwords.ts";
import { makeServer, TEST_PASSWORD, TEST_PASSWORD_COSTS, type TestServer } from "../../../helpers.ts";

const NEW_PASSWORD = "green lamp evening";
const SECOND = { name: "Bo", email: "bo@acme.test", password: TEST_PASSWORD, workspaceName: "Bo's" };

function hostOf(kb: TestServer) {
  const { store, clock, accounts, onboarding, audit } = kb.deps;
  return makeHostAdminService({
    store,
    clock,
    accounts,
    onboarding,
    audit,
    passwords: makePasswords(TEST_PASSWORD_COSTS),
  });
}

/** An installation with its first admin. */
async function makeSetUp(settings = {}) {
  const kb = await makeServer({ settings });
  const owner = await kb.addOwner("Acme");
  await kb.store.installation.complete(kb.clock.now());
  return { ...kb, owner };
}

const actionsOf = async (kb: TestServer, workspaceId: string) =>
  (await kb.store.in(workspaceId).audit.list({ limit: 50 })).map((row) => row.action);

describe("a password that the operator sets", () => {
  test("opens the account, ends every credential it had, and is in the audit", async ({ expect }) => {
    const kb = await makeSetUp();
    const token = await kb.token(kb.owner);
    await hostOf(kb).setPassword("PERSON1@acme.test", NEW_PASSWORD);
    const signIn = (password: string) => kb.anyone().post("/api/session", { email: kb.owner.email, password });
    expect((await signIn(TEST_PASSWORD)).status).toBe(401);
    expect((await signIn(NEW_PASSWORD)).status).toBe(200);
    expect((await kb.as(kb.owner).get("/api/session")).status).toBe(401);
    expect((await kb.withToken(token).get("/api/connectors/search?query=x")).status).toBe(401);
    expect(await actionsOf(kb, kb.owner.workspaceId)).toContain("user.password_set");
  });

  test("is told to its person at each sign-in after it", async ({ expect }) => {
    const kb = await makeSetUp();
    await hostOf(kb).setPassword(kb.owner.email, NEW_PASSWORD);
    const at = new Date(kb.clock.now()).toISOString();
    const signIn = () => kb.anyone().post("/api/session", { email: kb.owner.email, password: NEW_PASSWORD });
    const told = [{ type: "password_set", at, by: null }];
    expect([(await signIn()).json.notices, (await signIn()).json.notices]).toEqual([told, told]);
    kb.clock.advance(91 * 86_400_000);
    expect((await signIn()).json.notices).toEqual([]);
  });

  test("is as strong as every other", async ({ expect }) => {
    const kb = await makeSetUp();
    await expect(hostOf(kb).setPassword(kb.owner.email, "short")).rejects.toMatchObject({ code: "password_too_weak" });
    expect((await kb.as(kb.owner).get("/api/session")).status).toBe(200);
  });

  test("for an address that no one has names the owners", async ({ expect }) => {
    const kb = await makeSetUp();
    await kb.addMember(kb.owner.workspaceId);
    await expect(hostOf(kb).setPassword("who@acme.test", NEW_PASSWORD)).rejects.toMatchObject({
      code: "not_found",
      hint: `Owners: ${kb.owner.email}.`,
    });
  });
});

describe("setup", () => {
  test("gives a code while there is no first admin, and says what else there is afterwards", async ({ expect }) => {
    const kb = await makeServer();
    const setupCode = await hostOf(kb).makeSetupCode();
    expect((await kb.anyone().post("/api/onboarding", { ...SECOND, setupCode })).status).toBe(201);
    await expect(hostOf(kb).makeSetupCode()).rejects.toMatchObject({
      code: "onboarding_closed",
      hint: expect.stringContaining("kb admin set-password"),
    });
  });

  test("that is reopened makes one more owner of the workspace, once, and is in its audit", async ({ expect }) => {
    const kb = await makeSetUp();
    const setupCode = await hostOf(kb).reopenSetup();
    // Anyone who signs in meanwhile is not sent to the setup.
    expect((await kb.anyone().get("/api/onboarding")).json.needed).toBe(false);
    const [first, second] = await Promise.all([
      kb.anyone().post("/api/onboarding", { ...SECOND, setupCode }),
      kb.anyone().post("/api/onboarding", { ...SECOND, email: "cy@acme.test", setupCode }),
    ]);
    const made = [first, second].find((answer) => answer?.status === 201);
    expect([first?.status, second?.status].toSorted()).toEqual([201, 409]);
    expect(made?.json).toMatchObject({ role: "owner", workspace: { id: kb.owner.workspaceId, name: "Acme" } });
    expect(await actionsOf(kb, kb.owner.workspaceId)).toEqual(
      expect.arrayContaining(["installation.reopened", "installation.completed"]),
    );
    // The first owner stays what they were.
    expect((await kb.as(kb.owner).get("/api/session")).json.role).toBe("owner");
  });

  test("that is reopened closes after an hour, and after ten wrong codes", async ({ expect }) => {
    const kb = await makeSetUp({ rateLimits: "off" });
    const late = await hostOf(kb).reopenSetup();
    kb.clock.advance(3_600_001);
    const tooLate = await kb.anyone().post("/api/onboarding", { ...SECOND, setupCode: late });
    expect(tooLate).toMatchObject({ status: 409, json: { code: "onboarding_closed" } });
    const setupCode = await hostOf(kb).reopenSetup();
    for (let i = 0; i < 10; i++) await kb.anyone().post("/api/onboarding", { ...SECOND, setupCode: "2222" });
    expect((await kb.anyone().post("/api/onboarding", { ...SECOND, setupCode })).status).toBe(409);
  });

  test("is not reopened where workspaces belong to strangers, nor before it was closed", async ({ expect }) => {
    const managed = await makeSetUp({ mode: "managed", signup: "open" });
    await expect(hostOf(managed).reopenSetup()).rejects.toMatchObject({ code: "onboarding_closed" });
    const fresh = await makeServer();
    await expect(hostOf(fresh).reopenSetup()).rejects.toMatchObject({ code: "onboarding_needed" });
  });
});
