import { unavailable } from "#sources/errors.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { z } from "zod";
import { type Listed, listed } from "#sources/listed.ts";

/** Where a page of a listing begins: a cursor or an offset. */
export interface PagePlace {
  cursor?: string;
  start?: string;
}

/** A page of a listing that links to the next. A link that isn't understood is an error, not the end. */
export function linkedPage<T extends z.ZodType>(record: T, id?: z.ZodType<string>) {
  return z.object({ results: listed(record, id), _links: z.object({ next: z.string().nullish() }).nullish() });
}
type LinkedPage<T> = { results: Listed<T>; _links?: { next?: string | null | undefined } | null | undefined };

/** The most pages in a row without anything new: the server omits records that the account can't see. */
const MOST_IDLE = 100;
/** No real site has a listing this long. */
const MOST_RECORDS = 2_000_000;

/**
 * Reads a listing page by page. From the link to the next page it uses only the position, never the address.
 *
 * @param take  returns the records of a page to use; by default those that are understood
 * @throws ApiError `source_unavailable` for a listing that can't be followed to its end
 */
export async function* linkedPages<T>(
  read: (place: PagePlace) => Promise<LinkedPage<T>>,
  keyOf: (record: T) => string,
  take: (page: Listed<T>) => T[] = ({ known }) => known,
): AsyncGenerator<T[], void> {
  const places = new Set<string>();
  const keys = new Set<string>();
  let place: PagePlace = {};
  for (let idle = 0; ;) {
    const { results: page, _links } = await read(place);
    const results = take(page);
    const before = keys.size;
    for (const record of results) keys.add(keyOf(record));
    idle = keys.size > before ? 0 : idle + 1;
    yield results;
    const next = _links?.next;
    if (next === undefined || next === null || next === "") return;
    place = placeOf(next);
    const name = JSON.stringify(place);
    if (name === "{}" || places.has(name) || idle >= MOST_IDLE || keys.size > MOST_RECORDS) {
      throw unavailable("A listing doesn't end.");
    }
    places.add(name);
  }
}

function placeOf(link: string): PagePlace {
  if (!canParseUrl(link, "http://site.invalid")) return {};
  const { searchParams } = new URL(link, "http://site.invalid");
  const [cursor, start] = [searchParams.get("cursor"), searchParams.get("start")];
  return { ...(cursor && { cursor }), ...(start && { start }) };
}
