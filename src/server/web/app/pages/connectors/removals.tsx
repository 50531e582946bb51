import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Connector, HeldRemoval } from "#api/connector-records.ts";
import { plural } from "#api/plural.ts";
import { api, take } from "#server/web/app/data/client.ts";
import { removalsQuery } from "#server/web/app/data/connectors.ts";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { ConfirmDialog } from "#server/web/app/ui/dialog.tsx";
import { Table, type Column } from "#server/web/app/ui/table.tsx";
import { Time } from "#server/web/app/ui/time.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";

type Verdict = "approve" | "reject";

/** Items that are gone from the source, too many at once to remove without approval. */
export function Removals({ connector: { id, counts, allowed } }: { connector: Connector }) {
  const query = useInfiniteQuery(removalsQuery(id));
  const client = useQueryClient();
  const [asked, setAsked] = useState<Verdict>();
  if (counts.held === 0) return null;

  async function decide(): Promise<void> {
    const params = { path: { id } };
    if (asked === "approve") {
      const { removed } = await take(api.POST("/api/connectors/{id}/removals/approve", { params, body: {} }));
      toast(`${plural(removed, "item")} removed`);
    } else {
      const { kept } = await take(api.POST("/api/connectors/{id}/removals/reject", { params, body: {} }));
      toast(`${plural(kept, "item")} kept`);
    }
    await client.invalidateQueries({ queryKey: ["connectors"] });
  }

  return (
    <Section
      action={
        allowed.includes("decide_removals") && (
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => setAsked("reject")}>Keep all</Button>
            <Button kind="danger" onClick={() => setAsked("approve")}>
              Remove all
            </Button>
          </div>
        )
      }
      description="These items are no longer in the source. Until you decide, they stay hidden."
      title={`${plural(counts.held, "removal")} waiting for approval`}
    >
      <LoadedPages query={query} rowsOf={({ removals }) => removals}>
        {(rows) => <Table columns={COLUMNS} keyOf={({ kbId }) => kbId} label="Removals" rows={rows} />}
      </LoadedPages>
      <ConfirmDialog
        act={asked === "approve" ? "Remove" : "Keep"}
        isOpen={asked !== undefined}
        kind={asked === "approve" ? "danger" : "primary"}
        onClose={() => setAsked(undefined)}
        onConfirm={decide}
        title={asked === "approve" ? "Remove all of these items?" : "Keep all of these items?"}
      >
        <p>
          {asked === "approve"
            ? "They are deleted for good after 7 days."
            : "People who could read them can find them again, until a later sync misses them."}
        </p>
      </ConfirmDialog>
    </Section>
  );
}

const COLUMNS: Column<HeldRemoval>[] = [
  {
    title: "Item",
    isHeadless: true,
    cell: ({ kbId, title }) =>
      title === null ? (
        <span className="text-muted">An item that you can't read</span>
      ) : (
        <Link className="wrap-anywhere" to={`/i/${kbId}`}>
          {title}
        </Link>
      ),
  },
  { title: "Since", cell: ({ heldAt }) => <Time at={heldAt} /> },
];
