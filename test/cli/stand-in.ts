import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request as the server saw it; `form` is the body of the token endpoints. */
export interface StandInRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  form: URLSearchParams;
  text: string;
}

/**
 * A small authorization server with the paths of the spec: codes with PKCE, device codes, rotating refresh tokens whose
 * second use ends the family, tokens bound to one resource. It is strict where a mistake of the client would show.
 */
export interface StandIn {
  url: string;
  seen: StandInRequest[];
  /** What the token endpoint gives; a test may shorten it. */
  lifeSeconds: number;
  /** Between two questions of a device. */
  intervalSeconds: number;
  /** Scopes of the next grant, as the person allows them; undefined = all that are asked for. */
  allowed: string[] | undefined;
  /** Answers to the next device polls before the decision. */
  polls: string[];
  decision: "allow" | "deny";
  email: string;
  /** Changes an answer before it is sent; undefined = as it is. */
  tamper: ((path: string, answer: Record<string, unknown>) => Record<string, unknown> | number) | undefined;
  /** How many refreshes were answered. */
  refreshes: number;
  /** Tokens that open something now. */
  live(): { access: string[]; refresh: string[] };
  /** Ends every access token, as if an hour went by. */
  expireAccess(): void;
  /** Ends everything, as a revoked grant does. */
  revokeAll(): void;
  /** What the browser does: follows the authorize address and gives the answer to the loopback; the page it shows. */
  visit(address: string, change?: (answer: URL) => void): Promise<{ status: number; text: string; answer: URL }>;
  close(): Promise<void>;
}

interface Grant {
  scopes: string[];
  resources: string[];
  isAlive: boolean;
}

export async function startStandIn(): Promise<StandIn> {
  const codes = new Map<string, { grant: Grant; challenge: string; redirectUri: string }>();
  const refresh = new Map<string, { grant: Grant; isUsed: boolean }>();
  const access = new Map<string, { grant: Grant; resource: string; isAlive: boolean }>();
  const devices = new Map<string, Grant>();
  const random = (prefix: string): string => `${prefix}_${randomBytes(24).toString("base64url")}`;

  const issue = (grant: Grant, form: URLSearchParams, withRefresh: boolean): Record<string, unknown> | string => {
    const [resource, ...more] = form.getAll("resource");
    if (resource === undefined || more.length > 0 || !grant.resources.includes(resource)) return "invalid_target";
    const token = random("at");
    access.set(token, { grant, resource, isAlive: true });
    const answer: Record<string, unknown> = {
      access_token: token,
      token_type: "Bearer",
      expires_in: self.lifeSeconds,
      scope: grant.scopes.join(" "),
    };
    if (withRefresh) {
      const next = random("rt");
      refresh.set(next, { grant, isUsed: false });
      answer["refresh_token"] = next;
    }
    return answer;
  };

  const grantOf = (form: URLSearchParams): Grant => ({
    scopes: self.allowed ?? (form.get("scope") ?? "").split(" "),
    resources: form.getAll("resource"),
    isAlive: true,
  });

  const byCode = (form: URLSearchParams): Record<string, unknown> | string => {
    const found = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (found === undefined || found.challenge !== challenge) return "invalid_grant";
    if (found.redirectUri !== form.get("redirect_uri")) return "invalid_grant";
    return issue(found.grant, form, !found.grant.scopes.includes("kb:admin"));
  };

  const byRefresh = (form: URLSearchParams): Record<string, unknown> | string => {
    const found = refresh.get(form.get("refresh_token") ?? "");
    if (found === undefined || !found.grant.isAlive) return "invalid_grant";
    if (found.isUsed) {
      found.grant.isAlive = false;
      return "invalid_grant";
    }
    const answer = issue(found.grant, form, true);
    if (typeof answer === "object") {
      found.isUsed = true;
      self.refreshes += 1;
    }
    return answer;
  };

  const byDevice = (form: URLSearchParams): Record<string, unknown> | string => {
    const wait = self.polls.shift();
    if (wait !== undefined) return wait;
    const grant = devices.get(form.get("device_code") ?? "");
    devices.delete(form.get("device_code") ?? "");
    if (grant === undefined) return "expired_token";
    return self.decision === "deny" ? "access_denied" : issue(grant, form, true);
  };

  const tokenAnswer = (form: URLSearchParams): Record<string, unknown> | string => {
    if (form.get("client_id") !== "kb-cli") return "invalid_client";
    switch (form.get("grant_type")) {
      case "authorization_code":
        return byCode(form);
      case "refresh_token":
        return byRefresh(form);
      case "urn:ietf:params:oauth:grant-type:device_code":
        return byDevice(form);
      default:
        return "unsupported_grant_type";
    }
  };

  const opens = (request: StandInRequest, resource: string): Grant | undefined => {
    const found = access.get((request.headers.authorization ?? "").replace(/^Bearer /, ""));
    return found?.isAlive === true && found.grant.isAlive && found.resource === resource ? found.grant : undefined;
  };

  const authorize = (query: URLSearchParams, response: ServerResponse): void => {
    const back = new URL(query.get("redirect_uri") ?? "");
    if (query.get("client_id") !== "kb-cli" || query.get("code_challenge_method") !== "S256") {
      response.writeHead(400).end();
      return;
    }
    back.searchParams.set("state", query.get("state") ?? "");
    back.searchParams.set("iss", self.url);
    if (self.decision === "deny") back.searchParams.set("error", "access_denied");
    else {
      const code = random("code");
      codes.set(code, {
        grant: grantOf(query),
        challenge: query.get("code_challenge") ?? "",
        redirectUri: query.get("redirect_uri") ?? "",
      });
      back.searchParams.set("code", code);
    }
    response.writeHead(302, { location: back.href }).end();
  };

  const answer = (request: StandInRequest, query: URLSearchParams, response: ServerResponse): void => {
    const json = (status: number, value: Record<string, unknown>): void => {
      const changed = self.tamper?.(request.path, value) ?? value;
      if (typeof changed === "number")
        return void response.writeHead(changed, { location: "http://127.0.0.1:9/" }).end();
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(changed));
    };
    const problem = (status: number, code: string): void => json(status, { title: code, status, detail: code, code });
    const outcome = (value: Record<string, unknown> | string): void =>
      typeof value === "string" ? json(400, { error: value }) : json(200, value);
    switch (`${request.method} ${request.path}`) {
      case "GET /.well-known/oauth-authorization-server":
        return json(200, {
          issuer: self.url,
          authorization_endpoint: `${self.url}/oauth/authorize`,
          token_endpoint: `${self.url}/oauth/token`,
          revocation_endpoint: `${self.url}/oauth/revoke`,
          device_authorization_endpoint: `${self.url}/oauth/device_authorization`,
        });
      case "GET /oauth/authorize":
        return authorize(query, response);
      case "POST /oauth/device_authorization": {
        const code = random("dc");
        devices.set(code, grantOf(request.form));
        return json(200, {
          device_code: code,
          user_code: "BCDF-GHJK",
          verification_uri: `${self.url}/oauth/device`,
          expires_in: 300,
          interval: self.intervalSeconds,
        });
      }
      case "POST /oauth/token":
        return outcome(tokenAnswer(request.form));
      case "POST /oauth/revoke": {
        const token = request.form.get("token") ?? "";
        const found = refresh.get(token) ?? access.get(token);
        if (found !== undefined) found.grant.isAlive = false;
        return json(200, {});
      }
      case "GET /api/onboarding":
        return json(200, { needed: false, mode: "self-hosted", signup: "invite", sso: null, canMail: false });
      case "GET /api/session": {
        const grant = opens(request, `${self.url}/api`);
        return grant === undefined ? problem(401, "unauthenticated") : json(200, sessionOf(self.email, grant.scopes));
      }
      case "POST /mcp": {
        if (opens(request, `${self.url}/mcp`) === undefined) return problem(401, "unauthenticated");
        // The bridge sends what the host sent: a JSON-RPC request.
        const { id } = JSON.parse(request.text) as { id: unknown };
        return json(200, { jsonrpc: "2.0", id, result: { tools: [] } });
      }
      default:
        return problem(404, "not_found");
    }
  };

  const server: Server = createServer((message, response) => {
    const parts: Buffer[] = [];
    message.on("data", (part: Buffer) => parts.push(part));
    message.on("end", () => {
      const text = Buffer.concat(parts).toString("utf8");
      const url = new URL(message.url ?? "/", "http://127.0.0.1");
      const form = new URLSearchParams(text.startsWith("{") ? "" : text);
      const request = { method: message.method ?? "", path: url.pathname, headers: message.headers, form, text };
      self.seen.push(request);
      answer(request, url.searchParams, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server's address is an object.
  const { port } = server.address() as AddressInfo;
  const self: StandIn = {
    url: `http://127.0.0.1:${port}`,
    seen: [],
    lifeSeconds: 3600,
    intervalSeconds: 5,
    allowed: undefined,
    polls: [],
    decision: "allow",
    email: "ana@one.test",
    tamper: undefined,
    refreshes: 0,
    live: () => ({
      access: [...access].filter(([, { grant, isAlive }]) => isAlive && grant.isAlive).map(([token]) => token),
      refresh: [...refresh].filter(([, { grant, isUsed }]) => !isUsed && grant.isAlive).map(([token]) => token),
    }),
    expireAccess: () => access.forEach((one) => (one.isAlive = false)),
    revokeAll: () => refresh.forEach(({ grant }) => (grant.isAlive = false)),
    async visit(address, change) {
      const redirect = await fetch(address, { redirect: "manual" });
      const back = new URL(redirect.headers.get("location") ?? "");
      change?.(back);
      const page = await fetch(back);
      return { status: page.status, text: await page.text(), answer: back };
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  onTestFinished(() => self.close());
  return self;
}

function sessionOf(email: string, scopes: string[]): Record<string, unknown> {
  return {
    user: { id: "usr_1", name: "Ana", email, emailVerifiedAt: null, timeZone: null, createdAt: "" },
    workspace: { id: "wsp_1", name: "One", timeZone: "UTC", secrets: "mask", createdAt: "" },
    role: "admin",
    scopes,
    mode: "self-hosted",
    signup: "invite",
    notices: [],
  };
}
