/** A server of others with an authorization server of its own, for what a real one can't be made to do. */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { makeAddressGuard } from "#net/address-guard.ts";
import type { TestUser } from "../../helpers.ts";
import { INITIALIZED, startHttp } from "../../mcp-client/servers.ts";
import { type FakeMcp, makeProviderServer } from "./server.ts";

interface Grant {
  /** Who signed in; undefined = the server doesn't say. */
  who: string | undefined;
  clientId: string;
}

/** Starts one; `metadata` changes what it says of itself. */
export async function startAuthServer(metadata: Record<string, unknown> = {}) {
  const codes = new Map<string, Grant & { challenge: string | null; redirectUri: string; resource: string | null }>();
  const access = new Map<string, Grant>();
  const refresh = new Map<string, Grant>();
  const clients = new Map<string, { secret: string | undefined }>();
  let serial = 1;
  const world = {
    url: "",
    /** Overrides of its metadata. */
    metadata,
    /** What came to which path, as a form or JSON. */
    asked: [] as { path: string; body: Record<string, unknown>; headers: IncomingMessage["headers"] }[],
    isDown: false,
    /** Whose tokens a refresh gives instead of those of who signed in. */
    refreshesAs: undefined as string | undefined,
    clients,
    holds: () => [...access.keys(), ...refresh.keys()],
    /** From now on it names another authorization server. */
    moveIssuer(below: string) {
      world.issuer = world.url + below;
    },
    issuer: "",
    endAccess: () => access.clear(),
    endRefresh: () => refresh.clear(),
    /** What its MCP side wants. */
    accepts: ({ authorization = "" }: Readonly<Record<string, string>>) => access.has(authorization.slice(7)),
    /** What a browser of this person brings back from an address of kb. */
    agree(address: string, who?: string, more: Record<string, string> = {}): string {
      const url = new URL(address);
      const code = `code-planted-${serial++}`;
      const one = (name: string) => url.searchParams.get(name);
      const redirectUri = one("redirect_uri") ?? "";
      const grant = { who, clientId: one("client_id") ?? "" };
      codes.set(code, { ...grant, challenge: one("code_challenge"), redirectUri, resource: one("resource") });
      const back = new URL(redirectUri);
      const all = { state: one("state") ?? "", code, ...more };
      for (const [name, value] of Object.entries(all)) back.searchParams.set(name, value);
      return back.pathname + back.search;
    },
  };

  function grant({ who, clientId }: Grant): Record<string, unknown> {
    const tokens = { access_token: `access-planted-${serial}`, refresh_token: `refresh-planted-${serial++}` };
    access.set(tokens.access_token, { who, clientId });
    refresh.set(tokens.refresh_token, { who, clientId });
    const claims = { iss: world.issuer, aud: clientId, sub: who, email: `${who}@notes.test`, exp: 4e9 };
    const idToken = `x.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.x`;
    return { ...tokens, token_type: "Bearer", expires_in: 3_600, ...(who !== undefined && { id_token: idToken }) };
  }

  function token(form: Record<string, unknown>, response: ServerResponse): void {
    const say = (error: string) => answer(response, 400, { error, error_description: "<b>PLANTED</b>" });
    if (form["resource"] !== `${world.url}/mcp`) return say("invalid_target");
    if (!clients.has(String(form["client_id"]))) return say("invalid_client");
    if (clients.get(String(form["client_id"]))?.secret !== form["client_secret"]) return say("invalid_client");
    if (form["grant_type"] === "refresh_token") {
      const known = refresh.get(String(form["refresh_token"]));
      refresh.delete(String(form["refresh_token"]));
      return known
        ? answer(response, 200, grant({ ...known, who: world.refreshesAs ?? known.who }))
        : say("invalid_grant");
    }
    const code = codes.get(String(form["code"]));
    codes.delete(String(form["code"]));
    const challenge = createHash("sha256").update(String(form["code_verifier"])).digest("base64url");
    const isSame = code?.challenge === challenge && code.redirectUri === form["redirect_uri"];
    return code && isSame && code.resource === form["resource"]
      ? answer(response, 200, grant(code))
      : say("invalid_grant");
  }

  /** The server itself, with nothing in it. */
  function mcp(request: IncomingMessage, text: string, response: ServerResponse): void {
    if (request.method !== "POST") return void response.writeHead(405).end();
    if (!world.accepts({ authorization: request.headers.authorization ?? "" })) {
      const metadata = `${world.url}/.well-known/oauth-protected-resource/mcp`;
      return void response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
    }
    const { id, method } = JSON.parse(text) as { id?: unknown; method: string };
    const results: Record<string, object> = { initialize: INITIALIZED(), "tools/list": { tools: [] } };
    if (id === undefined) return void response.writeHead(202).end();
    answer(response, 200, { jsonrpc: "2.0", id, result: results[method] ?? { resources: [], resourceTemplates: [] } });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    const { url } = world;
    if (world.isDown) return void response.writeHead(503).end("PLANTED");
    // A browser goes there: its person agrees.
    if (path.startsWith("/authorize?")) {
      const back = new URL(path, url).searchParams.get("redirect_uri") ?? "";
      const location = new URL(world.agree(`${url}${path}`, "anna"), back).href;
      return void response.writeHead(302, { location }).end();
    }
    if (path === "/.well-known/oauth-protected-resource/mcp") {
      const scopes = { scopes_supported: ["read"] };
      return answer(response, 200, {
        resource: `${url}/mcp`,
        authorization_servers: [world.issuer],
        ...scopes,
        ...world.metadata,
      });
    }
    if (path.startsWith("/.well-known/oauth-authorization-server")) {
      return answer(response, 200, {
        issuer: world.issuer,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        registration_endpoint: `${url}/register`,
        revocation_endpoint: `${url}/revoke`,
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
        scopes_supported: ["read", "openid"],
        ...world.metadata,
      });
    }
    const text = await bodyOf(request);
    if (path === "/mcp") return mcp(request, text, response);
    const isJson = request.headers["content-type"]?.includes("json") ?? false;
    const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : Object.fromEntries(new URLSearchParams(text));
    world.asked.push({ path, body, headers: request.headers });
    if (path === "/token") return token(body, response);
    if (path === "/register") {
      const clientId = `client-${serial++}`;
      clients.set(clientId, { secret: undefined });
      return answer(response, 201, { client_id: clientId, token_endpoint_auth_method: "none" });
    }
    if (path === "/revoke") {
      access.clear();
      refresh.delete(String(body["token"]));
      return answer(response, 200, {});
    }
    answer(response, 404, {});
  }

  world.url = await startHttp((request, response) => void handle(request, response));
  world.issuer = world.url;
  return world;
}

/** The app with such a server, and what its people do in browsers. */
export async function makeOAuthServer(
  options: {
    metadata?: Record<string, unknown>;
    settings?: object;
    /** `host:port` that the operator has listed for something else. */
    hosts?: string[];
    /** Another one. */
    also?: Awaited<ReturnType<typeof startAuthServer>>;
  } = {},
) {
  const there = await startAuthServer(options.metadata);
  const url = `${there.url}/mcp`;
  const mcp: FakeMcp = { accepts: there.accepts, seen: [] };
  const kb = await makeProviderServer({
    servers: { [url]: mcp, ...(options.also && { [`${options.also.url}/mcp`]: { ...options.also, seen: [] } }) },
    addressGuard: makeAddressGuard({
      lookup: () => Promise.resolve([]),
      privateHosts: [new URL(there.url).host, ...(options.hosts ?? [])],
      isOwn: () => false,
    }),
    ...(options.settings && { settings: options.settings }),
  });
  const { id: serverId } = await kb.addServer({ url, auth: { kind: "oauth" } });
  const path = `/api/mcp-servers/${serverId}/connections`;

  const intend = (user: TestUser, body: Record<string, unknown> = {}) =>
    kb.as(user).post(`${path}/intents`, { app: "notes", ...body });
  const secretOf = (intent: { redirectUrl: string }) => intent.redirectUrl.split("#intent=")[1] ?? "";
  /** Goes to the provider; gives its address and the browser's cookie. */
  async function open(user: TestUser, intent: { redirectUrl: string }) {
    const opened = await kb.as(user).post("/api/mcp-servers/intents/open", { intent: secretOf(intent) });
    const cookie = /kb_connect=[^;]+/.exec(opened.headers.get("set-cookie") ?? "")?.[0] ?? "";
    return { ...opened, url: String(opened.json?.url), cookie };
  }
  /** Comes back; gives the page where it leads. */
  async function back(user: TestUser | undefined, callback: string, cookie: string): Promise<string> {
    const session = user ? `${kb.deps.cookie.name}=${user.sessionSecret}; ` : "";
    const { status, headers } = await kb.anyone().request("GET", callback, { headers: { cookie: session + cookie } });
    if (status !== 302) throw new Error(`${status}`);
    return headers.get("location") ?? "";
  }
  const confirm = (user: TestUser, location: string, isAccepted = true) =>
    kb.as(user).post("/api/mcp-servers/intents/confirm", { id: location.split("#found=")[1], isAccepted });
  return {
    ...kb,
    there,
    mcp,
    serverId,
    path,
    intend,
    secretOf,
    open,
    back,
    confirm,
    /** The whole way. */
    async connectThere(user: TestUser, who?: string, body: Record<string, unknown> = {}) {
      const { intent } = (await intend(user, body)).json;
      const { url: address, cookie } = await open(user, intent);
      const location = await back(user, there.agree(address, who), cookie);
      const done = location.includes("#found=") ? await confirm(user, location) : undefined;
      return { intent, location, done, connection: done?.json?.connection };
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
