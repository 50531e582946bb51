import type { ReactNode } from "react";
import { isOutage, toProblem } from "#server/web/app/data/problem.ts";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";

export interface Query<T> {
  data: T | undefined;
  error: unknown;
  refetch(): unknown;
}

/**
 * The requested data. Shows placeholder lines until it arrives and, after a failure, the reason with a button to retry.
 */
export function Loaded<T>({
  query,
  lines,
  children,
}: {
  query: Query<T>;
  lines?: number;
  children(data: T): ReactNode;
}) {
  if (query.data !== undefined) {
    return (
      <>
        {isOutage(query.error) && (
          <Notice className="mb-3" tone="warn">
            <output>
              The server isn&rsquo;t answering. This is what was here before; the page tries again by itself.
            </output>
          </Notice>
        )}
        {children(query.data)}
      </>
    );
  }
  if (query.error === null) return <Skeleton lines={lines ?? 3} />;
  return (
    <div className="space-y-3">
      <ProblemNotice problem={toProblem(query.error)} />
      <Button onClick={() => void query.refetch()}>Try again</Button>
    </div>
  );
}

export interface PagedQuery<T> extends Query<T> {
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?(): unknown;
}

/** A list, with a button for more if it arrives in pages. */
export function LoadedPages<T>({ query, children }: { query: PagedQuery<T>; children(data: T): ReactNode }) {
  const { hasNextPage = false, isFetchingNextPage = false, fetchNextPage } = query;
  return (
    <Loaded query={query}>
      {(data) => (
        <>
          {children(data)}
          {hasNextPage && (
            <div className="border-line border-t pt-3 text-center">
              <Button isBusy={isFetchingNextPage} kind="quiet" onClick={() => void fetchNextPage?.()}>
                Show more
              </Button>
            </div>
          )}
        </>
      )}
    </Loaded>
  );
}
