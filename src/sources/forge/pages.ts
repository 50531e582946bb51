import type { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SourceHttp, SourceRequest, SourceResponse } from "#sources/http-contract.ts";
import type { Listed } from "#sources/listed.ts";

/** A page as it was answered, and the server's clock. */
export interface RecordPage<T> {
  records: T[];
  at: number;
  /** What `from` takes, to go on here. */
  place?: string;
}

export interface NumberedListing<T> {
  request: SourceRequest;
  schema: z.ZodType<Listed<T>>;
  /** Takes what is understood of a page; the rest is kept there. Unless told it is left out. */
  take?(page: Listed<T>): T[];
  /** Records of a page; a server may give fewer. */
  limit: number;
  now(): number;
  /** The `place` of a page that was read: from that page on. */
  from?: string | undefined;
}

/**
 * A listing by page numbers, with the count of all in `X-Total-Count`. What is deleted meanwhile moves the rest forward, over
 * the end of a page that was read: when the count falls, as many pages are read again. So a record may come twice, and none
 * that stays is missed.
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
    // What was deleted since the page before is not made up for yet.
    const most = total === undefined || before === undefined ? (total ?? before ?? "") : Math.max(total, before);
    yield { records, at: dateOf(answer, now), place: `${page} ${most} ${perPage}` };
    if (listed.size === 0) {
      // What this account may not see is left out after the pages are made, so that one of them may be empty.
      if (!hasNext(answer) || ++empty > MOST_EMPTY) return;
      page += 1;
      continue;
    }
    const text = answer.text();
    if (text === last) throw new ApiError("source_unavailable", { message: "The server returns the same page again." });
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

/** An account that sees little of a server with much does not ask for ever. */
const MOST_EMPTY = 1_000;

function hasNext({ headers }: Pick<SourceResponse, "headers">): boolean {
  return /;\s*rel="?next"?/i.test(headers.get("link") ?? "");
}

/** Somebody who deletes all the time does not keep a run from its end. */
const MOST_AGAIN = 100;

export function countOf({ headers }: Pick<SourceResponse, "headers">): number | undefined {
  const text = headers.get("x-total-count");
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

function dateOf({ headers }: Pick<SourceResponse, "headers">, now: () => number): number {
  const date = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(date) ? now() : date;
}
