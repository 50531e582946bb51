/** Lists of the contract, read to their end. */
import type { DataOf, InitOf, PathOf, QueryOf } from "#api/client.ts";
import type { Api } from "./api.ts";
import { textOf } from "./state-file.ts";

/** The paths that give a list page by page. */
type ListPath = {
  [P in PathOf<"get">]: DataOf<"get", P> extends { nextCursor: string | null } ? Paged<P, QueryOf<"get", P>> : never;
}[PathOf<"get">];

/** `P` where its query takes pages. */
type Paged<P, Query> = [Query] extends [never] ? never : "limit" | "cursor" extends keyof Query ? P : never;

type Page<P extends ListPath> = DataOf<"get", P>;

/** The plural that holds a list's records. */
type ListKey<P extends ListPath> = {
  [K in keyof Page<P>]: Page<P>[K] extends readonly unknown[] ? K : never;
}[keyof Page<P>];

type RecordOf<List> = List extends readonly (infer R)[] ? R : never;

interface ListOptions<P extends ListPath> {
  /** What the path has in braces. */
  at?: InitOf<"get", P> extends { params: { path: infer Values } } ? Values : never;
  query?: Omit<QueryOf<"get", P>, "limit" | "cursor">;
  max?: number;
  onPage?(page: Page<P>): void;
}

/** Every record of a list, page by page, at most `max`, which is 10,000 unless told. `key` is the plural that holds them. */
export async function listAll<P extends ListPath, K extends ListKey<P>>(
  api: Api,
  path: P,
  key: K,
  { at, query, max = 10_000, onPage }: ListOptions<P> = {},
): Promise<RecordOf<Page<P>[K]>[]> {
  // `ListPath` has these parameters and `nextCursor`; with the path still open the compiler can't see it.
  const get = api.get as unknown as (path: P, init: object) => Promise<Page<P> & { nextCursor: string | null }>;
  const all: RecordOf<Page<P>[K]>[] = [];
  let cursor: string | undefined;
  do {
    const page = await get(path, { params: { path: at, query: { limit: 200, ...query, cursor } } });
    onPage?.(page);
    // `ListKey` gives arrays only. A server of another version may lack one.
    all.push(...((page[key] ?? []) as RecordOf<Page<P>[K]>[]));
    cursor = textOf(page.nextCursor);
  } while (cursor !== undefined && all.length < max);
  return all.slice(0, max);
}
