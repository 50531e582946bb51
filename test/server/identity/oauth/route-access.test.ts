import { describe, expect, test } from "vitest";
import type { Role, Scope } from "#api/common.ts";
import { ROUTE_ACCESS, type RouteAccess } from "#server/http/auth.ts";
import { hashSecret } from "#core/secrets.ts";
import type { Actor } from "#storage/access/actor.ts";
import { type TestUser, TEST_PASSWORD } from "../../../helpers.ts";
import { cliAsk, CLI_REDIRECT, startServer, type OAuthTestServer, type Tokens } from "./harness.ts";
import { verifies } from "../../../requirements.ts";

/** What a route says to a credential: opened, not known here, not enough. */
type Verdict = "open" | 401 | 403;

interface Held {
  audience: "mcp" | "api";
  scopes: readonly Scope[];
  role: Role;
}

/** What the table says must happen to a living OAuth token. Source: S26. */
function verdictOf(rule: RouteAccess, held: Held): Verdict {
  if (rule.public) return "open";
  // A route that OAuth tokens never open looks at the audience of REST, so that a stolen token learns no more there.
  if (held.audience !== (rule.oauth?.audience ?? "api")) return 401;
  if (rule.oauth === undefined) return 403;
  const has = rule.oauth.scopes.some(
    (scope) => held.scopes.includes(scope) || (scope === "kb:api" && held.scopes.includes("kb:admin")),
  );
  if (!has) return 403;
  return rule.role === undefined || held.role === "owner" || held.role === rule.role ? "open" : 403;
}

async function tokensOf(kb: OAuthTestServer, user: TestUser, admin: TestUser) {
  const app = await kb.letIn(user, { clientId: await kb.client() });
  const ask = cliAsk(kb.base);
  const cli = await kb.letIn(user, ask);
  const answer = await kb.refresh(ask, cli.refresh_token, { resource: `${kb.base}/api` });
  const overApi = (await answer.json()) as Tokens;
  const step = { clientId: "kb-cli", scope: "kb:api kb:admin", resource: `${kb.base}/api`, redirectUri: CLI_REDIRECT };
  const stepped = await kb.letIn(admin, step, { decision: "allow", password: TEST_PASSWORD });
  return { app: app.access_token, cliMcp: cli.access_token, cliApi: overApi.access_token, admin: stepped.access_token };
}

/** Asks the authenticator alone: the table says nothing about the handlers. */
async function authenticateWith(kb: OAuthTestServer, rule: RouteAccess, token: string): Promise<Verdict> {
  const headers = new Headers({ authorization: `Bearer ${token}` });
  const origin = { requestId: "req_test", clientIp: null };
  try {
    await kb.deps.authenticator.authenticate(rule, { url: `${kb.base}/x`, headers, origin });
    return "open";
  } catch (error) {
    // The authenticator throws nothing else.
    return (error as { status: 401 | 403 }).status;
  }
}

describe("the table of credentials and routes, with OAuth tokens", () => {
  test("test 17: every route says to every kind of living token what its row says", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const member = await kb.addMember(owner.workspaceId);
    const tokens = await tokensOf(kb, member, owner);
    const kinds: [string, string, Held][] = [
      ["an app's token", tokens.app, { audience: "mcp", scopes: ["mcp:read"], role: "member" }],
      ["the command line's for /mcp", tokens.cliMcp, { audience: "mcp", scopes: ["mcp:read"], role: "member" }],
      ["the command line's for REST", tokens.cliApi, { audience: "api", scopes: ["kb:api"], role: "member" }],
      ["an admin's step-up", tokens.admin, { audience: "api", scopes: ["kb:api", "kb:admin"], role: "owner" }],
    ];
    const seen: string[] = [];
    for (const [route, rule] of Object.entries(ROUTE_ACCESS)) {
      for (const [kind, token, held] of kinds) {
        const line = [route, kind, await authenticateWith(kb, rule, token)];
        expect(line).toEqual([route, kind, verdictOf(rule, held)]);
        seen.push(String(line[2]));
      }
    }
    // The table has all three answers, so that the test can't pass by one of them alone.
    expect(new Set(seen)).toEqual(new Set(["open", "401", "403"]));
    expect(await authenticateWith(kb, ROUTE_ACCESS["POST /mcp"] ?? fail(), tokens.app)).toBe("open");
    expect(await authenticateWith(kb, ROUTE_ACCESS["POST /api/connectors/{id}/items"] ?? fail(), tokens.cliApi)).toBe(
      403,
    );
  });

  test("dead tokens open nothing: expired, revoked, of a person who left, of a role that was lost", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const admin = await kb.addMember(owner.workspaceId, "admin");
    const tokens = await tokensOf(kb, admin, admin);
    const audit = ROUTE_ACCESS["GET /api/audit"] ?? fail();
    expect(await authenticateWith(kb, audit, tokens.admin)).toBe("open");
    await kb.store.in(owner.workspaceId).members.setRole(admin.userId, "member", 0);
    expect(await authenticateWith(kb, audit, tokens.admin)).toBe(403);
    // It keeps what a member may, and a role that comes back brings nothing back.
    expect(await authenticateWith(kb, ROUTE_ACCESS["GET /api/workspace"] ?? fail(), tokens.admin)).toBe("open");
    await kb.store.in(owner.workspaceId).members.setRole(admin.userId, "admin", 0);
    expect(await authenticateWith(kb, audit, tokens.admin)).toBe(403);
    Object.assign(tokens, await tokensOf(kb, admin, admin));
    expect(await authenticateWith(kb, audit, tokens.admin)).toBe("open");

    const routes = Object.entries(ROUTE_ACCESS).filter(([, rule]) => !rule.public && rule.oauth !== undefined);
    const rightFor = (rule: RouteAccess) => (rule.oauth?.audience === "mcp" ? tokens.app : tokens.admin);
    const opened = async () => {
      const open = [];
      for (const [route, rule] of routes)
        if ((await authenticateWith(kb, rule, rightFor(rule))) === "open") open.push(route);
      return open;
    };
    expect(await opened()).toEqual(routes.map(([route]) => route));
    kb.advance(3_600_000);
    expect(await opened()).toEqual([]);

    const fresh = await tokensOf(kb, admin, admin);
    Object.assign(tokens, fresh);
    expect((await opened()).length).toBe(routes.length);
    await kb.store.transaction((tx) => tx.oauth.endGrantsOf({ userId: admin.userId }, kb.clock.now()));
    expect(await opened()).toEqual([]);

    Object.assign(tokens, await tokensOf(kb, admin, admin));
    await kb.store.transaction((tx) => tx.in(owner.workspaceId).members.remove(admin.userId, kb.clock.now()));
    expect(await opened()).toEqual([]);
  });

  test("a token of one workspace sees nothing of another", async () => {
    const kb = await startServer();
    const [one, two] = [await kb.addOwner("One"), await kb.addOwner("Two")];
    const { admin: token } = await tokensOf(kb, one, one);
    const actor = await kb.deps.oauth.findActor(token, "api");
    expect((actor as Actor).workspaceId).toBe(one.workspaceId);
    const theirs = await kb.withToken(token).get(`/api/workspace/members/${two.userId}`);
    expect(theirs.status).toBe(404);
  });
});

describe("when a request is authenticated", () => {
  test("test 18: a token in the URL is refused, and so are two at once; the scheme's case does not matter", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const { access_token: token } = await kb.letIn(owner, { clientId: await kb.client() });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    const send = (path: string, headers: Record<string, string>) =>
      fetch(kb.base + path, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
    expect((await send(`/mcp?access_token=${token}`, {})).status).toBe(400);
    expect((await send(`/mcp?access_token=${token}`, { authorization: `Bearer ${token}` })).status).toBe(400);
    expect((await send("/mcp", { authorization: `Bearer ${token}, Bearer ${token}` })).status).toBe(400);
    expect((await send("/mcp", { authorization: `bearer ${token}` })).status).toBe(200);
    expect((await send("/mcp", { authorization: token })).status).toBe(401);
    expect((await send("/mcp", { authorization: `Basic ${token}` })).status).toBe(401);
  });

  test("test 34: 401 and 403 of /mcp lead a client to where it gets a token", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const where = `resource_metadata="${kb.base}/.well-known/oauth-protected-resource/mcp"`;
    const bare = await fetch(`${kb.base}/mcp`, { method: "POST", body: "{}" });
    expect(bare.headers.get("www-authenticate")).toBe(`Bearer realm="kb", ${where}, scope="mcp:read"`);
    const dead = await kb.mcp("x".repeat(43));
    expect([dead.status, dead.headers.get("www-authenticate")]).toEqual([
      401,
      `Bearer realm="kb", error="invalid_token", ${where}, scope="mcp:read"`,
    ]);
    expect(await dead.json()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32001 } });
    const narrow = await kb.mcp(await kb.token(owner, ["kb:api"]));
    expect([narrow.status, narrow.headers.get("www-authenticate")]).toEqual([
      403,
      `Bearer realm="kb", error="insufficient_scope", scope="mcp:read", ${where}`,
    ]);
    const overApi = await kb.api("x".repeat(43));
    expect(overApi.headers.get("www-authenticate")).toBe('Bearer realm="kb", error="invalid_token"');
  });

  verifies(
    ["oauth:protected-resource", "oauth:authorization-server", "oauth:scope"],
    "test 34: the metadata names exactly this resource and its one scope, and pages of other sites may read it",
    async () => {
      const kb = await startServer();
      for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
        const answer = await fetch(kb.base + path, { headers: { origin: "https://inspector.test" } });
        expect(answer.headers.get("access-control-allow-origin")).toBe("*");
        expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
        expect(await answer.json()).toEqual({
          resource: `${kb.base}/mcp`,
          authorization_servers: [kb.base],
          scopes_supported: ["mcp:read"],
          bearer_methods_supported: ["header"],
          resource_name: "kb",
        });
      }
      const [oauth, openid] = await Promise.all(
        ["oauth-authorization-server", "openid-configuration"].map(async (name) =>
          (await fetch(`${kb.base}/.well-known/${name}`)).json(),
        ),
      );
      expect(openid).toEqual(oauth);
      expect(oauth).toMatchObject({
        issuer: kb.base,
        authorization_endpoint: `${kb.base}/oauth/authorize`,
        token_endpoint: `${kb.base}/oauth/token`,
        registration_endpoint: `${kb.base}/oauth/register`,
        revocation_endpoint: `${kb.base}/oauth/revoke`,
        scopes_supported: ["mcp:read"],
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      });
    },
  );

  test("test 34: other sites' pages may register and get tokens, without credentials, and nothing else", async () => {
    const kb = await startServer();
    const origin = "https://inspector.test";
    for (const path of ["/oauth/register", "/oauth/token", "/oauth/revoke"]) {
      const asked = await fetch(kb.base + path, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
      });
      expect([path, asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([path, 204, "*"]);
      const sent = await fetch(kb.base + path, {
        method: "POST",
        headers: { origin, "content-type": path.endsWith("register") ? "application/json" : FORM },
        body: path.endsWith("register") ? "{}" : "grant_type=refresh_token&client_id=kb-cli&refresh_token=x&token=x",
      });
      expect([path, [200, 400].includes(sent.status)]).toEqual([path, true]);
      expect(sent.headers.get("access-control-allow-origin")).toMatch(/^(\*|https:\/\/inspector\.test)$/);
      expect(sent.headers.get("access-control-allow-credentials")).toBeNull();
    }
    const foreign = await fetch(`${kb.base}/oauth/authorize`, { method: "POST", headers: { origin }, body: "uid=x" });
    expect(foreign.status).toBe(403);
  });

  test("every answer of the library has our request id and headers, and one line in the log with its true status", async () => {
    const kb = await startServer();
    const answer = await kb.post("/oauth/token", {
      grant_type: "refresh_token",
      client_id: "kb-cli",
      refresh_token: "x",
    });
    expect(answer.status).toBe(400);
    const requestId = answer.headers.get("x-request-id");
    expect(requestId).toMatch(/^req_/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(kb.log.lines.find(({ fields }) => fields["requestId"] === requestId)?.fields).toMatchObject({
      path: "/oauth/token",
      status: 400,
    });
  });

  test("without a socket the endpoints of the library say so instead of hanging", async () => {
    const kb = await startServer();
    const answer = await kb.anyone().request("POST", "/oauth/token", { raw: "grant_type=x" });
    expect([answer.status, answer.json.error]).toEqual([503, "temporarily_unavailable"]);
  });

  test("an access token that was put into another row does not open", async () => {
    const kb = await startServer();
    const owner = await kb.addOwner();
    const [one, two] = [
      await kb.letIn(owner, { clientId: await kb.client() }),
      await kb.letIn(owner, { clientId: await kb.client() }),
    ];
    const rows = kb.database.write;
    const { sealed } = await rows
      .selectFrom("oauth_records")
      .select("sealed")
      .where("idHash", "=", hashSecret(one.access_token))
      .executeTakeFirstOrThrow();
    await rows
      .updateTable("oauth_records")
      .set({ sealed })
      .where("idHash", "=", hashSecret(two.access_token))
      .execute();
    expect((await kb.mcp(two.access_token)).status).toBe(401);
    expect((await kb.mcp(one.access_token)).status).toBe(200);
  });
});

const FORM = "application/x-www-form-urlencoded";

function fail(): never {
  throw new Error("No such row.");
}
