import { canParseUrl } from "#api/parse-url.ts";

/** The spellings of the tools' path. */
export const MCP_PATHS = ["/mcp", "/mcp/"] as const;

/** The names of a server on one's own machine. */
const TWINS: readonly string[] = ["127.0.0.1", "localhost"];

/**
 * The public address as this request's `Host` spells it: for a server on this machine over plain http, `localhost` and
 * `127.0.0.1` at its port are the same, and clients refuse metadata that names the other one. For any other public
 * address `Host` changes nothing.
 */
export function ownBaseUrl(baseUrl: string, host: string | null | undefined): string {
  const base = new URL(baseUrl);
  if (!hasTwin(base)) return baseUrl;
  const twin = TWINS.find((name) => host?.toLowerCase() === `${name}:${base.port || "80"}`);
  return twin === undefined ? baseUrl : baseUrlAt(base, twin);
}

/**
 * The canonical audience for another spelling of it: `/mcp/`, the server's own origin, which some clients request
 * instead, and each at its twin. Anything else is returned unchanged.
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
