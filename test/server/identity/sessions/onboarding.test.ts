import { describe, test } from "vitest";
import { makeServer, TEST_PASSWORD, type TestServer } from "../../../helpers.ts";
import { verifies } from "../../../requirements.ts";

const OWNER = { name: "Ana", email: "ana@acme.test", password: TEST_PASSWORD, workspaceName: "Acme" };

async function needCode(kb: TestServer): Promise<string> {
  const code = await kb.deps.onboarding.makeSetupCode();
  if (code === undefined) throw new Error("The installation is complete already.");
  return code;
}

describe("the first admin", () => {
  verifies(
    "service:self-hosted-first-admin",
    "is made with the setup code, whatever its case and dashes, and is signed in as owner",
    async ({ expect }) => {
      const kb = await makeServer();
      expect((await kb.anyone().get("/api/onboarding")).json).toEqual({
        needed: true,
        mode: "self-hosted",
        signup: "invite",
        sso: null,
        canMail: false,
      });
      const code = await needCode(kb);
      expect(code).toMatch(/^(?:[2-9a-kmnp-z]{4}-){6}[2-9a-kmnp-z]{2}$/);
      const setupCode = ` ${code.toUpperCase().replaceAll("-", "")} `;
      const made = await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode, timeZone: "Asia/Tokyo" });
      expect(made).toMatchObject({
        status: 201,
        json: {
          role: "owner",
          user: { email: OWNER.email, emailVerifiedAt: null },
          workspace: { name: "Acme", timeZone: "Asia/Tokyo" },
        },
      });
      expect(made.headers.get("set-cookie")).toMatch(/^kb_session=/);
      expect((await kb.anyone().get("/api/onboarding")).json).toMatchObject({ needed: false });
      expect(await kb.deps.onboarding.makeSetupCode()).toBeUndefined();
      const stored = await kb.database.read.selectFrom("installation").selectAll().execute();
      expect(stored).toMatchObject([{ setupCodeHash: null }]);
    },
  );

  test("test 41: 20 at once make one", async ({ expect }) => {
    const kb = await makeServer();
    const setupCode = await needCode(kb);
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        kb.anyone().post("/api/onboarding", { ...OWNER, email: `a${i}@acme.test`, setupCode }),
      ),
    );
    expect(all.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(new Set(all.filter((a) => a.status !== 201).map((a) => a.json.code))).toEqual(
      new Set(["onboarding_closed"]),
    );
    expect(await kb.database.read.selectFrom("users").select("userId").execute()).toHaveLength(1);
    expect(await kb.database.read.selectFrom("workspaces").select("workspaceId").execute()).toHaveLength(1);
  });

  test("test 41: stays the only one when every account is gone", async ({ expect }) => {
    const kb = await makeServer();
    await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode: await needCode(kb) });
    for (const table of ["sessions", "members", "users"] as const) await kb.database.write.deleteFrom(table).execute();
    expect((await kb.anyone().get("/api/onboarding")).json).toMatchObject({ needed: false });
    expect(await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode: "x" })).toMatchObject({ status: 409 });
  });

  test("ten wrong codes end the code and announce a new one", async ({ expect }) => {
    const announced: string[] = [];
    const kb = await makeServer({ announceSetupCode: (code) => announced.push(code) });
    const setupCode = await needCode(kb);
    for (let i = 0; i < 10; i++) {
      expect(await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode: `wrong${i}` })).toMatchObject({
        status: 403,
        json: { code: "setup_code_invalid", field: "setupCode" },
      });
    }
    expect(announced).toHaveLength(1);
    expect((await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode })).status).toBe(403);
    expect((await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode: announced[0] })).status).toBe(201);
  });

  test("a code ends after 24 hours, and when a newer one is made", async ({ expect }) => {
    const kb = await makeServer();
    const old = await needCode(kb);
    const code = await needCode(kb);
    expect((await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode: old })).status).toBe(403);
    kb.clock.advance(86_400_000);
    expect((await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode: code })).status).toBe(403);
  });

  test("test 41: without any code nothing is right", async ({ expect }) => {
    const kb = await makeServer();
    expect((await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode: "undefined" })).status).toBe(403);
  });

  test("a weak password is refused and the code stays good", async ({ expect }) => {
    const kb = await makeServer();
    const setupCode = await needCode(kb);
    expect(await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode, password: "short" })).toMatchObject({
      status: 422,
      json: { code: "password_too_weak", field: "password" },
    });
    expect((await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode })).status).toBe(201);
  });

  test("the code is in no log", async ({ expect }) => {
    const kb = await makeServer();
    const setupCode = await needCode(kb);
    await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode });
    expect(JSON.stringify(kb.log.lines)).not.toContain(setupCode);
    expect(JSON.stringify(kb.log.lines)).not.toContain(TEST_PASSWORD);
  });

  test.for([
    ["no workspace name", { workspaceName: undefined }, "workspaceName"],
    ["an unknown key", { role: "owner" }, "role"],
    ["a wrong type", { setupCode: 5 }, "setupCode"],
    ["a name with a hidden direction mark", { name: "Ana\u202E" }, "name"],
  ] as const)("refuses %s", async ([, change, field], { expect }) => {
    const kb = await makeServer();
    const answer = await kb.anyone().post("/api/onboarding", { ...OWNER, setupCode: "x", ...change });
    expect(answer).toMatchObject({ status: 400, json: { field } });
  });
});

describe("the first admin by settings", () => {
  const admin = { email: "admin@localhost", password: TEST_PASSWORD };

  test("is made once; afterwards the settings are ignored with a warning", async ({ expect }) => {
    const kb = await makeServer();
    expect(await kb.deps.onboarding.bootstrap(admin)).toBe(true);
    expect((await kb.anyone().post("/api/session", admin)).json).toMatchObject({ role: "owner" });
    expect(await kb.deps.onboarding.bootstrap({ ...admin, email: "eve@localhost" })).toBe(false);
    expect(kb.log.lines.filter((line) => line.level === "warn")).toHaveLength(1);
    expect(await kb.database.read.selectFrom("users").select("email").execute()).toEqual([{ email: admin.email }]);
  });

  test("obeys the password policy and is not for managed mode", async ({ expect }) => {
    const kb = await makeServer();
    await expect(kb.deps.onboarding.bootstrap({ ...admin, password: "short" })).rejects.toMatchObject({
      code: "password_too_weak",
    });
    const managed = await makeServer({ settings: { mode: "managed" } });
    await expect(managed.deps.onboarding.bootstrap(admin)).rejects.toMatchObject({ code: "settings_invalid" });
  });
});
