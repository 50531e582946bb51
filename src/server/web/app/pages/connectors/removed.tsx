import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { Connector, RemovedItem } from "#api/connector-records.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { removedQuery } from "#server/web/app/data/connectors.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ACTS, Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

/** Recently removed items, each of which can be restored. */
export function Removed({ connector: { id } }: { connector: Connector }) {
  const query = useInfiniteQuery(removedQuery(id));
  const client = useQueryClient();
  if ((query.data?.pages[0]?.removed.length ?? 0) === 0) return null;

  async function restore({ kbId: fileId }: RemovedItem): Promise<void> {
    try {
      await take(api.POST("/api/connectors/files/{fileId}/restore", { params: { path: { fileId } } }));
      toast("Item restored. People can find it once it has been read again.");
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    }
    await client.invalidateQueries({ queryKey: ["connectors"] });
  }

  return (
    <Section
      description="No one can find these items anymore, so their names aren't shown. You can restore them for 7 days: an item that its source still has, in what this connector indexes, is read again."
      title="Removed items"
    >
      <details>
        <summary className="text-accent w-fit">Show them</summary>
        <LoadedPages query={query} rowsOf={({ removed }) => removed}>
          {(rows) => (
            <Table
              columns={columnsOf((item) => void restore(item))}
              keyOf={({ kbId }) => kbId}
              label="Removed items"
              rows={rows}
            />
          )}
        </LoadedPages>
      </details>
    </Section>
  );
}

const columnsOf = (restore: (item: RemovedItem) => void): Column<RemovedItem>[] => [
  {
    title: "Item",
    isHeadless: true,
    cell: ({ kbId }) => <code className="wrap-anywhere">{kbId}</code>,
  },
  { title: "Removed", cell: ({ removedAt }) => <Time at={removedAt} /> },
  {
    title: ACTS,
    isHeadless: true,
    cell: (item) => (
      <Button aria-label={`Restore ${item.kbId}`} kind="quiet" onClick={() => restore(item)}>
        Restore
      </Button>
    ),
  },
];
