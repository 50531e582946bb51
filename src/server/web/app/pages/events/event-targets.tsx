import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { EVENT_TYPES } from "#api/event-types.ts";
import type { EventTarget } from "#api/events.ts";
import { eventTargetsQuery } from "#server/web/app/data/queries.ts";
import { ForAdmins } from "#server/web/app/shell/for-admins.tsx";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { Badge, EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { NewTarget } from "./new-target.tsx";
import { stateWords } from "./event-words.ts";

/** The event targets. */
export function Page() {
  return (
    <ForAdmins title="Events">
      <Targets />
    </ForAdmins>
  );
}

function Targets() {
  const query = useQuery(eventTargetsQuery);
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHeading
        action={
          <Button icon="plus" kind="primary" onClick={() => setAdding(true)}>
            Add target
          </Button>
        }
        title="Events"
      >
        Tell your systems when a sync fails, a connector needs credentials, or removals wait for approval. Events
        contain IDs, counts and codes, never titles or text.
      </PageHeading>
      <Section title="Event targets">
        <Loaded query={query}>
          {({ targets }) =>
            targets.length === 0 ? (
              <EmptyState icon="external" title="No event targets yet">
                Add the URL of a system that accepts signed webhooks.
              </EmptyState>
            ) : (
              <Table columns={COLUMNS} keyOf={({ id }) => id} label="Event targets" rows={targets} />
            )
          }
        </Loaded>
      </Section>
      <NewTarget isOpen={isAdding} onClose={() => setAdding(false)} />
    </>
  );
}

const COLUMNS: readonly Column<EventTarget>[] = [
  {
    title: "URL",
    isHeadless: true,
    cell: ({ id, url }) => (
      <Link className="font-medium wrap-anywhere underline" to={`/workspace/events/${id}`}>
        {url}
      </Link>
    ),
  },
  { title: "State", cell: (target) => <TargetState target={target} /> },
  { title: "Types", cell: ({ types }) => (types.length === EVENT_TYPES.length ? "All" : types.length) },
  { title: "Waiting", cell: ({ waiting }) => waiting },
  { title: "Last delivered", cell: ({ lastDeliveredAt }) => <Time at={lastDeliveredAt} /> },
];

export function TargetState({ target }: { target: EventTarget }) {
  const { title, tone } = stateWords(target);
  return <Badge tone={tone}>{title}</Badge>;
}
