import { unavailable } from "#sources/errors.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { z } from "zod";
import { type Listed, listed } from "#sources/listed.ts";

/** The position of a listing's page: a cursor or an offset. */
export interface PagePlace {
  cursor?: string;
  start?: string;
}

/**
 * A page of a listing with a link to the next page. A link that can't be parsed is an error, not the end of the
 * listing.
 */
export function linkedPage<T extends z.ZodType>(record: T, id?: z.ZodType<string>) {
  return z.object({ results: listed(record, id), _links: z.object({ next: z.string().nullish() }).nullish() });
}
type LinkedPage<T> = { results: Listed<T>; _links?: { next?: string | null | undefined } | null | undefined };

/** The most pages in a row without any new record: the server omits records that the account can't see. */
const MOST_IDLE = 100;
/** The most records of a listing. No real site has a longer listing. */
const MOST_RECORDS = 2_000_000;

/**
 * Reads a listing page by page. It uses only the position from the link to the next page, never the address.
 *
 * @param take  returns the records of a page to use; by default those that could be parsed
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
