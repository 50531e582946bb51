/** A provider of our own in the form of Gitea, for what a real one can't be made to do: see gitea.test.ts for that one. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface FakeUser {
  id: number;
  login: string;
}

/** What it does when it is asked for tokens; absent = as it should. */
export type TokenFault = (form: URLSearchParams, response: ServerResponse) => boolean;

export const FAKE_CLIENT = { clientId: "kb-client", clientSecret: "kb-client-secret" };

/** Starts one whose refresh tokens rotate and whose access tokens end after an hour. */
export async function startFakeProvider() {
  const codes = new Map<string, { user: FakeUser; challenge: string | null; redirectUri: string }>();
  const access = new Map<string, FakeUser>();
  const refresh = new Map<string, FakeUser>();
  const world = {
    url: "",
    /** Requests of the token endpoint, by grant. */
    asked: [] as string[],
    whoamis: 0,
    fault: undefined as TokenFault | undefined,
    /** What it says that it granted; absent = it doesn't say. */
    scope: undefined as string | undefined,
    /** The status of `/user` instead of an answer. */
    userStatus: undefined as number | undefined,
    /** Called before a refresh is answered. */
    beforeRefresh: async () => {},
    /** Ends every access token. */
    endAccess: () => access.clear(),
    endRefresh: () => refresh.clear(),
    holdsRefresh: () => refresh.size,
    /** A token that the person made there. */
    makeToken(user: FakeUser): string {
      const token = `own-${serial++}`;
      access.set(token, user);
      return token;
    },
    /** What a browser of this person brings back from an address of kb. */
    agree(address: string, user: FakeUser, more: Record<string, string> = {}): string {
      const url = new URL(address);
      const code = `code-${serial++}`;
      const redirectUri = url.searchParams.get("redirect_uri") ?? "";
      codes.set(code, { user, challenge: url.searchParams.get("code_challenge"), redirectUri });
      const back = new URL(redirectUri);
      back.searchParams.set("state", url.searchParams.get("state") ?? "");
      back.searchParams.set("code", code);
      for (const [name, value] of Object.entries(more)) back.searchParams.set(name, value);
      return back.pathname + back.search;
    },
  };
  let serial = 1;

  function grant(user: FakeUser): Record<string, unknown> {
    const tokens = { access_token: `access-${serial}`, refresh_token: `refresh-${serial++}` };
    access.set(tokens.access_token, user);
    refresh.set(tokens.refresh_token, user);
    const { scope } = world;
    return { ...tokens, token_type: "bearer", expires_in: 3_600, ...(scope !== undefined && { scope }) };
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    world.asked.push(form.get("grant_type") ?? "");
    if (world.fault?.(form, response) === true) return;
    if (form.get("client_id") !== FAKE_CLIENT.clientId || form.get("client_secret") !== FAKE_CLIENT.clientSecret) {
      return say(response, 401, { error: "invalid_client" });
    }
    if (form.get("grant_type") === "refresh_token") {
      await world.beforeRefresh();
      const user = refresh.get(form.get("refresh_token") ?? "");
      if (!user) return say(response, 400, { error: "invalid_grant", error_description: "<b>gone</b>" });
      refresh.delete(form.get("refresh_token") ?? "");
      return say(response, 200, grant(user));
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (!code || challenge !== code.challenge || form.get("redirect_uri") !== code.redirectUri) {
      return say(response, 400, { error: "invalid_grant", error_description: "<script>alert(1)</script>" });
    }
    say(response, 200, grant(code.user));
  }

  function whoami(request: IncomingMessage, response: ServerResponse): void {
    world.whoamis++;
    const user = access.get((request.headers.authorization ?? "").replace("Bearer ", ""));
    if (world.userStatus !== undefined) return say(response, world.userStatus, {});
    say(response, user ? 200 : 401, user ?? { message: "nonsense token" });
  }

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://here");
    if (pathname === "/login/oauth/access_token") void token(request, response);
    else if (pathname === "/api/v1/user") whoami(request, response);
    else say(response, 404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  // A listening TCP server has an address with a port.
  world.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return world;
}

async function text(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

function say(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
