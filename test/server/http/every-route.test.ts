import { describe, test } from "vitest";
import type { RouteConfig } from "@hono/zod-openapi";
import { ROUTE_GROUPS } from "#api/index.ts";
import { makeApp } from "#server/app.ts";
import { ROUTE_ACCESS, findRouteAccess } from "#server/http/auth.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";

const BASE = "http://127.0.0.1:7700";
/** Ids of every kind: with the right one a path gets as far as its body. */
const IDS = "con grp usr tok ses inv syn kbi ent cnx srv upl grt lrt whk dlv"
  .split(" ")
  .map((kind) => `${kind}_2222222222222222`)
  .concat("gitea");
const SERVER = "srv_2222222222222222";
/** Pages of other sites may send to these, which look at no cookie. */
const CROSS_SITE = /^\/oauth\/(?:register|token|revoke|device_authorization)$/;

async function makeWhole() {
  const kb = await makeServer({ settings: { rateLimits: "off" } }, composeFeatures);
  // The very list that the server answers by, the page included.
  const app = makeApp(kb.deps, { web: { files: new Map(), preloads: [] } });
  const routes = app.routes
    .filter(({ path, method }) => !(path === "/*" && method === "ALL"))
    .map(({ method, path }) => ({ methods: method === "ALL" ? ["GET", "POST"] : [method], path }));
  const owner = await kb.addOwner();
  const cookie = `${kb.deps.cookie.name}=${owner.sessionSecret}`;
  const send = (method: string, path: string, headers: Record<string, string>, body?: string) =>
    app.request(
      BASE + path.replace("*", "some/page").replaceAll(/:\w+/g, IDS[0] ?? ""),
      { method, headers, ...(body !== undefined && { body }) },
      { incoming: { socket: { remoteAddress: "127.0.0.1" } } },
    );
  return { kb, routes, owner, cookie, send };
}

describe("every route of the app", () => {
  test("has a row of the route access table, or is one of OAuth, the page and /mcp", async ({ expect }) => {
    const { routes } = await makeWhole();
    expect(routes.length).toBeGreaterThan(Object.keys(ROUTE_ACCESS).length);
    const unknown = routes.filter(
      ({ methods, path }) =>
        !methods.some((method) => findRouteAccess(method, path)) &&
        !/^(?:\/oauth\/|\/\.well-known\/|\/mcp\/?$|\*$|\/\*$)/.test(path),
    );
    expect(unknown).toEqual([]);
  });

  test("S32, test 37: refuses another Host, and what a browser sends for another site", async ({ expect }) => {
    const { routes, send, cookie } = await makeWhole();
    const wrong: string[] = [];
    let checks = 0;
    for (const { methods, path } of routes) {
      for (const method of methods) {
        const isUnsafe = method !== "GET" && method !== "OPTIONS";
        const json = { cookie, "content-type": "application/json", accept: "text/html" };
        const attacks: [string, Record<string, string>][] = [
          ["a rebound name", { ...json, host: "evil.test" }],
          ["a rebound name with a port", { ...json, host: "127.0.0.1.evil.test:7700" }],
          ...(isUnsafe && !CROSS_SITE.test(path)
            ? ([
                ["another site", { ...json, origin: "https://evil.test", "sec-fetch-site": "cross-site" }],
                ["a sibling site", { ...json, origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" }],
                ["an old browser", { ...json, origin: "https://evil.test" }],
                ["a frame", { ...json, origin: "null" }],
              ] as [string, Record<string, string>][])
            : []),
        ];
        for (const [name, headers] of attacks) {
          checks++;
          // A verb that /mcp does not have is refused before anything else.
          const expected = path.startsWith("/mcp") && method === "GET" ? 405 : 403;
          const { status } = await send(method, path, headers, isUnsafe ? "{}" : undefined);
          if (status !== expected) wrong.push(`${method} ${path} said ${status} to ${name}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(checks).toBeGreaterThan(300);
  });

  test("answers with a request id of ours and hardening headers, whatever the answer", async ({ expect }) => {
    const { routes, send } = await makeWhole();
    const wrong: string[] = [];
    for (const { methods, path } of routes) {
      for (const method of methods) {
        const headers = { "x-request-id": "theirs", accept: "text/html", "content-type": "application/json" };
        const answer = await send(method, path, headers, method === "GET" ? undefined : "{}");
        const has = (name: string, pattern: RegExp) => pattern.test(answer.headers.get(name) ?? "");
        const isHard =
          has("x-request-id", /^req_[2-9a-z]{16}$/) &&
          has("x-content-type-options", /^nosniff$/) &&
          has("referrer-policy", /^no-referrer$/) &&
          has("x-frame-options", /^DENY$/) &&
          has("content-security-policy", /frame-ancestors 'none'|sandbox/);
        if (!isHard) wrong.push(`${method} ${path}: ${answer.status}`);
        if (path.startsWith("/api/") && !has("cache-control", /no-store/)) wrong.push(`${path} may be kept`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("test 37: takes a JSON body as JSON only, and no more of it than its route takes", async ({ expect }) => {
    const { kb, send, cookie } = await makeWhole();
    const wrong: string[] = [];
    const large = `{"name":"${"a".repeat(8 * 1024 * 1024)}"}`;
    const all: RouteConfig[] = Object.values(ROUTE_GROUPS).flatMap((group) => Object.values(group));
    const taking = all.filter(({ request }) => request?.body?.content["application/json"] !== undefined);
    expect(taking.length).toBeGreaterThan(20);
    for (const { method, path } of taking) {
      const rule = findRouteAccess(method, path);
      if (rule === undefined || rule.connectorKey) continue;
      const statuses = async (headers: Record<string, string>, body: string) => {
        const found = [];
        const paths = path.includes("{")
          ? IDS.map((id) =>
              path
                .replace("mcp-servers/{id}/connections/{", `mcp-servers/${SERVER}/connections/{`)
                .replaceAll(/\{[^}]+\}/g, id),
            )
          : [path];
        for (const each of paths) {
          // A signed-in person each time: some of these end the session.
          found.push((await send(method.toUpperCase(), each, { cookie, ...headers }, body)).status);
        }
        return found;
      };
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
        if (!(await statuses({ "content-type": type }, "{}")).includes(415)) wrong.push(`${path} took ${type}`);
      }
      const json = { "content-type": "application/json", "content-length": String(large.length) };
      if (!(await statuses(json, "{}")).includes(413)) wrong.push(`${path} took 8 MiB`);
    }
    expect(wrong).toEqual([]);
    const token = `Bearer ${await kb.token(await kb.addOwner("Other"))}`;
    const toMcp = (type: string, body: string) =>
      send("POST", "/mcp", { authorization: token, "content-type": type }, body);
    expect((await toMcp("text/plain", "{}")).status).toBe(415);
    expect((await toMcp("application/json", large)).status).toBe(413);
  });
});
