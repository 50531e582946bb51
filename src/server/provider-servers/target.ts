import type { ServerAuthBody } from "#api/provider-servers.ts";
import { ApiError } from "#api/errors.ts";
import { normalizeBaseUrl } from "#core/base-url.ts";
import type { McpTarget } from "#mcp-client/contract.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";

export type ServerAuth = Pick<ProviderServerRecord, "authKind" | "headerName" | "clientId">;

/** @throws ApiError `server_config_invalid` */
export function parseServerUrl(text: string): string {
  if (normalizeBaseUrl(text) !== undefined) return new URL(text.trim()).href;
  throw new ApiError("server_config_invalid", {
    message: "Expected an http or https URL without user name, query or fragment, such as https://mcp.example.org/mcp.",
    hint: "Put secrets in `auth`: the URL is shown to everyone who can see the server.",
    field: "url",
  });
}

/** Whether both addresses are of the same server. */
export function isSameServer(one: string, other: string): boolean {
  return normalizeBaseUrl(one) === normalizeBaseUrl(other);
}

/** Returns the address in the form for the audit log and messages. */
export function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/**
 * Whether credentials for one address may be sent to another: it must have the same scheme, host and port, and the same
 * path or one below it. A path that a server could read in another way, such as one with an encoded slash, isn't below.
 * Source: S31.
 */
export function isWithin(address: string, other: string): boolean {
  const [from, to] = [new URL(address), new URL(other)];
  if (from.origin !== to.origin || from.search !== to.search) return false;
  const [above, below] = [segmentsOf(from), segmentsOf(to)];
  if (above.some((segment, at) => segment !== below[at])) return false;
  return below.slice(above.length).every((segment) => PLAIN_SEGMENT.test(segment));
}

/** @throws ApiError `server_config_invalid` for a header that has another meaning */
export function parseAuth(auth: ServerAuthBody): { auth: ServerAuth; secret: string | null | undefined } {
  const plain = { authKind: auth.kind, headerName: null, clientId: null };
  switch (auth.kind) {
    case "none":
      return { auth: plain, secret: null };
    case "bearer":
      return { auth: plain, secret: auth.secret };
    case "header":
      if (TAKEN_HEADERS.test(auth.headerName)) {
        throw new ApiError("server_config_invalid", {
          message: `The header ${auth.headerName} is used by HTTP or MCP.`,
          field: "auth.headerName",
        });
      }
      return { auth: { ...plain, headerName: auth.headerName }, secret: auth.secret };
    case "oauth":
      return { auth: { ...plain, clientId: auth.clientId ?? null }, secret: auth.secret };
  }
}

/** Returns the headers that contain this token, as the server expects them. */
export function signWith({ authKind, headerName }: ServerAuth, token: string): Record<string, string> {
  if (authKind === "header" && headerName !== null) return { [headerName]: token };
  return authKind === "none" ? {} : { authorization: `Bearer ${token}` };
}

export function makeTarget(url: string, headers: McpTarget["headers"]): McpTarget {
  return { url, headers };
}

/** A path segment with only characters that mean the same to every server, and not only dots. */
const PLAIN_SEGMENT = /^(?!\.+$)[\w.~!$&'()*+,=:@-]+$/;

/** Returns the segments of a path. A trailing slash adds none. */
function segmentsOf({ pathname }: URL): string[] {
  const path = pathname.slice(1).replace(/\/$/, "");
  return path === "" ? [] : path.split("/");
}

const TAKEN_HEADERS =
  /^(?:host|connection|content-.*|transfer-encoding|te|trailer|upgrade|accept.*|cookie|expect|keep-alive|proxy-.*|mcp-.*|kb-.*|last-event-id|user-agent|origin|referer|sec-.*)$/i;
