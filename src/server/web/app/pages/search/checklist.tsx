import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { callQuery } from "#server/web/app/data/calls.ts";
import { countsQuery } from "#server/web/app/data/search.ts";
import { FirstCall } from "#server/web/app/pages/mcp-access/first-call.tsx";
import { isAdmin } from "#server/web/app/shell/nav.ts";
import { useSession } from "#server/web/app/shell/session.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Icon } from "#server/web/app/ui/icon.tsx";

/** The key that stores the person who saw the open tasks in this tab and hasn't closed the list since. */
const KEY = "kb-checklist";

/**
 * The remaining steps until an agent finds something. Shown until an agent's first call. When that call arrives, people
 * who saw the list are told which agent made it, on any page they are on, and can close the list.
 */
export function Checklist() {
  const { role, user, workspace } = useSession();
  const whose = `${user.id} ${workspace.id}`;
  const counts = useQuery(countsQuery).data?.counts;
  const calls = useQuery(callQuery).data;
  const [isOpen, setOpen] = useState(() => window.sessionStorage.getItem(KEY) === whose);
  const isWaiting = calls !== undefined && calls.call === undefined;
  if (isWaiting && !isOpen) setOpen(true);
  useEffect(() => {
    if (isWaiting) window.sessionStorage.setItem(KEY, whose);
  }, [isWaiting, whose]);
  if (counts === undefined || calls === undefined || !isOpen) return null;
  const close = () => {
    window.sessionStorage.removeItem(KEY);
    setOpen(false);
  };
  return (
    <Section
      action={
        !isWaiting && (
          <Button kind="quiet" onClick={close}>
            Close
          </Button>
        )
      }
      title={isWaiting || counts.length === 0 ? "Get started" : "You are set up"}
    >
      <ol className="space-y-2">
        <Step isDone={counts.length > 0} title="Connect a source">
          {isAdmin(role) ? (
            <>
              <Link to="/workspace/connectors/new">Add a connector</Link>, or index a folder of this machine with{" "}
              <code className="font-mono">kb quickstart PATH</code>.
            </>
          ) : (
            <>
              <Link to="/settings/accounts">Connect your accounts</Link> to find what you can read there, or{" "}
              <Link to="/workspace/connectors/new">add a connector</Link>.
            </>
          )}
        </Step>
        <Step isDone={calls.hasClient} title="Connect a client">
          <Link to="/settings/mcp-access">Get the address or a token</Link> for your agent.
        </Step>
        <Step isDone={!isWaiting} title="Ask your agent to search kb">
          Its first call appears here.
        </Step>
      </ol>
      {!isWaiting && (
        <div className="mt-4">
          <FirstCall />
        </div>
      )}
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
