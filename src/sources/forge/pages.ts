import { clockOf } from "#sources/times.ts";
import { unavailable } from "#sources/errors.ts";
import type { z } from "zod";
import type { SourceHttp, SourceRequest, SourceResponse } from "#sources/http-contract.ts";
import type { Listed } from "#sources/listed.ts";

/** A page of records, with the server's clock. */
export interface RecordPage<T> {
  records: T[];
  at: number;
  /** The value of `from` with which a listing resumes at this page. */
  place?: string;
}

export interface NumberedListing<T> {
  request: SourceRequest;
  schema: z.ZodType<Listed<T>>;
  /** Returns the parsed records of a page, and keeps the others. By default the others are dropped. */
  take?(page: Listed<T>): T[];
  /** The requested number of records in a page. A server may return fewer. */
  limit: number;
  now(): number;
  /** The `place` of a page that was read before. The listing resumes with that page. */
  from?: string | undefined;
}

/**
 * Reads a listing by page numbers, with the total number in `X-Total-Count`. A deletion shifts the rest forward, past
 * the end of a page already read. When the total falls, as many pages are read again. A record may therefore be listed
 * twice, and no remaining record is missed.
 */
export async function* numberedPages<T>(
  http: SourceHttp,
  { request, schema, take = ({ known }) => known, limit, now, from }: NumberedListing<T>,
): AsyncGenerator<RecordPage<T>, void> {
  let { page, before, perPage } = placeOf(from) ?? { page: 1, before: undefined, perPage: limit };
  let [again, empty] = [0, 0];
  let last: string | undefined;
  for (;;) {
    const answer = await http.request({ ...request, query: { ...request.query, page, limit } });
    const listed = answer.json(schema);
    const records = take(listed);
    const total = countOf(answer);
    if (page === 1 && listed.size > 0) perPage = listed.size;
    // These deletions happened since the previous page and aren't compensated yet.
    const most = total === undefined || before === undefined ? (total ?? before ?? "") : Math.max(total, before);
    yield { records, at: clockOf(answer, now), place: `${page} ${most} ${perPage}` };
    if (listed.size === 0) {
      // The server removes records that this account can't see after paging, so a page may be empty.
      if (!hasNext(answer) || ++empty > MOST_EMPTY) return;
      page += 1;
      continue;
    }
    const text = answer.text();
    if (text === last) throw unavailable("The server returns the same page again.");
    last = text;
    if (total !== undefined && before !== undefined && total < before && page > 1 && again++ < MOST_AGAIN) {
      page = Math.max(1, page - Math.ceil((before - total) / perPage));
    } else {
      if (total !== undefined && page * perPage >= total) return;
      page += 1;
    }
    before = total ?? before;
  }
}

function placeOf(from = "") {
  const [, page, before, perPage] = /^(\d{1,9}) (\d{0,12}) (\d{1,9})$/.exec(from) ?? [];
  if (page === undefined) return undefined;
  return { page: Number(page), before: before === "" ? undefined : Number(before), perPage: Number(perPage) };
}

/** The most empty pages. An account that sees little on a server with much content must not read pages forever. */
const MOST_EMPTY = 1_000;

function hasNext({ headers }: Pick<SourceResponse, "headers">): boolean {
  return /;\s*rel="?next"?/i.test(headers.get("link") ?? "");
}

/** The most pages that are read again. Constant deletions must not keep a run from finishing. */
const MOST_AGAIN = 100;

export function countOf({ headers }: Pick<SourceResponse, "headers">): number | undefined {
  const text = headers.get("x-total-count");
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}
