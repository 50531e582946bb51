import { unavailable } from "#sources/errors.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SourceStream } from "#sources/http-contract.ts";
import { siteOf, type WebConfig } from "./config.ts";
import { pageUrl } from "./urls.ts";

/** The response for a page after its redirects, all of which stayed on the site. */
export interface PageAnswer extends SourceStream {
  /** The final address, in the form of ids. */
  at: URL;
  /** The addresses that redirected, up to the first redirect that wasn't permanent. */
  former: readonly URL[];
}

/** A redirect that leads away from the site, or to an address that kb may not request. */
export interface LedAway {
  to: string;
  why: "elsewhere" | "endless" | "refused";
  /** Whether all redirects so far were permanent. A redirect cycle is interrupted, and never counts as permanent. */
  isForGood: boolean;
}

/** The stored validators of a page, for a conditional request. */
export interface Validators {
  etag?: string;
  lastModified?: number;
}

type Context = Pick<SourceContext<WebConfig>, "config" | "http" | "signal">;

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 20_000;
/** The time limit for a whole page or document. */
const MAX_MS = 120_000;

/**
 * Requests a page. Each redirect is checked in the same way as a link before it is followed: it must stay on the site
 * and comply with the site's rules.
 *
 * @param mayGo  whether an address of the site may be requested
 * @throws ApiError the errors of `SourceHttp`; with `details.status` for statuses
 */
export async function ask(
  { config, http }: Context,
  first: URL,
  {
    validators = {},
    mayGo,
    maxBytes,
  }: { validators?: Validators; mayGo(url: URL): boolean | Promise<boolean>; maxBytes: number },
): Promise<PageAnswer | LedAway> {
  const site = siteOf(config);
  let at = first;
  let isForGood = true;
  const former: URL[] = [];
  for (let hops = 0; ; hops++) {
    const answer = await http.stream({
      url: at,
      auth: true,
      redirect: "none",
      allow: [...REDIRECTS, 304, 401],
      headers: {
        "user-agent": config.userAgent,
        accept: "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.5",
        ...(hops === 0 && conditions(validators)),
      },
      maxBytes,
      timeoutMs: TIMEOUT_MS,
    });
    if (answer.status === 401) {
      await leave(answer);
      throw new ApiError("source_forbidden", {
        message: `${at.host} asks for credentials (HTTP 401).`,
        details: { status: 401 },
      });
    }
    if (!REDIRECTS.includes(answer.status)) return { ...answer, at, former: isForGood ? former : [] };
    await leave(answer);
    const location = answer.headers.get("location") ?? "";
    const next = pageUrl(location, at, site);
    isForGood &&= answer.status === 301 || answer.status === 308;
    if (next === undefined) return { to: hostOf(location, at), why: "elsewhere", isForGood };
    if (hops >= MAX_REDIRECTS) return { to: next.href, why: "endless", isForGood: false };
    if (!(await mayGo(next))) return { to: next.href, why: "refused", isForGood };
    if (isForGood) former.unshift(at);
    at = next;
  }
}

/** The whole body. @throws ApiError `payload_too_large`; `source_unavailable` for one that takes too long */
export async function readBody({ body, at }: Pick<PageAnswer, "body" | "at">, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of limited(body, at.host)) {
    length += piece.length;
    if (length > maxBytes) {
      throw new ApiError("payload_too_large", { message: `The page is larger than ${maxBytes} bytes.` });
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Yields the same chunks, as long as they arrive fast enough. */
export async function* limited(
  body: AsyncIterable<Uint8Array>,
  host: string,
  now: () => number = () => performance.now(),
): AsyncGenerator<Uint8Array, void> {
  const end = now() + MAX_MS;
  for await (const piece of body) {
    if (now() > end) {
      const message = `${host} takes too long to send this.`;
      throw unavailable(message, 200);
    }
    yield piece;
  }
}

/** Discards a response that isn't read. A short one is read to its end, so that its connection can be reused. */
export async function leave({ body }: Pick<SourceStream, "body">): Promise<void> {
  let length = 0;
  for await (const piece of body) if ((length += piece.length) > MAX_DRAINED_BYTES) break;
}

const MAX_DRAINED_BYTES = 16_384;

/** Returns true if a failure concerns only the requested page, or may concern only that page. */
export function isOfOnePage(error: unknown): error is ApiError {
  return isApiError(error) && ONE_PAGE.has(error.code);
}

const ONE_PAGE: ReadonlySet<string> = new Set([
  "source_forbidden",
  "source_not_found",
  "source_gone",
  "source_unavailable",
  "payload_too_large",
]);

function conditions({ etag, lastModified }: Validators): Record<string, string> {
  if (etag !== undefined) return { "if-none-match": etag };
  return lastModified === undefined ? {} : { "if-modified-since": new Date(lastModified).toUTCString() };
}

function hostOf(location: string, base: URL): string {
  return canParseUrl(location, base.href) ? new URL(location, base).host.slice(0, 200) : "";
}
