import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { describeActivity } from "#api/activity-words.ts";
import type { Connector, ConnectorPublic } from "#api/connector-records.ts";
import { describeHiddenItems } from "#api/hidden-items.ts";
import { STATE_WORDS } from "#server/web/app/data/connector-words.ts";
import { connectorsQuery, useSource } from "#server/web/app/data/connectors.ts";
import { useLiveSyncs } from "#server/web/app/data/live-syncs.ts";
import { useIsAdmin } from "#server/web/app/shell/session.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { Badge, EmptyState, StateBadge } from "#server/web/app/ui/bits.tsx";
import { buttonClass } from "#server/web/app/ui/button.tsx";
import { type Column, headColumn } from "#server/web/app/ui/table.tsx";
import { Time, useTimeWords } from "#server/web/app/ui/time.tsx";

type Row = Connector | ConnectorPublic;

/** The connectors of the workspace: the person's own and those from which they may read; for admins all. */
export function Page() {
  useLiveSyncs();
  return (
    <PageFrame
      action={
        <Link className={buttonClass("primary")} to="/workspace/connectors/new">
          Add connector
        </Link>
      }
      lead="Each connector indexes one source. Agents find only what you can read in the source."
      title="Connectors"
    >
      <TableSection
        columns={COLUMNS}
        empty={<NoConnectors />}
        keyOf="id"
        label="Connectors"
        query={useInfiniteQuery(connectorsQuery)}
        title="In this workspace"
      />
    </PageFrame>
  );
}

/**
 * A member's list leaves out connectors that the member can't read from, so an empty list doesn't show whether the
 * workspace has connectors.
 */
function NoConnectors() {
  if (useIsAdmin()) {
    return (
      <EmptyState icon="plug" title="No connectors yet">
        <Link to="/workspace/connectors/new">Add a connector</Link>, or index a folder with{" "}
        <code className="font-mono">kb quickstart PATH</code>.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="plug" title="No connectors that you can read">
      <Link to="/settings/accounts">Connect your accounts</Link> to find what you can read there, or{" "}
      <Link to="/workspace/connectors/new">add a connector</Link>.
    </EmptyState>
  );
}

/** Whether the row has all details. Its owner and admins see more than others. */
function isWhole(row: Row): row is Connector {
  return "counts" in row;
}

const COLUMNS: Column<Row>[] = [
  headColumn("Name", (row) => (
    <>
      {isWhole(row) ? (
        <Link
          className="block font-medium wrap-break-word"
          params={{ connectorId: row.id }}
          to="/workspace/connectors/$connectorId"
        >
          {row.name}
        </Link>
      ) : (
        <span className="block font-medium wrap-break-word">{row.name}</span>
      )}
      <SourceName providerId={row.providerId} />
    </>
  )),
  { title: "Status", cell: (row) => <Status row={row} /> },
  {
    title: "Items",
    cell: (row) =>
      isWhole(row) ? (
        <>
          {row.counts.indexed.toLocaleString("en-GB")}
          {row.readByNobody && (
            <span className="text-muted mt-1 block text-xs">
              No one can read these items:{" "}
              <Link params={{ connectorId: row.id }} to="/workspace/connectors/$connectorId">
                next step
              </Link>
            </span>
          )}
        </>
      ) : (
        <span className="text-muted">–</span>
      ),
  },
  {
    title: "Last sync",
    cell: (row) =>
      isWhole(row) && row.lastSync !== null ? (
        <Time at={row.lastSync.finishedAt} never="running" />
      ) : (
        <span className="text-muted">–</span>
      ),
  },
];

function SourceName({ providerId }: Pick<Row, "providerId">) {
  return <span className="text-muted text-xs">{useSource(providerId)?.name ?? providerId}</span>;
}

function Status({ row }: { row: Row }) {
  const when = useTimeWords();
  const activity = isWhole(row) ? describeActivity(row, when) : undefined;
  const hidden = isWhole(row) && describeHiddenItems(row.counts).length > 0;
  return (
    <>
      <span className="inline-flex flex-wrap gap-1">
        <StateBadge {...STATE_WORDS[row.state]} />
        {hidden && <Badge tone="warn">Hidden items</Badge>}
      </span>
      {activity && <span className="text-muted mt-1 block text-xs wrap-break-word">{activity}</span>}
    </>
  );
}
