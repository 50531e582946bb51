import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "#server/web/app/data/client.ts";
import { toProblem } from "#server/web/app/data/problem.ts";
import { sessionQuery } from "#server/web/app/data/queries.ts";
import { ConsentCard, type Decision } from "#server/web/app/shell/consent-card.tsx";
import { EntryCard } from "#server/web/app/shell/entry.tsx";
import { Skeleton } from "#server/web/app/ui/bits.tsx";
import { ProblemNotice } from "#server/web/app/ui/notice.tsx";

/** Asks whether a client that requests access may have it. */
export function Page() {
  const { uid = "" } = useParams({ strict: false });
  const path = { uid };
  const [isDecided, setDecided] = useState(false);
  const session = useQuery(sessionQuery);
  const request = useQuery({
    queryKey: ["consent", uid],
    queryFn: () => api.get("/oauth/consent/{uid}/request", { params: { path } }),
    // The request must not change while a person is deciding.
    staleTime: Infinity,
  });

  async function decide(body: Decision): Promise<void> {
    const { redirectTo } = await api.post("/oauth/consent/{uid}/decision", { params: { path }, body });
    setDecided(true);
    window.location.assign(redirectTo);
  }

  if (isDecided) {
    return (
      <EntryCard
        lead="If the app doesn't open, go back to it and close this page."
        title="Taking you back to the app"
      />
    );
  }
  const error = request.error ?? session.error;
  if (request.data !== undefined && session.data !== undefined) {
    return <ConsentCard onDecide={decide} request={request.data} user={session.data.user} />;
  }
  return (
    <EntryCard below={<a href="/">Go to the home page</a>} title="Authorize an app">
      {error === null ? <Skeleton lines={5} /> : <ProblemNotice problem={toProblem(error)} />}
    </EntryCard>
  );
}
