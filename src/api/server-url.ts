import { ApiError } from "./errors.ts";
import type { mcpRoutes } from "./protocol-routes.ts";

/** The addresses of one kb server. */
export interface ServerUrl {
  /** Scheme, host and port: a token is bound to them. */
  origin: string;
  /** The base URL without a trailing slash; `/api/…` and `/mcp` are appended to it. */
  baseUrl: string;
  mcpUrl: string;
}

/**
 * Parses a server's address as people enter it: the base URL or the MCP URL, `http(s)` only; a bare `host:port` is
 * https, or http on a loopback host.
 *
 * @throws ApiError `invalid_argument` for any other scheme, credentials in the address, a query or a fragment
 */
export function parseServerUrl(text: string): ServerUrl {
  const trimmed = text.trim();
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : withScheme(trimmed));
  } catch (cause) {
    throw new ApiError("invalid_argument", {
      message: `"${redactUrl(trimmed)}" is not a server address.`,
      hint: EXAMPLE,
      cause,
    });
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ApiError("invalid_argument", {
      message: `A server address starts with http:// or https://, not ${url.protocol}//.`,
      hint: EXAMPLE,
    });
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new ApiError("invalid_argument", {
      message: `The server address for ${url.host} contains a user name, a query or a fragment. Remove it.`,
      hint: EXAMPLE,
    });
  }
  const path = url.pathname.replace(/\/+$/, "").replace(/\/mcp$/, "");
  const baseUrl = `${url.origin}${path}`;
  return { origin: url.origin, baseUrl, mcpUrl: `${baseUrl}${MCP_PATH}` };
}

const MCP_PATH = "/mcp" satisfies typeof mcpRoutes.call.path;

/** True for host names that never leave this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}

const EXAMPLE = "Use an address like https://kb.example.com or http://127.0.0.1:7700.";

function withScheme(text: string): string {
  const host = /^(\[[^\]]*\]|[^:/]*)/.exec(text)?.[1] ?? "";
  return `${isLoopbackHost(host) ? "http" : "https"}://${text}`;
}

function redactUrl(text: string): string {
  return text.replace(/\/\/[^/@]*@/, "//…@").slice(0, 200);
}
