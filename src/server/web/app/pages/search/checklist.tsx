import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { callQuery } from "#server/web/app/data/calls.ts";
import { countsQuery } from "#server/web/app/data/search.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Icon } from "#server/web/app/ui/icon.tsx";

/** What is left to do until an agent finds something: shown until the first call of one. */
export function Checklist() {
  const counts = useQuery(countsQuery).data?.counts;
  const calls = useQuery(callQuery).data;
  if (counts === undefined || calls === undefined || calls.call !== undefined) return null;
  return (
    <Section title="Get started">
      <ol className="space-y-2">
        <Step isDone={counts.length > 0} title="Connect a source">
          <Link to="/workspace/connectors/new">Add a connector</Link>, or index a folder with{" "}
          <code className="font-mono">kb quickstart PATH</code>.
        </Step>
        <Step isDone={calls.hasClient} title="Connect a client">
          <Link to="/settings/mcp-access">Get the address or a token</Link> for your agent.
        </Step>
        <Step isDone={false} title="Ask your agent to search kb">
          This list disappears after its first call.
        </Step>
      </ol>
    </Section>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <li className="flex gap-2.5">
      <span
        className={`mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full border ${isDone ? "border-ok bg-ok-soft text-ok" : "border-edge"}`}
      >
        {isDone && <Icon name="check" size={12} />}
      </span>
      <div className="min-w-0">
        <p className="font-medium">
          {title}
          {isDone && <span className="sr-only"> (done)</span>}
        </p>
        {!isDone && <p className="text-muted">{children}</p>}
      </div>
    </li>
  );
}
