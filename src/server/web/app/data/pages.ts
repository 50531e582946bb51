import { infiniteQueryOptions, type InfiniteData } from "@tanstack/react-query";

/** The query parameters of a route that returns a list. */
interface PageQuery {
  limit: number;
  cursor?: string;
}

/** A page with its rows under their plural name. */
type PageOf<Plural extends string> = { nextCursor: string | null } & Readonly<Record<Plural, readonly unknown[]>>;

interface Options<Row> {
  /** The number of rows in a page. */
  limit?: number;
  /** Returns the milliseconds until the rows are refetched. A hidden page doesn't refetch. */
  again?(rows: readonly Row[]): number;
}

/** A list that arrives in pages. Its data are the rows of all pages so far. */
export function pages<Plural extends string, Page extends PageOf<Plural>>(
  queryKey: readonly unknown[],
  plural: Plural,
  fetchPage: (query: PageQuery) => Promise<Page>,
  { limit = 50, again }: Options<Page[Plural][number]> = {},
) {
  const select = ({ pages }: InfiniteData<Page>) =>
    pages.flatMap((page): readonly Page[Plural][number][] => page[plural]);
  return infiniteQueryOptions({
    queryKey: [...queryKey, "pages"],
    queryFn: ({ pageParam }) => fetchPage({ limit, ...(pageParam !== "" && { cursor: pageParam }) }),
    initialPageParam: "",
    getNextPageParam: (page: Page) => page.nextCursor,
    select,
    ...(again && {
      refetchInterval: ({ state: { data } }: { state: { data: InfiniteData<Page> | undefined } }) =>
        again(data ? select(data) : []),
    }),
  });
}
