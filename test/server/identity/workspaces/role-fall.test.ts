import { readFileSync } from "node:fs";
import { describe, test } from "vitest";
import type { Role } from "#api/common.ts";
import { ROLE_FALL } from "#storage/records/role-fall.ts";
import { makeServer, TEST_PASSWORD, type TestAnswer, type TestServer, type TestUser } from "../../../helpers.ts";
import { CLI_REDIRECT, startServer } from "../oauth/harness.ts";
import { withCookies } from "../sessions/people.ts";

/** How a role falls: by whom, from what, to what. */
const FALLS = [
  ["owner", "admin"],
  ["owner", "member"],
  ["admin", "member"],
  ["owner", null],
  ["admin", null],
] as const satisfies readonly (readonly [Role, Role | null])[];
type Fall = (typeof FALLS)[number];

async function fall(kb: TestServer, by: TestUser, who: TestUser, to: Role | null): Promise<void> {
  const path = `/api/workspace/members/${who.userId}`;
  const { status, text } = to === null ? await kb.as(by).delete(path) : await kb.as(by).patch(path, { role: to });
  if (status >= 300) throw new Error(text);
}

/** The one who falls, beside an owner who stays. */
async function makeCast(kb: TestServer, [from]: Fall) {
  const boss = await kb.addOwner();
  const who = await kb.addMember(boss.workspaceId, from);
  const mate = await kb.addMember(boss.workspaceId, "member");
  return { boss, who, mate };
}

const tokenOf = (url: string) => url.slice(url.indexOf("token=") + 6);

/** Accepts an invitation as somebody new. */
const accept = (kb: TestServer, url: string, email: string) =>
  kb.anyone().post("/api/invitations/accept", { token: tokenOf(url), email, name: "New", password: TEST_PASSWORD });

const invite = async (kb: TestServer, who: TestUser, email: string, role: Role): Promise<string> =>
  (await kb.as(who).post("/api/workspace/invitations", { email, role })).json.url;

describe("what a fallen role leaves behind", () => {
  test.for(FALLS)("invitations of an %s who becomes %s: those they couldn't make now end", async (way, { expect }) => {
    const kb = await makeServer();
    const { boss, who } = await makeCast(kb, way);
    const [from, to] = way;
    const roles = from === "owner" ? (["admin", "member"] as const) : (["member"] as const);
    const urls = new Map<Role, string>();
    for (const role of roles) urls.set(role, await invite(kb, who, `${role}@new.test`, role));
    await fall(kb, boss, who, to);
    for (const [role, url] of urls) {
      const stays = to === "admin" && role === "member";
      const check = await kb.anyone().post("/api/invitations/check", { token: tokenOf(url) });
      expect(check.status, role).toBe(stays ? 200 : 410);
      expect(await accept(kb, url, `${role}@new.test`), role).toMatchObject(
        stays ? { status: 201 } : { status: 410, json: { code: "invitation_invalid" } },
      );
    }
    const open = (await kb.as(boss).get("/api/workspace/invitations")).json.invitations;
    expect(open.map((one: { role: Role }) => one.role)).toEqual(to === "admin" ? ["member"] : []);
    // And the role coming back brings none of them back.
    if (to === null) return;
    await kb.as(boss).patch(`/api/workspace/members/${who.userId}`, { role: from });
    const again = urls.get(roles[0]);
    if (again !== undefined) expect((await accept(kb, again, `${roles[0]}@new.test`)).status).toBe(410);
  });

  test("an invitation of a fall before is refused and ended when it is used, by its link", async ({ expect }) => {
    const kb = await makeServer();
    const { boss, who } = await makeCast(kb, ["admin", "member"]);
    const url = await invite(kb, who, "x@new.test", "member");
    // As a program before left it: the role fell, and nothing else happened.
    await kb.database.write.updateTable("members").set({ role: "member" }).where("userId", "=", who.userId).execute();
    expect(await accept(kb, url, "x@new.test")).toMatchObject({ status: 410, json: { code: "invitation_invalid" } });
    expect((await kb.as(boss).get("/api/workspace/invitations")).json.invitations).toEqual([]);
    const [row] = (await kb.as(boss).get("/api/audit?action=invitation.withdrawn")).json.entries;
    expect(row).toMatchObject({ details: { reason: "inviter_role", role: "member" } });
  });

  test.for(FALLS)("password links that an %s holds who becomes %s end", async (way, { expect }) => {
    const kb = await makeServer();
    const { boss, who, mate } = await makeCast(kb, way);
    const [from, to] = way;
    if (from !== "owner") return;
    const { url } = (await kb.as(who).post(`/api/workspace/members/${mate.userId}/password-reset`)).json;
    const other = (await kb.as(boss).post(`/api/workspace/members/${mate.userId}/password-reset`)).json.url;
    const check = (link: string) => kb.anyone().post("/api/password-reset/check", { token: tokenOf(link) });
    expect((await check(url)).status).toBe(200);
    await fall(kb, boss, who, to);
    expect((await check(url)).status).toBe(410);
    if (to !== null) await kb.as(boss).patch(`/api/workspace/members/${who.userId}`, { role: "owner" });
    expect((await check(url)).status).toBe(410);
    expect((await check(other)).status).toBe(200);
  });

  test.for(FALLS)(
    "tokens of an %s who becomes %s keep what the new role may, and no more later",
    async (way, { expect }) => {
      const kb = await makeServer();
      const { boss, who } = await makeCast(kb, way);
      const [from, to] = way;
      const admin = await kb.token(who, ["kb:admin", "mcp:read"]);
      const plain = await kb.token(who, ["kb:api"]);
      await fall(kb, boss, who, to);
      const status = async (token: string, path: string) => (await kb.withToken(token).get(path)).status;
      if (to === null) {
        expect([await status(admin, "/api/workspace"), await status(plain, "/api/workspace")]).toEqual([401, 401]);
        return;
      }
      expect([await status(admin, "/api/workspace"), await status(plain, "/api/workspace")]).toEqual([200, 200]);
      expect(await status(admin, "/api/audit")).toBe(to === "admin" ? 200 : 403);
      await kb.as(boss).patch(`/api/workspace/members/${who.userId}`, { role: from });
      expect(await status(admin, "/api/audit")).toBe(to === "admin" ? 200 : 403);
      const scopes = (await kb.as(who).get("/api/api-tokens")).json.tokens.map(
        (one: { scopes: string[] }) => one.scopes,
      );
      expect(scopes).toContainEqual(to === "admin" ? ["kb:admin", "mcp:read"] : ["kb:api", "mcp:read"]);
      // A new one has what the role that came back may.
      expect(await status(await kb.token(who, ["kb:admin"]), "/api/audit")).toBe(200);
    },
  );

  test("sessions follow the role of their own workspace", async ({ expect }) => {
    const kb = await makeServer();
    const { boss, who } = await makeCast(kb, ["owner", "member"]);
    const elsewhere = (await kb.as(who).post("/api/workspaces", { name: "Own" })).json.workspace.id;
    await fall(kb, boss, who, "member");
    expect((await kb.as(who).get("/api/audit")).status).toBe(403);
    const browser = kb.anyone();
    const audit = async (cookies: TestAnswer) =>
      (await browser.request("GET", "/api/audit", withCookies(cookies))).status;
    const there = await kb.as(who).post("/api/session/workspace", { workspaceId: elsewhere });
    expect(await audit(there)).toBe(200);
    const back = { body: { workspaceId: who.workspaceId }, ...withCookies(there) };
    expect(await audit(await browser.request("POST", "/api/session/workspace", back))).toBe(403);
  });

  test("who demotes themselves or leaves loses the same", async ({ expect }) => {
    const kb = await makeServer();
    const { who } = await makeCast(kb, ["owner", "member"]);
    const url = await invite(kb, who, "x@new.test", "admin");
    await fall(kb, who, who, "member");
    expect((await accept(kb, url, "x@new.test")).status).toBe(410);
  });

  test("the audit counts what ended", async ({ expect }) => {
    const kb = await makeServer();
    const { boss, who } = await makeCast(kb, ["owner", "member"]);
    await invite(kb, who, "a@new.test", "admin");
    await invite(kb, who, "b@new.test", "member");
    await kb.token(who, ["kb:admin"]);
    await fall(kb, boss, who, "member");
    const [row] = (await kb.as(boss).get("/api/audit?action=member.role_changed")).json.entries;
    expect(row.details).toEqual({ from: "owner", to: "member", ended: { invitations: 2, tokens: 1 } });
  });

  test("a role that rises ends nothing", async ({ expect }) => {
    const kb = await makeServer();
    const { boss, who } = await makeCast(kb, ["admin", "member"]);
    const url = await invite(kb, who, "x@new.test", "member");
    await kb.as(boss).patch(`/api/workspace/members/${who.userId}`, { role: "owner" });
    expect((await accept(kb, url, "x@new.test")).status).toBe(201);
  });
});

describe("a command line with admin rights", () => {
  test.for([
    ["admin", "member"],
    ["owner", "admin"],
    ["admin", null],
  ] as const)("of an %s who becomes %s", async (way, { expect }) => {
    const kb = await startServer();
    const { boss, who } = await makeCast(kb, way);
    const step = {
      clientId: "kb-cli",
      scope: "kb:api kb:admin",
      resource: `${kb.base}/api`,
      redirectUri: CLI_REDIRECT,
    };
    const { access_token: token } = await kb.letIn(who, step, { decision: "allow", password: TEST_PASSWORD });
    const status = async (path: string) => (await kb.withToken(token).get(path)).status;
    expect(await status("/api/audit")).toBe(200);
    await fall(kb, boss, who, way[1]);
    const [workspace, audit] = way[1] === null ? [401, 401] : [200, way[1] === "admin" ? 200 : 403];
    expect([await status("/api/workspace"), await status("/api/audit")]).toEqual([workspace, audit]);
  });
});

describe("the table of what a fall ends", () => {
  test("is as long as the one in the docs, without what a removal alone ends of a person", ({ expect }) => {
    const docs = readFileSync("docs/permissions.md", "utf8");
    const section = docs.slice(docs.indexOf("### When a role falls"));
    const rows = section
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .slice(2);
    // `groups` has groups and places in one row; `people` and `accounts` are part of other rows there.
    const inDocs: Record<keyof typeof ROLE_FALL, string> = {
      invitations: "open invitations",
      passwordLinks: "links that set a member's password",
      tokens: "personal access tokens",
      clients: "apps and command lines",
      sessions: "sessions",
      trust: "links of people by email",
      connectorKeys: "keys of push connectors",
      groups: "groups they own",
      people: "links of people by email",
      connectors: "their connectors",
      accounts: "other connections and their accounts",
      connections: "connections with a server's own secret",
    };
    for (const words of Object.values(inDocs)) {
      expect(
        rows.filter((row) => row.startsWith(`| ${words}`)),
        words,
      ).toHaveLength(1);
    }
    expect(rows.filter((row) => row.split("|").length === 6)).toHaveLength(new Set(Object.values(inDocs)).size);
    expect(Object.keys(ROLE_FALL).sort()).toEqual(Object.keys(inDocs).sort());
  });
});
