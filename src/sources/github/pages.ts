import { clockOf } from "#sources/times.ts";
import { defined } from "#core/defined.ts";
import { unavailable } from "#sources/errors.ts";
import { canParseUrl } from "#api/parse-url.ts";
import type { z } from "zod";
import type { RecordPage } from "#sources/forge/pages.ts";
import type { SourceRequest, SourceResponse } from "#sources/http-contract.ts";
import type { Listed } from "#sources/listed.ts";

/** Sends a request and converts GitHub's failures. */
export type Send = (request: SourceRequest) => Promise<SourceResponse>;

/** Records in a page: GitHub's maximum. */
export const PER_PAGE = 100;

const MOST_PAGES = 100_000;

/** Reads a listing from its first page to its last. */
export async function* linkPages(send: Send, first: SourceRequest): AsyncGenerator<SourceResponse, void> {
  const asked = new Set<string>();
  for (let request: SourceRequest | undefined = first; request;) {
    const page: SourceResponse = await send(request);
    yield page;
    const next = linkOf(page, "next");
    if (next !== undefined && asked.has(next)) {
      throw unavailable("The server returns the same page again.");
    }
    if (next !== undefined) asked.add(next);
    request = next === undefined ? undefined : at(request, next);
  }
}

/**
 * Reads a listing by page numbers, from its last page to its first. A removal shifts the rest forward, and some records
 * are read again, but no remaining record is missed. New records are added at the end, for the next run.
 */
export async function* backwardPages(send: Send, first: SourceRequest): AsyncGenerator<SourceResponse, void> {
  const page = await send(first);
  const last = Number(new URL(linkOf(page, "last") ?? page.url).searchParams.get("page") ?? 1);
  if (last > MOST_PAGES) throw unavailable("The server says that it has too many pages.");
  if (!Number.isSafeInteger(last) || last <= 1) {
    yield page;
    const next = linkOf(page, "next");
    // The listing uses a cursor, so no record shifts.
    if (next !== undefined) yield* linkPages(send, at(first, next));
    return;
  }
  for (let number = last; number >= 1; number--) yield send({ ...first, query: { ...first.query, page: number } });
}

/** A stored response. If the next response is equal, nothing has changed. */
export interface Mark {
  from: string;
  etag: string;
}

export interface Walk<T> {
  request: SourceRequest;
  schema: z.ZodType<Listed<T>>;
  /** Returns the parsed records of a page, and keeps the others. */
  take(page: Listed<T>): T[];
  /** Epoch milliseconds; absent = everything. */
  since: number | undefined;
  now(): number;
  /** The last response, and a callback that gets the present one. */
  mark?: Mark | undefined;
  remember?(mark: Mark): void;
}

/**
 * Reads a listing ordered by the time of the last change, the oldest first. Each request begins at the last time seen
 * instead of the next page, so changes and removals shift nothing. Page links are followed only if all records of a
 * page have the same time. A record may therefore be listed twice. Without changes it yields nothing, not even an empty
 * page.
 */
export async function* walkChanges<T extends { updated_at: number }>(
  send: Send,
  { request, schema, take, since, now, mark, remember }: Walk<T>,
): AsyncGenerator<RecordPage<T>, void> {
  let from = since;
  for (let isFirst = true; ; isFirst = false) {
    const since = from === undefined ? undefined : new Date(from).toISOString().replace(/\.\d+Z$/, "Z");
    const query = { ...request.query, sort: "updated", direction: "asc", per_page: PER_PAGE, since: since };
    const etag = isFirst && mark && mark.from === since ? mark.etag : undefined;
    const headers = { ...request.headers, ...defined({ "if-none-match": etag }) };
    let answer = await send({ ...request, query, headers, ...(etag !== undefined && { allow: [304] }) });
    if (answer.status === 304) return;
    for (;;) {
      const page = answer.json(schema);
      const records = take(page);
      const next = linkOf(answer, "next");
      const newTag = answer.headers.get("etag");
      const isLast = isFirst && since !== undefined && next === undefined && records.length === page.size;
      if (isLast && newTag) remember?.({ from: since, etag: newTag });
      if (records.length > 0 || since === undefined) yield { records, at: clockOf(answer, now) };
      if (next === undefined) return;
      const newest = records.at(-1)?.updated_at;
      if (newest !== undefined && (from === undefined || newest > from)) {
        from = newest;
        break;
      }
      answer = await send(at(request, next));
    }
  }
}

/**
 * Returns the URL of a `Link` header, if it has the same origin. A response's headers aren't trusted to name another
 * origin. Source: RFC 8288.
 */
export function linkOf({ headers, url }: Pick<SourceResponse, "headers" | "url">, rel: string): string | undefined {
  for (const [, target = "", parameters = ""] of (headers.get("link") ?? "").matchAll(/<([^>]*)>([^,<]*)/g)) {
    if (!new RegExp(`;\\s*rel="?${rel}"?(?:[;\\s]|$)`, "i").test(parameters) || !canParseUrl(target, url)) continue;
    const next = new URL(target, url);
    if (next.origin === new URL(url).origin) return next.href;
    throw unavailable(`A listing of ${new URL(url).host} goes on at ${next.host}.`);
  }
  return undefined;
}

function at({ query: _query, ...rest }: SourceRequest, url: string): SourceRequest {
  return { ...rest, url };
}
