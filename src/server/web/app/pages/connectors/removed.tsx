import { useInfiniteQuery } from "@tanstack/react-query";
import type { Connector, RemovedItem } from "#api/connector-records.ts";
import { api } from "#server/web/app/data/client.ts";
import { removedQuery } from "#server/web/app/data/connectors.ts";
import { useRefetch } from "#server/web/app/data/refetch.ts";
import { LoadedTable } from "#server/web/app/shell/loaded-table.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { actsColumn, type Column, headColumn, timeColumn } from "#server/web/app/ui/table.tsx";
import { toast, tryOrToast } from "#server/web/app/ui/toast.tsx";

/** Recently removed items, each of which can be restored. */
export function Removed({ connector: { id } }: { connector: Connector }) {
  const query = useInfiniteQuery(removedQuery(id));
  if ((query.data?.length ?? 0) === 0) return null;
  return (
    <Section
      description="No one can find these items anymore, so their names aren't shown. You can restore them for 7 days: an item that its source still has, in what this connector indexes, is read again."
      title="Removed items"
    >
      <details>
        <summary className="text-accent w-fit">Show them</summary>
        <LoadedTable columns={COLUMNS} keyOf="kbId" label="Removed items" query={query} />
      </details>
    </Section>
  );
}

const COLUMNS: Column<RemovedItem>[] = [
  headColumn("Item", ({ kbId }) => <code className="wrap-anywhere">{kbId}</code>),
  timeColumn("Removed", "removedAt"),
  actsColumn(({ kbId }) => <Restore kbId={kbId} />),
];

function Restore({ kbId }: { kbId: string }) {
  const refetch = useRefetch();

  async function restore(): Promise<void> {
    await tryOrToast(async () => {
      await api.post("/api/connectors/files/{fileId}/restore", { params: { path: { fileId: kbId } } });
      toast("Item restored. People can find it once it has been read again.");
    });
    await refetch(["connectors"]);
  }

  return (
    <Button aria-label={`Restore ${kbId}`} kind="quiet" onClick={() => void restore()}>
      Restore
    </Button>
  );
}
