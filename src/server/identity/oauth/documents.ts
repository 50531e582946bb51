import { canParseUrl } from "#api/parse-url.ts";
import { NO_PLACES } from "#net/configured-places.ts";
import type { GuardedFetch } from "#net/guarded-fetch.ts";
import { isIP } from "node:net";
import { readClientMetadata } from "./clients.ts";

const MAX_DOCUMENT_BYTES = 5 * 1024;
const TIMEOUT_MS = 2_500;

/**
 * True for an identifier that may be fetched: https at its usual port, a name with a dot and no address. What the name
 * leads to is judged when it is fetched. Source: S39.
 */
export function isFetchableClientId(clientId: string): boolean {
  if (clientId.length > 500 || !canParseUrl(clientId)) return false;
  const { protocol, hostname, port, pathname } = new URL(clientId);
  const isName = isIP(hostname.replaceAll(/[[\]]/g, "")) === 0 && hostname.includes(".");
  return protocol === "https:" && port === "" && isName && pathname !== "/";
}

/**
 * Fetches what a client says of itself at its own identifier, through the guard, and gives it cleaned. Redirects are
 * not followed: the identifier itself is what people see.
 *
 * @returns a `Response` for the library, which compares `client_id` and refuses secrets
 */
export function makeDocumentFetch(fetchGuarded: GuardedFetch): (url: string) => Promise<Response> {
  return async (url) => {
    const answer = await fetchGuarded(url, {
      headers: { accept: "application/json" },
      configured: NO_PLACES,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      maxBytes: MAX_DOCUMENT_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    if (answer.status !== 200) return new Response(null, { status: answer.status });
    const json: unknown = JSON.parse(Buffer.from(answer.body).toString("utf8"));
    if (typeof json !== "object" || json === null || Array.isArray(json)) throw new Error("No JSON object.");
    // An object whose members are looked at one by one.
    const document = json as Record<string, unknown>;
    const metadata = readClientMetadata(document, new URL(url).host);
    const { "cache-control": cacheControl } = answer.headers;
    return new Response(JSON.stringify({ ...metadata, client_id: document["client_id"] }), {
      headers: {
        "content-type": "application/json",
        ...(typeof cacheControl === "string" && { "cache-control": cacheControl }),
      },
    });
  };
}
