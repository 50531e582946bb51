import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toProblem } from "#server/web/app/data/problem.ts";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { EntryCard } from "./entry.tsx";

/** The offer of a link, fetched when the page opens: an expired link says so before anything is typed. */
export function CheckedLink<T>({
  query,
  title,
  overTitle,
  overCode,
  next,
  children,
}: {
  query: UseQueryResult<T>;
  /** While it is loading. */
  title: string;
  /** When the link has expired. */
  overTitle: string;
  /** The code for an expired link; anything else can be retried. */
  overCode: "invitation_invalid" | "link_invalid";
  /** The next step then. */
  next: ReactNode;
  children(offer: T): ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error === null) {
    return (
      <EntryCard title={title}>
        <Skeleton lines={3} />
      </EntryCard>
    );
  }
  const problem = toProblem(query.error);
  if (problem.code === overCode) return <EntryCard below={next} lead={problem.message} title={overTitle} />;
  return (
    <EntryCard title={title}>
      <div className="space-y-3">
        <ProblemNotice problem={problem} />
        <Button onClick={() => void query.refetch()}>Try again</Button>
      </div>
    </EntryCard>
  );
}
