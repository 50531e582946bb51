import { createHash, randomBytes } from "node:crypto";
import { request as requestHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import * as oauth from "oauth4webapi";
import { onTestFinished, vi } from "vitest";
import type { Database } from "#storage/database/db.ts";
import type { Foundation } from "#server/compose/foundation.ts";
import type { Identity } from "#server/compose/identity.ts";
import { makeServer, TEST_NOW, type TestServerOptions, type TestUser } from "../../../helpers.ts";

/** http on this machine is what the tests speak. */
export const LOCAL = { [oauth.allowInsecureRequests]: true } as const;

/** A browser of one person: cookies by path, no redirect followed by itself. */
export interface TestBrowser {
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The cookies it would send there. */
  cookiesFor(path: string): string;
  /** Signs out of kb, or in as another. */
  become(user: TestUser | undefined): void;
}

export interface Tokens {
  access_token: string;
  refresh_token?: string;
  scope?: string;
  expires_in?: number;
}

/** What a client asks for. */
export interface Ask {
  clientId: string;
  scope?: string;
  resource?: string | string[];
  redirectUri?: string;
}

/** The whole server on a real listener: the authorization server answers on Node's own objects. */
export async function startServer<More extends object = object>(
  options: TestServerOptions = {},
  more?: (deps: Foundation & Identity, database: Database) => More | Promise<More>,
) {
  // The library reads the time of the machine; only `Date` stands still, nothing waits for timers.
  vi.useFakeTimers({ toFake: ["Date"], now: TEST_NOW });
  onTestFinished(() => void vi.useRealTimers());
  let fetchApp: Parameters<typeof serve>[0]["fetch"] = () => new Response(null, { status: 503 });
  const listener = serve({ fetch: (request, env) => fetchApp(request, env), port: 0, hostname: "127.0.0.1" });
  await new Promise((resolve) => listener.once("listening", resolve));
  onTestFinished(() => new Promise((resolve) => listener.close(() => resolve())));
  // A listening TCP server has an address with a port.
  const base = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const kb = await makeServer({ ...options, settings: { ...options.settings, baseUrl: base } }, more);
  fetchApp = (request, env) => kb.app.fetch(request, env as never);
  const metadata: oauth.AuthorizationServer = await oauth
    .discoveryRequest(new URL(base), { algorithm: "oauth2", ...LOCAL })
    .then((response) => oauth.processDiscoveryResponse(new URL(base), response));

  /** Moves both clocks: ours and the machine's. */
  function advance(ms: number): void {
    kb.clock.advance(ms);
    vi.setSystemTime(kb.clock.now());
  }

  function browser(user?: TestUser): TestBrowser {
    return makeBrowser(base, kb.deps.cookie.name, user);
  }

  const post = (path: string, body: Record<string, string | string[]>, headers: Record<string, string> = {}) =>
    fetch(base + path, { method: "POST", body: formOf(body), headers });

  async function register(metadata: Record<string, unknown> = {}): Promise<{ status: number; body: Registered }> {
    const response = await fetch(`${base}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Test app", redirect_uris: [REDIRECT], ...metadata }),
    });
    return { status: response.status, body: (await response.json()) as Registered };
  }

  /** A client that registered, by its identifier. */
  async function client(metadata: Record<string, unknown> = {}): Promise<string> {
    const { body } = await register({ grant_types: ["authorization_code", "refresh_token"], ...metadata });
    return body.client_id;
  }

  function authorizeUrl(ask: Ask, challenge: string, more: Record<string, string> = {}): string {
    const query = new URLSearchParams({
      response_type: "code",
      client_id: ask.clientId,
      redirect_uri: ask.redirectUri ?? REDIRECT,
      code_challenge: challenge,
      code_challenge_method: "S256",
      state: "st",
      ...(ask.scope !== undefined && { scope: ask.scope }),
      ...more,
    });
    for (const resource of [ask.resource ?? []].flat()) query.append("resource", resource);
    return `/oauth/authorize?${query}`;
  }

  /** Goes to the page of consent; its uid. */
  async function reachConsent(by: TestBrowser, ask: Ask, challenge: string, more: Record<string, string> = {}) {
    const answer = await by.get(authorizeUrl(ask, challenge, more));
    const to = answer.headers.get("location") ?? "";
    const uid = /^\/oauth\/consent\/([\w-]+)$/.exec(to)?.[1];
    if (answer.status !== 302 || uid === undefined) throw new Error(`${answer.status} ${to} ${await answer.text()}`);
    return uid;
  }

  /** Decides as the page does. */
  async function decide(by: TestBrowser, uid: string, decision: Record<string, unknown> = { decision: "allow" }) {
    const shown = await by.get(`/oauth/consent/${uid}/request`);
    const request = (await shown.json()) as { csrf: string };
    return by.post(`/oauth/consent/${uid}/decision`, { csrf: request.csrf, ...decision });
  }

  /** From the question to the address that the client is sent back to. */
  async function consent(by: TestBrowser, ask: Ask, challenge: string, decision?: Record<string, unknown>) {
    const uid = await reachConsent(by, ask, challenge);
    const decided = await decide(by, uid, decision);
    if (decided.status !== 200) throw new Error(`${decided.status} ${await decided.text()}`);
    const { redirectTo } = (await decided.json()) as { redirectTo: string };
    const back = await by.get(redirectTo);
    return new URL(back.headers.get("location") ?? "about:blank");
  }

  function exchange(ask: Ask, code: string, verifier: string, more: Record<string, string> = {}): Promise<Response> {
    return post("/oauth/token", {
      grant_type: "authorization_code",
      client_id: ask.clientId,
      redirect_uri: ask.redirectUri ?? REDIRECT,
      code,
      code_verifier: verifier,
      ...more,
    });
  }

  /** The whole way of a client that a person lets in. */
  async function letIn(user: TestUser, ask: Ask, decision?: Record<string, unknown>): Promise<Tokens> {
    const verifier = oauth.generateRandomCodeVerifier();
    const back = await consent(browser(user), ask, challengeOf(verifier), decision);
    const answer = await exchange(ask, back.searchParams.get("code") ?? "", verifier);
    if (answer.status !== 200) throw new Error(`${back.href} ${await answer.text()}`);
    return (await answer.json()) as Tokens;
  }

  function refresh(ask: Ask, token: string | undefined, more: Record<string, string> = {}): Promise<Response> {
    return post("/oauth/token", {
      grant_type: "refresh_token",
      client_id: ask.clientId,
      refresh_token: token ?? "",
      ...more,
    });
  }

  /** What `/mcp` says to a token: the status of `tools/list`. */
  async function mcp(token: string): Promise<Response> {
    return fetch(`${base}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
  }

  return {
    ...kb,
    base,
    metadata,
    advance,
    browser,
    post,
    register,
    client,
    authorizeUrl,
    reachConsent,
    decide,
    consent,
    exchange,
    letIn,
    refresh,
    mcp,
    /** What the REST API says to a token. */
    api: (token: string, path = "/api/workspaces") =>
      fetch(base + path, { headers: { authorization: `Bearer ${token}` } }),
  };
}

export type OAuthTestServer = Awaited<ReturnType<typeof startServer>>;

export interface Registered {
  client_id: string;
  error?: string;
  error_description?: string;
  [member: string]: unknown;
}

export const REDIRECT = "http://127.0.0.1/callback";
export const CLI_REDIRECT = "http://127.0.0.1:49152/callback";

/** The command line, asking for both audiences. */
export function cliAsk(base: string, scope = "mcp:read kb:api"): Ask {
  return { clientId: "kb-cli", scope, resource: [`${base}/mcp`, `${base}/api`], redirectUri: CLI_REDIRECT };
}

export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

export function newVerifier(): string {
  return randomBytes(32).toString("base64url");
}

/** A request by hand: `fetch` writes its own Host header. */
export async function requestByHand(
  url: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; location: string; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = requestHttp(url, { method, headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => (text += String(chunk)));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, location: answer.headers.location ?? "", text }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function formOf(fields: Record<string, string | string[]>): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) form.append(name, one);
  return form;
}

/** A browser that is signed in to kb at `base` as `user`, or not at all. */
export function makeBrowser(
  base: string,
  sessionCookie: string,
  user: Pick<TestUser, "sessionSecret"> | undefined,
): TestBrowser {
  const jar = new Map<string, { name: string; value: string; path: string }>();
  let session = user?.sessionSecret;

  function cookiesFor(path: string): string {
    const own = session === undefined ? [] : [`${sessionCookie}=${session}`];
    const others = [...jar.values()]
      .filter((cookie) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, "/")))
      .map(({ name, value }) => `${name}=${value}`);
    return [...own, ...others].join("; ");
  }

  async function request(method: string, target: string, init: RequestInit): Promise<Response> {
    const url = new URL(target, base);
    const cookie = cookiesFor(url.pathname);
    const headers = { ...(cookie !== "" && { cookie }), ...(init.headers as Record<string, string>) };
    const response = await fetch(url, { ...init, method, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) keep(line);
    return response;
  }

  function keep(line: string): void {
    const [pair = "", ...attributes] = line.split(/; */);
    const [name = "", value = ""] = pair.split("=");
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? "/";
    const isGone = attributes.some((one) => /^(max-age=0|expires=thu, 01 jan 1970)/i.test(one));
    if (isGone) jar.delete(`${name} ${path}`);
    else jar.set(`${name} ${path}`, { name, value, path });
  }

  return {
    cookiesFor,
    become: (other) => void (session = other?.sessionSecret),
    get: (path, headers = {}) => request("GET", path, { headers: { "sec-fetch-site": "same-origin", ...headers } }),
    post: (path, body, headers = {}) =>
      request("POST", path, {
        body: body instanceof URLSearchParams ? body : JSON.stringify(body),
        headers: {
          origin: base,
          "sec-fetch-site": "same-origin",
          ...(!(body instanceof URLSearchParams) && { "content-type": "application/json" }),
          ...headers,
        },
      }),
  };
}
