import { canParseUrl } from "#api/parse-url.ts";
import type { Scope } from "#api/common.ts";

/** The client that ships with this server: the command line. Every other one registered itself. */
export const OWN_CLIENT_ID = "kb-cli";
export const OWN_CLIENT_NAME = "kb command line";

/** The paths of the contract, and the few that the library needs besides them. */
export const PATHS = {
  authorize: "/oauth/authorize",
  token: "/oauth/token",
  revoke: "/oauth/revoke",
  register: "/oauth/register",
  deviceAuthorization: "/oauth/device_authorization",
  device: "/oauth/device",
  jwks: "/oauth/jwks",
} as const;

/** The name of the grant of RFC 8628. */
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** What a client can be granted tokens by, besides a device's code: the code flow, and going on with it. */
export const CODE_GRANTS: readonly string[] = ["authorization_code", "refresh_token"];
/** Flows that there are not: asked for by mistake or in bad faith. */
export const OTHER_FLOWS: ReadonlySet<unknown> = new Set(["implicit", "password", "client_credentials"]);

/** Seconds that things live. Source: docs/oauth.md#rules; S27, S29. */
export const LIFETIMES = {
  accessToken: 3_600,
  authorizationCode: 60,
  /** One for `mcp:read` alone: people who sign in over SSH copy an address from one window into another. */
  readingCode: 600,
  refreshToken: 30 * 86_400,
  /** After it the person is asked again, however often the tokens were refreshed. */
  grant: 365 * 86_400,
  interaction: 600,
  deviceCode: 300,
  /** What a client has to say of itself is fetched again after this. */
  document: 86_400,
} as const;

/** What tokens are made for: the tools and the REST routes. */
export type Audience = "mcp" | "api";

/** The resource indicators of the two endpoints; a token is bound to exactly one. Source: RFC 8707. */
export function resourcesOf(baseUrl: string): Record<Audience, string> {
  return { mcp: `${baseUrl}/mcp`, api: `${baseUrl}/api` };
}

/** The scopes that may be requested for each resource. */
export const SCOPES_OF: Readonly<Record<Audience, readonly Scope[]>> = {
  mcp: ["mcp:read"],
  api: ["kb:api", "kb:admin"],
};

/** What a client may ask for at all. `kb:admin` never by a device: its code can be mailed to an admin (S27). */
export function scopesOf(clientId: string, way: "browser" | "device"): readonly Scope[] {
  if (clientId !== OWN_CLIENT_ID) return ["mcp:read"];
  return way === "browser" ? ["mcp:read", "kb:api", "kb:admin"] : ["mcp:read", "kb:api"];
}

/** Schemes of programs that people have, besides those with a dot, which belong to who owns the domain. Source: S33. */
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

/** Schemes that run something, open files, or belong to the system, dot or not. */
const FORBIDDEN_SCHEME =
  /^(?:about|blob|chrome.*|data|file.*|filesystem|ftp|https?|intent|jar|javascript|mailto|ms-.*|resource|search-ms|shell|sms|tel|vbscript|view-source|wss?|x-.*)$/;

/** Which addresses people can be sent back to, besides those that are always allowed. */
export interface RedirectRules {
  /** Schemes of apps that the operator added: lower case, without the colon. */
  appSchemes: ReadonlySet<string>;
}

/** What is wrong with a scheme that an operator wants to add; undefined when nothing is. */
export function faultOfAppScheme(scheme: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]{0,60}$/.test(scheme)) return "isn't a URL scheme such as myapp";
  return FORBIDDEN_SCHEME.test(scheme) ? "can't be an app's scheme" : undefined;
}

const MAX_URI_CHARS = 2_000;

/** What is wrong with an address that a client wants to be sent back to; undefined when nothing is. */
export function faultOfRedirectUri(uri: string, { appSchemes }: RedirectRules): string | undefined {
  if (uri.length > MAX_URI_CHARS) return "is too long";
  // What a parser would silently drop or turn round makes two readers see two addresses.
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

/** The three names that a listener on the person's own computer has. */
function isLoopbackHost(url: URL): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
}

/** Where an answer goes: to a host, or to a program on the person's own computer. */
export function placeOf(redirectUri: string): { host: string; isLocal: boolean } {
  const url = new URL(redirectUri);
  if (url.protocol === "https:") return { host: url.host, isLocal: false };
  if (url.protocol === "http:") return { host: url.hostname, isLocal: true };
  return { host: `${url.protocol}//`, isLocal: true };
}
