import { clockOf } from "#sources/times.ts";
import { unavailable } from "#sources/errors.ts";
import type { z } from "zod";
import type { SourceHttp, SourceRequest, SourceResponse } from "#sources/http-contract.ts";
import type { Listed } from "#sources/listed.ts";

/** A page of a response, and the server's clock. */
export interface RecordPage<T> {
  records: T[];
  at: number;
  /** Value of `from` to resume here. */
  place?: string;
}

export interface NumberedListing<T> {
  request: SourceRequest;
  schema: z.ZodType<Listed<T>>;
  /** Returns the understood records of a page; the rest is kept there. By default the rest is left out. */
  take?(page: Listed<T>): T[];
  /** Records of a page; a server may return fewer. */
  limit: number;
  now(): number;
  /** The `place` of a page that was read: resumes with that page. */
  from?: string | undefined;
}

/**
 * Reads a listing by page numbers, with the total in `X-Total-Count`. A deletion shifts the rest forward, past the end
 * of a page already read: when the count falls, as many pages are read again. So a record may come twice, and none that
 * stays is missed.
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
    // Deletions since the previous page aren't compensated yet.
    const most = total === undefined || before === undefined ? (total ?? before ?? "") : Math.max(total, before);
    yield { records, at: clockOf(answer, now), place: `${page} ${most} ${perPage}` };
    if (listed.size === 0) {
      // Records that this account can't see are removed after paging, so a page may be empty.
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

/** An account that sees little on a server with much must not read pages for ever. */
const MOST_EMPTY = 1_000;

function hasNext({ headers }: Pick<SourceResponse, "headers">): boolean {
  return /;\s*rel="?next"?/i.test(headers.get("link") ?? "");
}

/** Constant deletions must not keep a run from finishing. */
const MOST_AGAIN = 100;

export function countOf({ headers }: Pick<SourceResponse, "headers">): number | undefined {
  const text = headers.get("x-total-count");
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}
