import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { secondsAgo } from "#server/web/app/data/call-words.ts";
import { callQuery } from "#server/web/app/data/calls.ts";
import { grantsQuery, tokensQuery } from "#server/web/app/data/queries.ts";
import { countsQuery } from "#server/web/app/data/search.ts";
import { Notice } from "#server/web/app/ui/notice.tsx";
import { Time } from "#server/web/app/ui/time.tsx";

/** Whether a client has called the tools, with its newest call, updated live. */
export function FirstCall() {
  const { data, dataUpdatedAt } = useQuery(callQuery);
  const client = useQueryClient();
  const calledAt = data?.call?.at;
  // The lists below show when each token and client was last used.
  useEffect(() => {
    if (calledAt === undefined) return;
    for (const { queryKey } of [tokensQuery, grantsQuery]) void client.invalidateQueries({ queryKey });
  }, [calledAt, client]);
  if (data === undefined) return null;
  const { call } = data;
  if (call === undefined) {
    return <Notice>Waiting for the first call. Ask your agent to search kb, and the call appears here.</Notice>;
  }
  const ago = secondsAgo(call.at, dataUpdatedAt);
  return (
    <Notice tone="ok">
      {/* Announced when a call arrives, but not for each second that passes. */}
      <span aria-live="polite">
        <strong className="font-medium">{call.who}</strong> called{" "}
        {call.tool === null ? "kb" : <code className="font-mono text-[0.8125rem]">{call.tool}</code>}
      </span>{" "}
      {ago === undefined ? <Time at={call.at} /> : <span className="whitespace-nowrap">{ago}</span>}
    </Notice>
  );
}

/** Shown while an agent would find nothing, with the steps that change this. */
export function NothingIndexed() {
  const counts = useQuery(countsQuery).data?.counts;
  if (counts === undefined || counts.length > 0) return null;
  return (
    <Notice tone="warn">
      There are no items that you can read, so agents find nothing yet.{" "}
      <Link to="/workspace/connectors/new">Add a connector</Link>, or{" "}
      <Link to="/settings/accounts">connect your accounts</Link> to find what you can read there.
    </Notice>
  );
}
