import type { ReactNode } from "react";
import { toProblem } from "#server/web/app/data/problem.ts";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";
import type { Query } from "./loaded.tsx";
import { NothingHere } from "./nothing-here.tsx";

/** The page of one thing, or the page for nothing if the thing doesn't exist or the person can't see it. */
export function LoadedPage<T>({ query, children }: { query: Query<T>; children(data: T): ReactNode }) {
  const { data, error } = query;
  if (error !== null) {
    const problem = toProblem(error);
    const isNowhere = problem.code === "not_found" || problem.code === "invalid_request";
    return isNowhere ? <NothingHere /> : <ProblemNotice problem={problem} />;
  }
  return data === undefined ? <Skeleton lines={6} /> : children(data);
}
