import { canParseUrl } from "#api/parse-url.ts";
import type { Scope } from "#api/common.ts";

/** The client id of the command line, which is part of this server. Every other client registered itself. */
export const OWN_CLIENT_ID = "kb-cli";
export const OWN_CLIENT_NAME = "kb command line";

/** The paths of the contract, and further paths that the library needs. */
export const PATHS = {
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  revoke: "/oauth/revoke",
  register: "/oauth/register",
  deviceAuthorization: "/oauth/device_authorization",
  device: "/oauth/device",
  jwks: "/oauth/jwks",
} as const;

/** The grant type of RFC 8628. */
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Grant types that clients can have in addition to device codes: the code flow and refresh. */
export const CODE_GRANTS: readonly string[] = ["authorization_code", "refresh_token"];
/** Flows that aren't offered. A request for one is a mistake or an attack. */
export const OTHER_FLOWS: ReadonlySet<unknown> = new Set(["implicit", "password", "client_credentials"]);

/** Lifetimes in seconds. Source: docs/oauth.md#rules; S27, S29. */
export const LIFETIMES = {
  accessToken: 3_600,
  authorizationCode: 60,
  /**
   * Lifetime of a code for `mcp:read` alone. It is longer because people who sign in over SSH copy an address from one
   * window into another.
   */
  readingCode: 600,
  refreshToken: 30 * 86_400,
  /** After this time the person has to consent again, even if the tokens were refreshed. */
  grant: 365 * 86_400,
  interaction: 600,
  deviceCode: 300,
  /** Time after which the client's document is fetched again. */
  document: 86_400,
} as const;

/** The audiences of tokens: the MCP tools and the REST routes. */
export type Audience = "mcp" | "api";

/** Returns the resource indicators of the two endpoints. A token is bound to exactly one. Source: RFC 8707. */
export function resourcesOf(baseUrl: string): Record<Audience, string> {
  return { mcp: `${baseUrl}/mcp`, api: `${baseUrl}/api` };
}

/** The scopes that may be requested for each resource. */
export const SCOPES_OF: Readonly<Record<Audience, readonly Scope[]>> = {
  mcp: ["mcp:read"],
  api: ["kb:api", "kb:admin"],
};

/**
 * Returns every scope that a client may request. A device can never request `kb:admin`, since its code could be mailed
 * to an admin (S27).
 */
export function scopesOf(clientId: string, way: "browser" | "device"): readonly Scope[] {
  if (clientId !== OWN_CLIENT_ID) return ["mcp:read"];
  return way === "browser" ? ["mcp:read", "kb:api", "kb:admin"] : ["mcp:read", "kb:api"];
}

/**
 * Schemes of common apps. Schemes with a dot are also allowed, since they belong to the owner of the domain.
 * Source: S33.
 */
const KNOWN_SCHEMES = new Set([
  "claude",
  "cline",
  "code-oss",
  "cursor",
  "goose",
  "kiro",
  "lmstudio",
  "raycast",
  "trae",
  "vscode",
  "vscode-insiders",
  "vscodium",
  "warp",
  "windsurf",
  "zed",
]);

/** Schemes that run programs, open files, or belong to the system, with or without a dot. */
const FORBIDDEN_SCHEME =
  /^(?:about|blob|chrome.*|data|file.*|filesystem|ftp|https?|intent|jar|javascript|mailto|ms-.*|resource|search-ms|shell|sms|tel|vbscript|view-source|wss?|x-.*)$/;

/** Redirect addresses that are allowed in addition to the built-in ones. */
export interface RedirectRules {
  /** App schemes that the operator added, in lower case and without the colon. */
  appSchemes: ReadonlySet<string>;
}

/** Returns the problem with a scheme that an operator wants to add. Undefined if the scheme is valid. */
export function faultOfAppScheme(scheme: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]{0,60}$/.test(scheme)) return "isn't a URL scheme such as myapp";
  return FORBIDDEN_SCHEME.test(scheme) ? "can't be an app's scheme" : undefined;
}

const MAX_URI_CHARS = 2_000;

/** Returns the problem with a client's redirect address. Undefined if the address is valid. */
export function faultOfRedirectUri(uri: string, { appSchemes }: RedirectRules): string | undefined {
  if (uri.length > MAX_URI_CHARS) return "is too long";
  // Because of characters that parsers silently drop or rewrite, two readers would see two addresses.
  if (!/^[\x21-\x7e]+$/.test(uri) || uri.includes("\\")) return "contains characters that aren't allowed in an address";
  if (!canParseUrl(uri)) return "is not an address";
  const url = new URL(uri);
  const scheme = url.protocol.slice(0, -1);
  if (uri.includes("#")) return "has a fragment";
  if (url.username !== "" || url.password !== "") return "contains a user name or a password";
  if (scheme === "https") return isLoopbackHost(url) ? "is https on this computer; use http" : undefined;
  if (scheme === "http") return isLoopbackHost(url) ? undefined : "is plain http and not on this computer";
  if (FORBIDDEN_SCHEME.test(scheme)) return `has the scheme ${scheme}, which is not allowed`;
  const isKnown = scheme.includes(".") || KNOWN_SCHEMES.has(scheme) || appSchemes.has(scheme);
  return isKnown ? undefined : `has the scheme ${scheme}, which the operator can allow with KB_OAUTH_APP_SCHEMES`;
}

/** The three names of the loopback host, where an app on the person's own computer listens. */
function isLoopbackHost(url: URL): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
}

/** Returns the destination of a redirect: a host, or a program on the person's own computer. */
export function placeOf(redirectUri: string): { host: string; isLocal: boolean } {
  const url = new URL(redirectUri);
  if (url.protocol === "https:") return { host: url.host, isLocal: false };
  if (url.protocol === "http:") return { host: url.hostname, isLocal: true };
  return { host: `${url.protocol}//`, isLocal: true };
}
