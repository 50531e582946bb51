import { parse as parseCookies } from "hono/utils/cookie";
import type { Scope } from "#api/common.ts";
import { ApiError, forbidden } from "#api/errors.ts";
import type { Actor, ConnectorCaller, RequestOrigin } from "#storage/access/actor.ts";
import type { RouteAccess } from "./auth.ts";

/** The authenticated caller of a route. */
export type Caller =
  | { type: "nobody" }
  | { type: "actor"; actor: Actor }
  | { type: "connector"; connector: ConnectorCaller };

/**
 * Looks up a secret in the current state. Undefined if the secret is unknown, expired or revoked, or its person is no
 * longer a member.
 */
export interface CredentialLookup {
  session(secret: string): Promise<Actor | undefined>;
  pat(secret: string): Promise<Actor | undefined>;
  /** Looks up an OAuth access token for one audience. */
  oauth(token: string, audience: "mcp" | "api"): Promise<Actor | "other_audience" | undefined>;
  connectorKey(secret: string): Promise<ConnectorCaller | undefined>;
  /** Identifies, by its cookies, a browser in which someone has signed in before; undefined for any other browser. */
  knownBrowser(cookies: string | undefined): string | undefined;
}

/** The parts of a request that can contain credentials: URL, headers and origin. */
/** Finds the person to whom a session's secret belongs. */
export interface SessionLookup {
  findActor(secret: string): Promise<Actor | undefined>;
}

export interface RequestCredentials {
  url: string;
  headers: Headers;
  origin: RequestOrigin;
}

export interface Authenticator {
  /**
   * Returns the caller if the rule accepts its credential.
   *
   * @throws ApiError `unauthenticated`, `forbidden`, `insufficient_scope`, `two_credentials`, `credential_in_url`
   */
  authenticate(rule: RouteAccess, credentials: RequestCredentials): Promise<Caller>;
  /**
   * Finds a credential of this server in a request, on any route: a live session, token or key, or a browser in which
   * someone has signed in. It grants no access, but only distinguishes the sender from others at the same address.
   */
  findShown(headers: Headers): Promise<string | undefined>;
}

/**
 * Makes the authenticator, the only place where a request becomes an actor. Nothing is cached between requests, so a
 * lost role or a revoked token takes effect on the next request (S6).
 */
export function makeAuthenticator(options: { lookup: CredentialLookup; cookieName: string }): Authenticator {
  const { lookup, cookieName } = options;
  return {
    async authenticate(rule, credentials) {
      refuseSecretsInUrl(credentials.url);
      if (rule.public) return { type: "nobody" };
      const bearer = readBearer(credentials.headers.get("authorization"));
      refuseSecondCredential(bearer, credentials.headers, cookieName);
      if (bearer === undefined)
        return enterBySession(rule, credentials, lookup, readCookie(credentials.headers, cookieName));
      if (bearer.startsWith("kb_con_")) return enterByKey(rule, credentials, lookup, bearer);
      return enterByToken(rule, credentials, lookup, bearer);
    },
    async findShown(headers) {
      const bearer = /^Bearer +([\w.~+/=-]+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
      if (bearer !== undefined) return showByToken(lookup, bearer);
      const cookies = headers.get("cookie") ?? undefined;
      const secret = cookies === undefined ? undefined : parseCookies(cookies, cookieName)[cookieName];
      const actor = secret === undefined ? undefined : await lookup.session(secret);
      if (actor !== undefined) return actor.userId;
      const browser = lookup.knownBrowser(cookies);
      return browser === undefined ? undefined : `browser ${browser}`;
    },
  };
}

async function showByToken(lookup: CredentialLookup, secret: string): Promise<string | undefined> {
  if (secret.startsWith("kb_con_")) return (await lookup.connectorKey(secret))?.keyId;
  if (secret.startsWith("kb_pat_")) return (await lookup.pat(secret))?.credential.id;
  for (const audience of ["mcp", "api"] as const) {
    const actor = await lookup.oauth(secret, audience);
    if (actor === undefined) return undefined;
    if (actor !== "other_audience") return actor.credential.id;
  }
  return undefined;
}

async function enterBySession(
  rule: RouteAccess,
  credentials: RequestCredentials,
  lookup: CredentialLookup,
  secret: string | undefined,
): Promise<Caller> {
  if (!rule.session || secret === undefined) throw notSignedIn(rule);
  const actor = await lookup.session(secret);
  if (!actor) throw notSignedIn(rule);
  requireRole(rule, actor);
  return { type: "actor", actor: { ...actor, origin: credentials.origin } };
}

async function enterByToken(
  rule: RouteAccess,
  credentials: RequestCredentials,
  lookup: CredentialLookup,
  secret: string,
): Promise<Caller> {
  // The two kinds are distinguished before the lookup, since they are in different tables.
  const isPat = secret.startsWith("kb_pat_");
  const actor = isPat ? await lookup.pat(secret) : await lookup.oauth(secret, rule.oauth?.audience ?? "api");
  if (actor === undefined) throw deadToken();
  if (actor === "other_audience") throw otherAudience();
  if (isPat) requireScope(rule, rule.pat, actor.scopes);
  else requireScope(rule, rule.oauth?.scopes ?? [], actor.scopes);
  requireRole(rule, actor);
  return { type: "actor", actor: { ...actor, origin: credentials.origin } };
}

async function enterByKey(
  rule: RouteAccess,
  credentials: RequestCredentials,
  lookup: CredentialLookup,
  secret: string,
): Promise<Caller> {
  const connector = await lookup.connectorKey(secret);
  if (!connector) throw new ApiError("unauthenticated", { message: "This connector key is unknown or revoked." });
  if (!rule.connectorKey) {
    throw forbidden("A connector key is valid only for the push routes of its own connector.");
  }
  return { type: "connector", connector: { ...connector, origin: credentials.origin } };
}

/** `invalid_token` tells a client to refresh or to sign in again. Source: RFC 6750 §3.1. */
function deadToken(): ApiError {
  return new ApiError("unauthenticated", {
    message: "This token is unknown, expired or revoked.",
    hint: "Create a new one in Settings, or with: kb tokens create NAME",
    details: { bearerError: "invalid_token" },
  });
}

function otherAudience(): ApiError {
  return new ApiError("unauthenticated", {
    message: "This token was issued for another resource of this server.",
    hint: "Use the refresh token to get one for the right resource.",
    details: { bearerError: "invalid_token" },
  });
}

function requireScope(rule: RouteAccess, needed: readonly Scope[], held: readonly Scope[]): void {
  if (needed.length === 0) {
    throw forbidden(
      rule.connectorKey
        ? "This route needs the connector's own key."
        : "This route doesn't accept tokens. Sign in instead.",
    );
  }
  if (needed.some((scope) => held.includes(scope) || (scope === "kb:api" && held.includes("kb:admin")))) return;
  // The caller has checked that `needed` isn't empty.
  const missing = needed.at(-1) ?? "kb:api";
  throw new ApiError("insufficient_scope", {
    message: `This token does not have the scope ${missing}.`,
    hint: `Create one that has it: kb tokens create NAME --scope ${missing}`,
    details: { scope: missing },
  });
}

function requireRole(rule: RouteAccess, actor: Actor): void {
  if (rule.role === undefined || actor.role === "owner" || actor.role === rule.role) return;
  const who = rule.role === "owner" ? "the owner" : "admins";
  throw forbidden(`Only ${who} of the workspace can do this.`);
}

function notSignedIn(rule: RouteAccess): ApiError {
  return rule.session
    ? new ApiError("unauthenticated", { message: "You are not signed in.", hint: "Sign in with: kb login" })
    : new ApiError("unauthenticated", { message: "This route needs the header Authorization: Bearer TOKEN." });
}

/** Returns the only Bearer token of the header; undefined if there is no header. */
function readBearer(header: string | null): string | undefined {
  if (header === null) return undefined;
  // Repeated headers arrive as one, joined by commas.
  if (header.includes(",")) {
    throw new ApiError("two_credentials", { message: "The request carries two credentials. Send exactly one." });
  }
  const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(header)?.[1];
  if (token === undefined) {
    throw new ApiError("unauthenticated", { message: "The header Authorization must be: Bearer, a space, the token." });
  }
  return token;
}

/**
 * Refuses a request with both a token and a session, since kb would have to guess which one is meant. A page that uses
 * a token must not act with the rights of the person who is signed in.
 */
function refuseSecondCredential(bearer: string | undefined, headers: Headers, cookieName: string): void {
  if (bearer === undefined || readCookie(headers, cookieName) === undefined) return;
  throw new ApiError("two_credentials", {
    message: "The request carries a token and the cookie of a session. Send exactly one.",
    hint: `In a browser, use credentials: "omit" with the Authorization header.`,
  });
}

/**
 * Finds the person whose session the browser sends, on a route that is open to anyone.
 *
 * @throws ApiError `two_credentials`
 */
export async function findVisitor(
  headers: Headers,
  { cookie, sessions }: { cookie: { name: string }; sessions: SessionLookup },
): Promise<Actor | undefined> {
  const secret = readCookie(headers, cookie.name);
  return secret === undefined ? undefined : sessions.findActor(secret);
}

/** Returns the value of this cookie. @throws ApiError `two_credentials` if the cookie has several different values */
export function readCookie(headers: Headers, name: string): string | undefined {
  const header = headers.get("cookie");
  if (header === null) return undefined;
  const values = header.split(/; */).filter((pair) => pair.startsWith(`${name}=`));
  if (new Set(values).size > 1) {
    throw new ApiError("two_credentials", { message: "The request carries two sessions. Send exactly one." });
  }
  return parseCookies(header, name)[name];
}

const SECRET_PARAMETERS = new Set(["access_token", "api_key", "apikey", "token", "authorization", "bearer"]);
const SECRET_VALUE = /kb_(?:pat|con)_[0-9A-Za-z]{38}/;

/** Refuses credentials in URLs, since URLs are stored in logs and histories. */
function refuseSecretsInUrl(url: string): void {
  const query = url.indexOf("?");
  const isSecret =
    SECRET_VALUE.test(url) ||
    (query !== -1 &&
      [...new URLSearchParams(url.slice(query)).keys()].some((key) => SECRET_PARAMETERS.has(key.toLowerCase())));
  if (!isSecret) return;
  throw new ApiError("credential_in_url", {
    message: "Don't put credentials in the URL. Replace this one, and send the new one as Authorization: Bearer.",
  });
}
