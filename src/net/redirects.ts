import { canParseUrl } from "#api/parse-url.ts";
import { ApiError } from "#api/errors.ts";

/** The parts of a request that a redirect changes. */
export interface RedirectedRequest {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
}

/** Statuses that are redirects when they come with a `Location`. */
export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * @throws ApiError `address_not_allowed` if it isn't a URL; its text isn't repeated, since a query could contain a
 * secret
 */
export function parseUrl(text: string, base?: URL): URL {
  if (canParseUrl(text, base?.href)) return new URL(text, base);
  const shown = JSON.stringify(text.slice(0, 200).replace(/[?#].*$/s, ""));
  throw new ApiError("address_not_allowed", { message: `${shown} is not a URL.` });
}

/**
 * The request after a redirect. At another origin it keeps only headers that don't identify the sender, and no body.
 *
 * @throws ApiError `source_unavailable` for a redirect that requires the body at another origin
 */
export function afterRedirect<Request extends RedirectedRequest>(
  request: Request,
  status: number,
  { from, to }: { from: URL; to: URL },
): Request {
  const { body, method = "GET", headers = {}, ...rest } = request;
  const isSameOrigin = from.origin === to.origin;
  const keepsMethod = status === 307 || status === 308 || method === "GET" || method === "HEAD";
  if (keepsMethod && !isSameOrigin && body !== undefined) {
    throw new ApiError("source_unavailable", {
      message: `${from.host} redirects this request to ${to.host}, a different host. If you trust it, use the address of ${to.host}.`,
    });
  }
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => isSameOrigin || SAFE_HEADERS.has(name.toLowerCase())),
  );
  // These three and `rest` are all members of the request.
  if (keepsMethod) return { ...rest, method, headers: kept, ...(body && { body }) } as unknown as Request;
  return { ...rest, method: "GET", headers: withoutBodyHeaders(kept) } as unknown as Request;
}

/**
 * Headers that describe the request and never identify its sender. This is a list of allowed headers, because each source chooses the names of its
 * own credential headers.
 */
const SAFE_HEADERS = new Set(["accept", "accept-encoding", "accept-language", "range", "user-agent"]);

/** Removes the headers of a body, for a request that no longer has one. Source: Fetch standard, HTTP-redirect fetch. */
function withoutBodyHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-/i.test(name)));
}
