import { useInfiniteQuery } from "@tanstack/react-query";
import type { SessionRecord } from "#api/session.ts";
import { describeBrowser } from "#server/web/app/data/browser-words.ts";
import { api } from "#server/web/app/data/client.ts";
import { sessionsQuery } from "#server/web/app/data/queries.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { Badge } from "#server/web/app/ui/bits.tsx";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { actsColumn, type Column, headColumn, timeColumn, IN_ROW } from "#server/web/app/ui/table.tsx";

/** The person's sessions, with buttons to end them. */
export function Page() {
  return (
    <PageFrame
      lead="Devices where you're signed in. If you don't recognize one, sign it out and change your password."
      title="Sessions"
    >
      <TableSection
        columns={COLUMNS}
        keyOf="id"
        label="Sessions"
        query={useInfiniteQuery(sessionsQuery)}
        title="Active sessions"
      />
    </PageFrame>
  );
}

const COLUMNS: Column<SessionRecord>[] = [
  headColumn("Device", ({ userAgent, ip, current }) => (
    <>
      <span className="flex flex-wrap items-center gap-2 font-medium">
        {describeBrowser(userAgent)}
        {current && <Badge tone="accent">This session</Badge>}
      </span>
      {ip && <span className="text-muted font-mono text-xs">{ip}</span>}
    </>
  )),
  timeColumn("Last seen", "lastSeenAt"),
  timeColumn("Signed in", "createdAt"),
  timeColumn("Expires", "expiresAt"),
  actsColumn((session) => !session.current && <SignOut session={session} />),
];

function SignOut({ session: { id, userAgent } }: { session: SessionRecord }) {
  const title = `Sign out ${describeBrowser(userAgent)}`;
  return (
    <DialogButton
      {...IN_ROW}
      aria-label={title}
      dialog={
        <ConfirmDialog
          act="Sign out"
          invalidates={["sessions"]}
          onConfirm={() => api.delete("/api/sessions/{id}", { params: { path: { id } } })}
          title={`${title}?`}
          toast="Session ended"
        >
          This session ends immediately. To continue, sign in again on that device.
        </ConfirmDialog>
      }
    >
      Sign out
    </DialogButton>
  );
}
