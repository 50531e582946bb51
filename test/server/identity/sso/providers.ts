import { createHash, createSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { onTestFinished, vi } from "vitest";
import { makeAddressGuard } from "#net/address-guard.ts";
import { makeServer, type TestAnswer, type TestServer, type TestServerOptions } from "../../../helpers.ts";
import type { Mailbox } from "../../../mailbox.ts";
import { cookiesOf } from "../sessions/people.ts";

export const BASE = "http://127.0.0.1:7700";
const CALLBACK = `${BASE}/api/sso/callback`;

/** What a provider says of the person in front of it. */
export interface Claims {
  sub: string;
  email?: string;
  email_verified?: unknown;
  name?: string;
}

async function listen(handler: (port: number) => RequestListener): Promise<number> {
  const server = createServer((request, response) => answer(request, response));
  let answer: RequestListener = (_request, response) => void response.writeHead(503).end();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  answer = handler(port);
  return port;
}

/** A real OpenID provider; anyone who comes is `person` at once. */
export async function startProvider(person: Claims) {
  const who = { person };
  // What it thinks of test settings.
  for (const level of ["warn", "info"] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
  let issuer = "";
  const port = await listen((at) => {
    issuer = `http://127.0.0.1:${at}`;
    const provider = new Provider(issuer, {
      clients: [{ client_id: "kb", client_secret: "provider-secret", redirect_uris: [CALLBACK] }],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      pkce: { required: () => true },
      cookies: { keys: ["test"] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, accountId) => ({ accountId, claims: () => ({ ...who.person }) }),
      async loadExistingGrant({ oidc }) {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client?.clientId ?? "",
          accountId: oidc.session?.accountId ?? "",
        });
        grant.addOIDCScope("openid email profile");
        await grant.save();
        return grant;
      },
    });
    const answer = provider.callback();
    return (request, response) => {
      if (!request.url?.startsWith("/interaction/")) return void answer(request, response);
      void provider.interactionFinished(request, response, { login: { accountId: who.person.sub } });
    };
  });
  return { issuer, port, who };
}

/** What a provider that lies does to its ID tokens. */
export interface Lies {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  /** Signs with a key that it does not publish. */
  isForged?: boolean;
  /** What its discovery document says differently. */
  metadata?: Record<string, unknown>;
  /** Answers for its token endpoint. */
  tokenStatus?: number;
}

let pairs: { keys: ReturnType<typeof makePair>; others: ReturnType<typeof makePair> } | undefined;
const makePair = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

/** A provider made by hand that may lie; it keeps what it was asked. */
export async function startLiar(lies: Lies = {}) {
  const { keys, others } = (pairs ??= { keys: makePair(), others: makePair() });
  const asked: { path: string; body: string }[] = [];
  const told = { nonce: "" };
  let issuer = "";
  const port = await listen((at) => {
    issuer = `http://127.0.0.1:${at}`;
    return (request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        const path = new URL(request.url ?? "/", issuer).pathname;
        asked.push({ path, body });
        const [status, json] = answerTo(path);
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
      });
    };
  });

  function answerTo(path: string): [number, unknown] {
    switch (path) {
      case "/.well-known/openid-configuration":
        return [200, { ...discovery(issuer), ...lies.metadata }];
      case "/jwks":
        return [200, { keys: [{ ...keys.publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" }] }];
      case "/token":
        if (lies.tokenStatus !== undefined) return [lies.tokenStatus, { error: "<script>alert(1)</script>" }];
        return [200, { access_token: "at", token_type: "Bearer", expires_in: 60, id_token: idToken() }];
      default:
        return [404, {}];
    }
  }

  function idToken(): string {
    const seconds = Math.floor(Date.now() / 1_000);
    const header = { alg: "RS256", kid: "1", ...lies.header };
    const claims = {
      iss: issuer,
      aud: "kb",
      sub: "liar",
      email: "ana@acme.test",
      email_verified: true,
      nonce: told.nonce,
      iat: seconds,
      exp: seconds + 60,
      ...lies.claims,
    };
    return sign(header, claims, lies.isForged === true ? others.privateKey : keys.privateKey);
  }

  return { issuer, port, asked, told };
}

function discovery(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  };
}

function sign(header: Record<string, unknown>, claims: Record<string, unknown>, key: KeyObject): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  if (header["alg"] === "none") return `${text}.`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(key, "base64url")}`;
}

/** A server of ours that signs in at this provider. */
export async function makeSsoServer(
  at: { issuer: string; port: number },
  options: {
    settings?: TestServerOptions["settings"];
    domains?: string[];
    isReachable?: boolean;
    /** `host:port` that the operator has listed for something else. */
    hosts?: string[];
    mailer?: Mailbox;
  } = {},
): Promise<TestServer> {
  const sso = { issuer: at.issuer, clientId: "kb", clientSecret: "provider-secret", name: "Acme ID" };
  return makeServer({
    settings: options.settings ?? {},
    outside: { sso: { ...sso, domains: options.domains ?? [] }, ...(options.mailer && { mailer: options.mailer }) },
    addressGuard: makeAddressGuard({
      lookup: () => Promise.resolve([]),
      privateHosts: options.isReachable === false ? [] : [`127.0.0.1:${at.port}`, ...(options.hosts ?? [])],
      isOwn: () => false,
    }),
  });
}

/** Sets out: the provider's address, with the cookie that ties the trip to this browser. */
export async function setOut(kb: TestServer, returnTo?: string, cookie = "") {
  const query = returnTo === undefined ? "" : `?returnTo=${encodeURIComponent(returnTo)}`;
  const answer = await kb.anyone().request("GET", `/api/sso/authorize${query}`, { headers: { cookie } });
  return { answer, url: answer.headers.get("location") ?? "", cookie: join(cookie, cookiesOf(answer)) };
}

/** Goes through the provider's pages. @returns path and query of our callback */
export async function passProvider(url: string): Promise<string> {
  const cookies = new Map<string, string>();
  let at = url;
  for (let hop = 0; hop < 10; hop++) {
    const header = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(at, { redirect: "manual", headers: { cookie: header } });
    for (const cookie of answer.headers.getSetCookie()) {
      const [pair = ""] = cookie.split(";");
      cookies.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    const location = answer.headers.get("location");
    if (location === null) throw new Error(`The provider stopped with ${answer.status}: ${await answer.text()}`);
    at = new URL(location, at).href;
    if (at.startsWith(CALLBACK)) return at.slice(BASE.length);
  }
  throw new Error("The provider redirects without end.");
}

/** Comes back to our callback. */
export function comeBack(kb: TestServer, path: string, cookie: string): Promise<TestAnswer> {
  // A browser says so of a redirect from another site.
  return kb.anyone().request("GET", path, { headers: { cookie, "sec-fetch-site": "cross-site" } });
}

/** The whole way there and back. */
export async function signInAtProvider(kb: TestServer, returnTo?: string): Promise<TestAnswer> {
  const { url, cookie } = await setOut(kb, returnTo);
  return comeBack(kb, await passProvider(url), cookie);
}

/** What a provider that lies sends back to our callback, for this trip. */
export function callbackOf(url: string, change: Record<string, string> = {}): string {
  const asked = new URL(url);
  const query = { code: "code", state: asked.searchParams.get("state") ?? "", iss: asked.origin, ...change };
  return `/api/sso/callback?${new URLSearchParams(query).toString()}`;
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function join(...cookies: string[]): string {
  return cookies.filter((cookie) => cookie !== "").join("; ");
}
