/**
 * GitHub, Google and Slack as `emulate` speaks them, behind a server of ours that knows their own paths and what `emulate`
 * does not do: a person who says no, tokens that end, and a refresh token that opens nothing any more. Those are fakes, in the
 * words that the vendors publish.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createEmulator } from "emulate";

export type EmulatedService = "github" | "google" | "slack";

export const EMULATED_CLIENT = { clientId: "kb-client", clientSecret: "kb-client-secret" };

/** Its own paths, where those of the emulator are others. */
const PATHS: Readonly<Record<string, string>> = {
  "/token": "/oauth2/token",
  "/revoke": "/oauth2/revoke",
  "/oauth2/v3/userinfo": "/oauth2/v2/userinfo",
};

const AUTHORIZE = new Set(["/login/oauth/authorize", "/o/oauth2/v2/auth", "/oauth/v2/authorize"]);
const TOKEN = new Set(["/login/oauth/access_token", "/token", "/api/oauth.v2.access"]);

/** What each says to a refresh token that was taken back. */
const REFUSALS: Readonly<Record<EmulatedService, { status: number; body: object }>> = {
  github: { status: 200, body: { error: "bad_refresh_token", error_description: "<b>The refresh token is gone</b>" } },
  google: { status: 400, body: { error: "invalid_grant", error_description: "Token has been expired or revoked." } },
  slack: { status: 200, body: { ok: false, error: "invalid_refresh_token" } },
};

/** One emulated service that knows kb, and these people by their names there. */
export async function startEmulated(
  service: EmulatedService,
  { people, redirectUrl }: { people: readonly string[]; redirectUrl: string },
) {
  const { clientId, clientSecret } = EMULATED_CLIENT;
  const app = { client_id: clientId, client_secret: clientSecret, name: "kb", redirect_uris: [redirectUrl] };
  const users = people.map((name) =>
    service === "github" ? { login: name } : service === "google" ? { email: name, name } : { name, real_name: name },
  );
  const apps = service === "google" ? { oauth_clients: [app] } : { oauth_apps: [app] };
  const emulator = await createEmulator({ service, port: 0, seed: { [service]: { users, ...apps } } });
  // It names itself by a name; kb is to go to its address.
  const behind = emulator.url.replace("localhost", "127.0.0.1");
  const world = {
    url: "",
    /** The person says no on its page. */
    isDenying: false,
    /** Its access tokens end, as those of a GitHub App and of a Slack app with token rotation do. */
    rotates: false,
    /** Refresh tokens open nothing any more. */
    refusesRefresh: false,
    /** Takes the way back to kb instead of the browser that would go it. */
    onBack: undefined as ((address: string) => void) | undefined,
    /** Requests of the token endpoint, by grant. */
    grants: [] as string[],
    /** Tokens that it was told to end. */
    revoked: [] as string[],
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      await emulator.close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = new URL(request.url ?? "/", behind);
    if (world.isDenying && AUTHORIZE.has(asked.pathname)) return deny(asked, response);
    const body = await bodyOf(request);
    const isToken = TOKEN.has(asked.pathname);
    const form = new URLSearchParams(isToken ? body.toString() : "");
    if (asked.pathname === "/revoke") world.revoked.push(new URLSearchParams(body.toString()).get("token") ?? "");
    if (isToken) world.grants.push(form.get("grant_type") ?? "");
    if (isToken && form.get("grant_type") === "refresh_token" && world.refusesRefresh) {
      const { status, body: said } = REFUSALS[service];
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(said));
      return;
    }
    const passed = await fetch(new URL((PATHS[asked.pathname] ?? asked.pathname) + asked.search, behind), {
      method: request.method ?? "GET",
      headers: headersOf(request),
      redirect: "manual",
      ...(body.length > 0 && { body }),
    });
    const location = passed.headers.get("location");
    if (world.onBack && location?.startsWith(redirectUrl)) {
      world.onBack(location);
      return void response.writeHead(204).end();
    }
    response.writeHead(passed.status, {
      "content-type": passed.headers.get("content-type") ?? "",
      ...(location !== null && { location }),
    });
    const bytes = Buffer.from(await passed.arrayBuffer());
    response.end(isToken && passed.ok && world.rotates ? withRefresh(bytes.toString("utf8")) : bytes);
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address with a port.
  world.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return world;
}
export type EmulatedProvider = Awaited<ReturnType<typeof startEmulated>>;

function deny(asked: URL, response: ServerResponse): void {
  const back = new URL(asked.searchParams.get("redirect_uri") ?? "");
  back.searchParams.set("error", "access_denied");
  back.searchParams.set("error_description", "<script>alert(1)</script>");
  back.searchParams.set("state", asked.searchParams.get("state") ?? "");
  response.writeHead(302, { location: back.href }).end();
}

function withRefresh(text: string): string {
  const said = JSON.parse(text) as Record<string, unknown> & { authed_user?: Record<string, unknown> };
  const own = said.authed_user?.["access_token"] === undefined ? said : said.authed_user;
  if (own["access_token"] === undefined || own["refresh_token"] !== undefined) return text;
  Object.assign(own, { refresh_token: "kb-canary-refresh", expires_in: 3_600 });
  return JSON.stringify(said);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts);
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const passed = ["authorization", "content-type", "accept"].flatMap((name) => {
    const value = request.headers[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  return Object.fromEntries(passed) as Record<string, string>;
}
