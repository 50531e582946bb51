import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toProblem } from "#server/web/app/data/problem.ts";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { EntryCard } from "./entry.tsx";

/** What a link offers, asked when the page opens: a link that is over says so before anybody types anything. */
export function CheckedLink<T>({
  query,
  title,
  overTitle,
  overCode,
  next,
  children,
}: {
  query: UseQueryResult<T>;
  /** While it is being asked. */
  title: string;
  /** When the link is over. */
  overTitle: string;
  /** The code that says that it is over; anything else can be tried again. */
  overCode: "invitation_invalid" | "link_invalid";
  /** What a person does then. */
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
