import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { SessionRecord } from "#api/session.ts";
import { describeBrowser } from "#server/web/app/data/browser-words.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { sessionsQuery } from "#server/web/app/data/queries.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { Badge, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** The person's sessions, and signing out of them. */
export function Page() {
  const query = useInfiniteQuery(sessionsQuery);
  const [ending, setEnding] = useState<SessionRecord>();
  const client = useQueryClient();

  async function end(): Promise<void> {
    if (ending === undefined) return;
    await take(api.DELETE("/api/sessions/{id}", { params: { path: { id: ending.id } } }));
    toast("Session ended");
    await client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
  }

  return (
    <>
      <PageHeading title="Sessions">
        Devices where you're signed in. If you don't recognize one, sign it out and change your password.
      </PageHeading>
      <Section title="Active sessions">
        <LoadedPages query={query} rowsOf={({ sessions }) => sessions}>
          {(sessions) => <Table columns={columns(setEnding)} keyOf={({ id }) => id} label="Sessions" rows={sessions} />}
        </LoadedPages>
      </Section>
      <ConfirmDialog
        act="Sign out"
        isOpen={ending !== undefined}
        onClose={() => setEnding(undefined)}
        onConfirm={end}
        title={`Sign out ${describeBrowser(ending?.userAgent ?? null)}?`}
      >
        <p>This session ends immediately. To continue, sign in again on that device.</p>
      </ConfirmDialog>
    </>
  );
}

function columns(onEnd: (session: SessionRecord) => void): Column<SessionRecord>[] {
  return [
    {
      title: "Device",
      isHeadless: true,
      cell: ({ userAgent, ip, current }) => (
        <>
          <span className="flex flex-wrap items-center gap-2 font-medium">
            {describeBrowser(userAgent)}
            {current && <Badge tone="accent">This session</Badge>}
          </span>
          {ip !== null && <span className="text-muted font-mono text-xs">{ip}</span>}
        </>
      ),
    },
    { title: "Last seen", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    { title: "Signed in", cell: ({ createdAt }) => <Time at={createdAt} /> },
    { title: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      title: ACTS,
      isHeadless: true,
      cell: (session) =>
        session.current ? null : (
          <Button
            aria-label={`Sign out ${describeBrowser(session.userAgent)}`}
            className="@2xl:-my-1.5 @2xl:-mr-2"
            kind="quiet"
            onClick={() => onEnd(session)}
          >
            Sign out
          </Button>
        ),
    },
  ];
}
