/** Reads lists of the contract from the first page to the last. */
import type { DataOf, InitOf, ListKey, ListPath, QueryOf, RecordOf } from "#api/client.ts";
import type { Params } from "#api/target.ts";

/** Returns every record of a list, at most `max`. `key` is the plural key that contains the records. */
export type List = <P extends ListPath, K extends ListKey<P>>(
  path: P,
  key: K,
  options?: ListOptions<P>,
) => Promise<RecordOf<P, K>[]>;

interface ListOptions<P extends ListPath> extends AnyListOptions {
  /** Values for the parameters in braces in the path. */
  at?: InitOf<"get", P> extends { params: { path: infer Values extends object } } ? Values : never;
  query?: Omit<QueryOf<"get", P>, "limit" | "cursor">;
  onPage?(page: DataOf<"get", P>): void;
}

interface AnyListOptions {
  at?: object;
  query?: object;
  /** Maximum number of records; default 10,000. */
  max?: number;
  onPage?(page: unknown): void;
}

/** The fields of every page of a list. A server of another version may lack a plural. */
type Page = Readonly<Record<string, readonly never[] | undefined>> & { nextCursor?: string | null };

/** Calls `get` until an answer has no cursor, and returns the records under `key`. */
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
