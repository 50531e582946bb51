import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Connector, HeldRemoval } from "#api/connector-records.ts";
import { plural } from "#api/plural.ts";
import { api } from "#server/web/app/data/client.ts";
import { removalsQuery } from "#server/web/app/data/connectors.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { ConfirmDialog, DialogButton } from "#server/web/app/ui/dialog.tsx";
import { type Column, headColumn, timeColumn } from "#server/web/app/ui/table.tsx";

/** Items that are gone from the source, but too many at once to be removed without approval. */
export function Removals({ connector: { id, counts, allowed } }: { connector: Connector }) {
  const query = useInfiniteQuery(removalsQuery(id));
  if (counts.held === 0) return null;
  return (
    <TableSection
      action={allowed.includes("decide_removals") && <Decide connectorId={id} />}
      columns={COLUMNS}
      description="These items are no longer in the source. Until you decide, they stay hidden."
      keyOf="kbId"
      label="Removals"
      query={query}
      title={`${plural(counts.held, "removal")} waiting for approval`}
    />
  );
}

function Decide({ connectorId }: { connectorId: string }) {
  const all = { params: { path: { id: connectorId } }, body: {} };
  return (
    <div className="flex flex-wrap gap-2">
      <DialogButton
        dialog={
          <ConfirmDialog
            act="Keep"
            invalidates={["connectors"]}
            kind="primary"
            onConfirm={() => api.post("/api/connectors/{id}/removals/reject", all)}
            title="Keep all of these items?"
            toast={({ kept }) => `${plural(kept, "item")} kept`}
          >
            People who could read them can find them again, until a later sync misses them.
          </ConfirmDialog>
        }
      >
        Keep all
      </DialogButton>
      <DialogButton
        dialog={
          <ConfirmDialog
            act="Remove"
            invalidates={["connectors"]}
            onConfirm={() => api.post("/api/connectors/{id}/removals/approve", all)}
            title="Remove all of these items?"
            toast={({ removed }) => `${plural(removed, "item")} removed`}
          >
            They are deleted for good after 7 days.
          </ConfirmDialog>
        }
        kind="danger"
      >
        Remove all
      </DialogButton>
    </div>
  );
}

const COLUMNS: Column<HeldRemoval>[] = [
  headColumn("Item", ({ kbId, title }) =>
    title === null ? (
      <span className="text-muted">An item that you can't read</span>
    ) : (
      <Link className="wrap-anywhere" to={`/i/${kbId}`}>
        {title}
      </Link>
    ),
  ),
  timeColumn("Since", "heldAt"),
];
