import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { describe, test } from "vitest";
import type { Scope } from "#api/common.ts";
import { answer, get, post as postRoute, z } from "#api/route.ts";
import { ROUTE_ACCESS } from "#server/http/auth.ts";
import { makeAuthenticator, type CredentialLookup } from "#server/http/authenticate.ts";
import type { App, AppEnv } from "#server/http/env.ts";
import { frameRequests, makeGuard } from "#server/http/guard.ts";
import { makeLimits } from "#server/http/limits.ts";
import { makeMounter, type Mount } from "#server/http/mount.ts";
import { answerProblem } from "#server/http/problem.ts";
import type { Actor } from "#storage/access/actor.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";

const BASE = "http://127.0.0.1:7700";
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const key = (kind: string, tail: string) => `${kind}_${tail.padStart(38, "0")}`;

const actor = (role: Actor["role"], scopes: readonly Scope[], type: "session" | "pat"): Actor => ({
  workspaceId: "wsp_1",
  userId: "usr_1",
  role,
  scopes,
  credential: { type, id: `${type}_1` },
  timeZone: "UTC",
});

const lookup: CredentialLookup = {
  session: async (secret) => {
    const role = (["owner", "admin", "member"] as const).find((name) => name === secret);
    return (
      role && actor(role, role === "member" ? ["mcp:read", "kb:api"] : ["mcp:read", "kb:api", "kb:admin"], "session")
    );
  },
  pat: async (secret) => {
    const [, role, scopes] = /^kb_pat_0*(owner|admin|member)-?(.*)$/.exec(secret.replaceAll("~", ":")) ?? [];
    const wanted = (scopes ?? "").split("-").filter((scope): scope is Scope => scope !== "");
    return role === undefined ? undefined : actor(role as Actor["role"], wanted, "pat");
  },
  oauth: async () => undefined,
  connectorKey: async (secret) =>
    secret.endsWith("mine") ? { workspaceId: "wsp_1", connectorId: "con_1", keyId: "key_1" } : undefined,
  knownBrowser: () => undefined,
};

const NO_LIMITS = makeLimits({ mode: "managed", clock: { now: () => 0 }, isOff: true });

function makeTestApp(hang: (at: Mount) => void): App {
  const guard = makeGuard({ baseUrl: BASE, allowedHosts: [], trustedProxies: [] });
  const authenticator = makeAuthenticator({ lookup, cookieName: "kb_session" });
  const app = new Hono<AppEnv>();
  app.use(
    frameRequests({
      baseUrl: BASE,
      allowedHosts: [],
      trustedProxies: [],
      guard,
      limits: NO_LIMITS,
      authenticator,
      clock: { now: () => 0 },
      log,
      randomBytes,
    }),
  );
  const mounter = makeMounter({
    clock: { now: () => 0 },
    limits: NO_LIMITS,
    idempotency: { run: async (_request, create) => ({ ...(await create()), isReplay: false }) },
    authenticator,
    checksAnswers: true,
  });
  hang(mounter);
  mounter.finish(app);
  app.onError((error, c) => answerProblem(c, error, log));
  return app;
}

const send = async (app: App, method: string, path: string, headers: Record<string, string> = {}, content?: string) => {
  const response = await app.request(`${BASE}${path}`, {
    method,
    headers,
    ...(content !== undefined && { body: content }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text === "" ? undefined : JSON.parse(text) };
};

/** Every credential of S26, in its valid and invalid forms, and what a rule must say to it. */
const CREDENTIALS: {
  name: string;
  headers: Record<string, string>;
  opens(rule: (typeof ROUTE_ACCESS)[string]): boolean;
}[] = [
  { name: "nothing", headers: {}, opens: (rule) => rule.public },
  ...(["member", "admin", "owner"] as const).map((role) => ({
    name: `session of a ${role}`,
    headers: { cookie: `kb_session=${role}` },
    opens: (rule: (typeof ROUTE_ACCESS)[string]) => rule.public || (rule.session && isRoleEnough(role, rule.role)),
  })),
  { name: "dead session", headers: { cookie: "kb_session=dead" }, opens: (rule) => rule.public },
  ...(["member", "admin", "owner"] as const).flatMap((role) =>
    (["mcp:read", "kb:api", "kb:admin"] as const).map((scope) => ({
      name: `${scope} token of a ${role}`,
      headers: { authorization: `Bearer ${key("kb_pat", `${role}-${scope.replace(":", "~")}`)}` },
      opens: (rule: (typeof ROUTE_ACCESS)[string]) =>
        rule.public ||
        (isRoleEnough(role, rule.role) &&
          (rule.pat.includes(scope) || (scope === "kb:admin" && rule.pat.includes("kb:api")))),
    })),
  ),
  { name: "dead token", headers: { authorization: `Bearer ${key("kb_pat", "dead")}` }, opens: (rule) => rule.public },
  { name: "no token at all", headers: { authorization: "Basic eDp5" }, opens: (rule) => rule.public },
  {
    name: "connector key",
    headers: { authorization: `Bearer ${key("kb_con", "mine")}` },
    opens: (rule) => rule.public || rule.connectorKey,
  },
  { name: "dead key", headers: { authorization: `Bearer ${key("kb_con", "dead")}` }, opens: (rule) => rule.public },
];

function isRoleEnough(role: string, wanted: string | undefined): boolean {
  return wanted === undefined || role === "owner" || role === wanted;
}

describe("the route access table", () => {
  const app = makeTestApp((at) => {
    for (const [name, rule] of Object.entries(ROUTE_ACCESS)) {
      const [method = "", path = ""] = name.split(" ");
      // The table holds lower-case-able HTTP methods only.
      const route = { ...get(path, "Open", { 204: { description: "Open" } }), method: method.toLowerCase() as "get" };
      if (rule.public) at.open(route, () => undefined);
      else if (rule.connectorKey) at.push(route, () => undefined);
      else at.member(route, () => undefined);
    }
  });

  test("every route says to every credential what its row says", async ({ expect }) => {
    const wrong: string[] = [];
    let checks = 0;
    for (const [name, rule] of Object.entries(ROUTE_ACCESS)) {
      const [method = "", path = ""] = name.split(" ");
      for (const credential of CREDENTIALS) {
        const answer = await send(app, method, path.replaceAll(/\{[^}]+\}/g, "con_1"), credential.headers);
        const isOpen = answer.status === 204;
        if (!isOpen && answer.status !== 401 && answer.status !== 403) wrong.push(`${name}: ${answer.status}`);
        if (isOpen !== credential.opens(rule)) wrong.push(`${name} × ${credential.name}: ${answer.status}`);
        checks++;
      }
    }
    expect(wrong).toEqual([]);
    expect(checks).toBe(Object.keys(ROUTE_ACCESS).length * CREDENTIALS.length);
  });

  test("a key of another connector finds nothing", async ({ expect }) => {
    const headers = { authorization: `Bearer ${key("kb_con", "mine")}` };
    expect(await send(app, "POST", "/api/connectors/con_2/items", headers)).toMatchObject({ status: 404 });
  });

  test("a missing scope is named together with the command that gets it", async ({ expect }) => {
    const headers = { authorization: `Bearer ${key("kb_pat", "owner-mcp~read")}` };
    expect(await send(app, "GET", "/api/audit", headers)).toMatchObject({
      status: 403,
      json: { code: "insufficient_scope", hint: expect.stringContaining("--scope kb:admin") },
    });
  });

  test.for([
    ["two tokens", "/api/groups", { authorization: "Bearer a, Bearer b" }, "two_credentials"],
    ["two sessions", "/api/groups", { cookie: "kb_session=owner; kb_session=member" }, "two_credentials"],
    ["two sessions close together", "/api/groups", { cookie: "kb_session=owner;kb_session=member" }, "two_credentials"],
    [
      "a token beside a session",
      "/api/groups",
      { authorization: `Bearer ${key("kb_pat", "owner-kb~api")}`, cookie: "kb_session=owner" },
      "two_credentials",
    ],
    [
      "a dead token beside a session",
      "/api/groups",
      { authorization: `Bearer ${key("kb_pat", "dead")}`, cookie: "kb_session=owner" },
      "two_credentials",
    ],
    [
      "a connector key beside a session",
      "/api/groups",
      { authorization: `Bearer ${key("kb_con", "mine")}`, cookie: "a=b; kb_session=owner" },
      "two_credentials",
    ],
    ["a token in the query", "/api/groups?access_token=x", {}, "credential_in_url"],
    ["a token beside others in the query", "/api/groups?limit=1&TOKEN=x&q=a", {}, "credential_in_url"],
    ["a token anywhere in the URL", `/api/groups?q=${key("kb_pat", "x")}`, {}, "credential_in_url"],
    ["a token in the URL of an open route", `/healthz?token=x`, {}, "credential_in_url"],
  ] as const)("%s is refused with 400", async ([, path, headers, code], { expect }) => {
    expect(await send(app, "GET", path, headers)).toMatchObject({ status: 400, json: { code } });
  });

  test("a route without a row does not mount", ({ expect }) => {
    const route = get("/api/secrets", "Secrets", { 204: { description: "No" } });
    expect(() => makeTestApp((at) => at.member(route, () => undefined))).toThrow(/no row/);
  });

  test("a route can't be mounted as open when its row is not", ({ expect }) => {
    const route = get("/api/audit", "The audit", { 204: { description: "No" } });
    expect(() => makeTestApp((at) => at.open(route, () => undefined))).toThrow(/mounted for nobody/);
  });
});

describe("a mounted route", () => {
  const Group = z.object({ name: z.string().max(5), tags: z.array(z.string().max(9)).max(9).optional() });
  const route = postRoute("/api/groups", "Make a group", {
    query: { limit: z.coerce.number().max(3).default(1), id: z.array(z.string()).optional() },
    body: Group,
    201: answer("Made", { name: z.string(), limit: z.number(), ids: z.array(z.string()) }),
  });
  const read = get("/api/groups/{id}", "Read a group", {
    params: { id: z.string().regex(/^grp_/) },
    200: answer("One", { id: z.string() }),
  });
  const app = makeTestApp((at) => {
    at.member(route, ({ body, query }) => ({ name: body.name, limit: query.limit, ids: query.id ?? [] }));
    at.member(read, ({ params }) => ({ id: params.id }));
  });
  const post = (content: string | undefined, query = "", headers: Record<string, string> = {}) =>
    send(
      app,
      "POST",
      `/api/groups${query}`,
      { cookie: "kb_session=owner", "content-type": "application/json", ...headers },
      content,
    );

  test("gives the contract's status and parsed values", async ({ expect }) => {
    expect(await post('{"name":"ops"}', "?limit=2&id=a")).toMatchObject({
      status: 201,
      json: { name: "ops", limit: 2, ids: ["a"] },
    });
    expect(await post('{"name":"ops"}', "?id=a&id=b")).toMatchObject({ json: { ids: ["a", "b"] } });
  });

  test.for([
    ["a wrong type", '{"name":1}', "", "name"],
    ["a missing key", "{}", "", "name"],
    ["too long a value", '{"name":"longer"}', "", "name"],
    ["an unknown key", '{"name":"a","nmae":"b"}', "", "nmae"],
    ["an unknown argument", '{"name":"a"}', "?limt=1", "limt"],
    ["an argument out of range", '{"name":"a"}', "?limit=9", "limit"],
    ["a body that is no object", "[]", "", ""],
    ["a deep wrong type", '{"name":"a","tags":["x",2]}', "", "tags.1"],
  ] as const)("refuses %s and says where", async ([, content, query, path], { expect }) => {
    const answer = await post(content, query);
    expect(answer).toMatchObject({ status: 400, json: { code: "invalid_request", errors: [{ path }] } });
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.json.requestId).toBe(answer.headers.get("x-request-id"));
  });

  test("refuses a body that is broken, missing, of another type or too large", async ({ expect }) => {
    expect(await post('{"name":')).toMatchObject({ status: 400 });
    expect(await post(undefined)).toMatchObject({ status: 400 });
    expect(await post('{"name":"a"}', "", { "content-type": "text/plain" })).toMatchObject({ status: 415 });
    expect(await post(`{"name":"${"a".repeat(64 * 1024)}"}`)).toMatchObject({ status: 413 });
  });

  test("an impossible id in the path reads like one that does not exist", async ({ expect }) => {
    expect(await send(app, "GET", "/api/groups/x", { cookie: "kb_session=owner" })).toMatchObject({ status: 404 });
  });

  test("a fixed path below a path with an id has its own methods: another one is told which", async ({ expect }) => {
    const kb = await makeServer({}, composeFeatures);
    const owner = kb.as(await kb.addOwner());
    for (const path of ["mine", "search", "sources", "progress", "all-files", "browse", "file-counts-by-source"]) {
      const allowed = path === "browse" ? "POST" : "GET, HEAD";
      for (const method of ["PATCH", "DELETE"]) {
        const { status, headers } = await owner.request(method, `/api/connectors/${path}`, { body: { name: "x" } });
        expect([path, status, headers.get("allow")]).toEqual([path, 405, allowed]);
      }
    }
    const id = await owner.request("PUT", "/api/connectors/con_2222222222222222");
    expect([id.status, id.headers.get("allow")]).toEqual([405, "DELETE, GET, HEAD, PATCH"]);
  });

  test("asks who it is before it looks at what it says", async ({ expect }) => {
    expect(await send(app, "POST", "/api/groups", {}, "{")).toMatchObject({ status: 401 });
  });

  test("an answer that breaks the contract fails in tests", async ({ expect }) => {
    const broken = makeTestApp((at) => at.member(read, () => ({ id: 5 }) as never));
    expect(await send(broken, "GET", "/api/groups/grp_1", { cookie: "kb_session=owner" })).toMatchObject({
      status: 500,
      json: { code: "internal" },
    });
  });
});
