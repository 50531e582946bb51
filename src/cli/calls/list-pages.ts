/** Reads lists of the contract to their end. */
import type { DataOf, InitOf, ListKey, ListPath, QueryOf, RecordOf } from "#api/client.ts";
import type { Params } from "#api/target.ts";

/** Every record of a list, at most `max`. `key` is the plural that contains them. */
export type List = <P extends ListPath, K extends ListKey<P>>(
  path: P,
  key: K,
  options?: ListOptions<P>,
) => Promise<RecordOf<P, K>[]>;

interface ListOptions<P extends ListPath> extends AnyListOptions {
  /** Values of the path's parameters in braces. */
  at?: InitOf<"get", P> extends { params: { path: infer Values extends object } } ? Values : never;
  query?: Omit<QueryOf<"get", P>, "limit" | "cursor">;
  onPage?(page: DataOf<"get", P>): void;
}

interface AnyListOptions {
  at?: object;
  query?: object;
  /** Most records; default 10,000. */
  max?: number;
  onPage?(page: unknown): void;
}

/** The fields of every page of a list; a server of another version may lack a plural. */
type Page = Readonly<Record<string, readonly never[] | undefined>> & { nextCursor?: string | null };

/** Calls `get` until there is no cursor, and returns the records under `key`. */
export async function listPages(
  get: (params: Params) => Promise<Page>,
  key: string,
  { at, query, max = 10_000, onPage }: AnyListOptions,
): Promise<never[]> {
  const all: never[] = [];
  let cursor: string | undefined;
  do {
    const page = await get({ path: at, query: { limit: 200, ...query, cursor } });
    onPage?.(page);
    all.push(...(page[key] ?? []));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && all.length < max);
  return all.slice(0, max);
}
