import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { EVENT_TYPES } from "#api/event-types.ts";
import type { EventTarget } from "#api/events.ts";
import { eventTargetsQuery } from "#server/web/app/data/queries.ts";
import { forAdmins } from "#server/web/app/shell/for-admins.tsx";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { EmptyState, StateBadge } from "#server/web/app/ui/bits.tsx";
import { DialogButton } from "#server/web/app/ui/dialog.tsx";
import { type Column, headColumn, timeColumn } from "#server/web/app/ui/table.tsx";
import { NewTarget } from "./new-target.tsx";
import { stateWords } from "./event-words.ts";

/** The event targets. */
export const Page = forAdmins("Events", Targets);

function Targets() {
  return (
    <PageFrame
      action={
        <DialogButton dialog={<NewTarget />} icon="plus" kind="primary">
          Add target
        </DialogButton>
      }
      lead="Tell your systems when a sync fails, a connector needs credentials, or removals wait for approval. Events contain IDs, counts and codes, never titles or text."
      title="Events"
    >
      <TableSection
        columns={COLUMNS}
        empty={
          <EmptyState icon="external" title="No event targets yet">
            Add the URL of a system that accepts signed webhooks.
          </EmptyState>
        }
        keyOf="id"
        label="Event targets"
        query={useQuery(eventTargetsQuery)}
        title="Event targets"
      />
    </PageFrame>
  );
}

const COLUMNS: readonly Column<EventTarget>[] = [
  headColumn("URL", ({ id, url }) => (
    <Link className="font-medium wrap-anywhere underline" to={`/workspace/events/${id}`}>
      {url}
    </Link>
  )),
  { title: "State", cell: (target) => <StateBadge {...stateWords(target)} /> },
  { title: "Types", cell: ({ types }) => (types.length === EVENT_TYPES.length ? "All" : types.length) },
  { title: "Waiting", cell: ({ waiting }) => waiting },
  timeColumn("Last delivered", "lastDeliveredAt"),
];
