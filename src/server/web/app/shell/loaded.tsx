import type { ReactNode } from "react";
import { isOutage, toProblem } from "#server/web/app/data/problem.ts";
import { Section, Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { Table, type TableProps } from "#server/web/app/ui/table.tsx";
import { NothingHere } from "./nothing-here.tsx";

interface Query<T> {
  data: T | undefined;
  error: unknown;
  refetch(): unknown;
}

/** The requested data: placeholder lines until it arrives, and after a failure the reason, with a way to retry. */
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

/** A list, and a button for more of it if it arrives in pages. */
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

interface LoadedTableProps<Row> extends Omit<TableProps<Row>, "rows"> {
  query: PagedQuery<readonly Row[]>;
  /** In place of a table without rows. */
  empty?: ReactNode;
}

/** The rows of a query as a table. */
export function LoadedTable<Row>({ query, empty, ...table }: LoadedTableProps<Row>) {
  return (
    <LoadedPages query={query}>
      {(rows) => (rows.length === 0 && empty !== undefined ? empty : <Table {...table} rows={rows} />)}
    </LoadedPages>
  );
}

interface TableSectionProps<Row> extends LoadedTableProps<Row> {
  title: string;
  description?: ReactNode;
  action?: ReactNode;
}

/** A section of a page that is one table. */
export function TableSection<Row>({ title, description, action, ...table }: TableSectionProps<Row>) {
  return (
    <Section action={action} description={description} title={title}>
      <LoadedTable {...table} />
    </Section>
  );
}

/** The page of one thing: the answer for nothing when it doesn't exist, or the person can't see it. */
export function LoadedPage<T>({ query, children }: { query: Query<T>; children(data: T): ReactNode }) {
  const { data, error } = query;
  if (error !== null) {
    const problem = toProblem(error);
    const isNowhere = problem.code === "not_found" || problem.code === "invalid_request";
    return isNowhere ? <NothingHere /> : <ProblemNotice problem={problem} />;
  }
  return data === undefined ? <Skeleton lines={6} /> : children(data);
}
