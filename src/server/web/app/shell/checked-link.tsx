import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toProblem } from "#server/web/app/data/problem.ts";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { EntryCard } from "./entry.tsx";

/**
 * The offer of a link. It is fetched when the page opens, so that people learn that a link has expired before they type
 * anything.
 */
export function CheckedLink<T>({
  query,
  title,
  overTitle,
  overCode,
  next,
  children,
}: {
  query: UseQueryResult<T>;
  /** The title while the offer is loading. */
  title: string;
  /** The title if the link has expired. */
  overTitle: string;
  /** The error code of an expired link. Any other failure can be retried. */
  overCode: "invitation_invalid" | "link_invalid";
  /** The next step for a person whose link has expired. */
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
