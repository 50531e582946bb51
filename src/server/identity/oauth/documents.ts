import { isIP } from "node:net";
import { isApiError } from "#api/errors.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { NO_PLACES } from "#net/configured-places.ts";
import type { GuardedFetch } from "#net/guarded-fetch.ts";
import { type ClientMetadata, readClientMetadata } from "./clients.ts";
import { LIFETIMES, type RedirectRules } from "./policy.ts";

const MAX_DOCUMENT_BYTES = 5 * 1024;
const TIMEOUT_MS = 2_500;
const FRESH_SECONDS = { least: 60, most: LIFETIMES.document };

/**
 * Returns whether a client id may be fetched: it has https at its default port, and a host name with a dot that isn't
 * an IP address. The address to which the name resolves is checked when it is fetched. Source: S39.
 */
export function isFetchableClientId(clientId: string): boolean {
  if (clientId.length > 500 || !canParseUrl(clientId)) return false;
  const { protocol, hostname, port, pathname, href } = new URL(clientId);
  const isName = isIP(hostname.replaceAll(/[[\]]/g, "")) === 0 && hostname.includes(".");
  const isPlain = href === clientId && !clientId.includes("#") && !clientId.includes("@");
  return protocol === "https:" && port === "" && isName && isPlain && pathname !== "/";
}

/** The result of fetching a client's metadata document. `why` is for the log. */
export type DocumentAnswer =
  | { type: "document"; metadata: ClientMetadata; freshMs: number }
  /** The client's own response: there is no document, or it doesn't describe a client. */
  | { type: "none"; why: string }
  /** It is unknown for now whether the client has a document. */
  | { type: "out_of_reach"; why: string }
  /** Any other case: the response isn't the client's own, or the address may not be fetched. */
  | { type: "other"; why: string };

/**
 * Fetches a client's metadata from the address that is its id, through the address guard, and returns it validated.
 * Redirects are not followed, because people see the id itself. Never throws.
 */
export async function fetchDocument(
  fetchGuarded: GuardedFetch,
  clientId: string,
  rules: RedirectRules,
): Promise<DocumentAnswer> {
  try {
    const { status, headers, body } = await fetchGuarded(clientId, {
      headers: { accept: "application/json" },
      configured: NO_PLACES,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      maxBytes: MAX_DOCUMENT_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    if (status !== 200) return { type: meaningOf(status), why: `It answered ${status}.` };
    const metadata = parseDocument(body, clientId, rules);
    if (typeof metadata === "string") return { type: "none", why: metadata };
    return { type: "document", metadata, freshMs: freshMs(headers["cache-control"]) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (isApiError(error, "payload_too_large")) return { type: "none", why };
    return { type: isApiError(error, "address_not_allowed") ? "other" : "out_of_reach", why };
  }
}

function meaningOf(status: number): Exclude<DocumentAnswer["type"], "document"> {
  if (status === 404 || status === 410) return "none";
  return status >= 500 || status === 403 || status === 408 || status === 429 ? "out_of_reach" : "other";
}

/** Returns the client's metadata, or the error in the document. */
function parseDocument(body: Uint8Array, clientId: string, rules: RedirectRules): ClientMetadata | string {
  try {
    const json: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    if (typeof json !== "object" || json === null || Array.isArray(json)) return "It isn't a JSON object.";
    // The value is an object, whose members are checked one by one.
    const document = json as Record<string, unknown>;
    if (document["client_id"] !== clientId) return "It names a different client_id.";
    return readClientMetadata(document, new URL(clientId).host, rules);
  } catch (error) {
    return isApiError(error) ? error.message : "It isn't JSON.";
  }
}

/** How long the document stays fresh, in milliseconds: the client's own value, within bounds. */
function freshMs(cacheControl: string | string[] | undefined): number {
  const asked = /(?:^|,)\s*max-age\s*=\s*(\d{1,9})/i.exec(String(cacheControl ?? ""))?.[1];
  const { least, most } = FRESH_SECONDS;
  return Math.max(least, Math.min(most, Number(asked ?? least))) * 1000;
}
