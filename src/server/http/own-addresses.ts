import { canParseUrl } from "#api/parse-url.ts";

/** The paths of the MCP endpoint, which are equivalent. */
export const MCP_PATHS = ["/mcp", "/mcp/"] as const;

/** The names of a server on the same machine as the client. */
const TWINS: readonly string[] = ["127.0.0.1", "localhost"];

/**
 * Returns the public address with the name in this request's `Host`. For a server on this machine over plain http,
 * `localhost` and `127.0.0.1` at its port are the same, and clients refuse metadata that names the other one. For any
 * other public address, `Host` doesn't matter.
 */
export function ownBaseUrl(baseUrl: string, host: string | null | undefined): string {
  const base = new URL(baseUrl);
  if (!hasTwin(base)) return baseUrl;
  const twin = TWINS.find((name) => host?.toLowerCase() === `${name}:${base.port || "80"}`);
  return twin === undefined ? baseUrl : baseUrlAt(base, twin);
}

/**
 * Returns the canonical audience for an equivalent one: `/mcp/`; the server's origin, which some clients request
 * instead; and each of them at the loopback twin. Any other audience is returned unchanged.
 */
export function ownResource(baseUrl: string, resource: string): string {
  if (!canParseUrl(resource)) return resource;
  const base = new URL(baseUrl);
  const url = new URL(resource);
  const isOwn = [baseUrl, ...twinsOf(base)].some((one) => new URL(one).origin === url.origin);
  if (!isOwn || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") return resource;
  if (["/", ...MCP_PATHS].includes(url.pathname)) return `${baseUrl}/mcp`;
  return url.pathname === "/api" ? `${baseUrl}/api` : resource;
}

function twinsOf(base: URL): string[] {
  return hasTwin(base) ? TWINS.map((name) => baseUrlAt(base, name)) : [];
}

function hasTwin({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && TWINS.includes(hostname);
}

function baseUrlAt({ protocol, port }: URL, name: string): string {
  return `${protocol}//${name}${port === "" ? "" : `:${port}`}`;
}
