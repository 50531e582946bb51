import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Connector } from "#api/connector-records.ts";
import type { FileRecord } from "#api/files.ts";
import { plural } from "#api/plural.ts";
import { withoutTextQuery } from "#server/web/app/data/connectors.ts";
import { TableSection } from "#server/web/app/shell/loaded-table.tsx";
import { TEXT_REASON_WORDS } from "#server/web/app/pages/item/text-reason-words.ts";
import { type Column, headColumn } from "#server/web/app/ui/table.tsx";

/** Items that can be found only by name, and why. Shows items that the person can see. */
export function WithoutText({ connector: { id, counts } }: { connector: Connector }) {
  const query = useInfiniteQuery({ ...withoutTextQuery(id), enabled: counts.unsearchable > 0 });
  if (counts.unsearchable === 0) return null;
  return (
    <TableSection
      columns={COLUMNS}
      description="You can find these by name, but not by what they say. Only items that you can see are listed."
      empty={<p className="text-muted">You can't see any of them.</p>}
      keyOf="kbId"
      label="Items without text"
      query={query}
      title={`${plural(counts.unsearchable, "item")} without searchable text`}
    />
  );
}

const COLUMNS: Column<FileRecord>[] = [
  headColumn("Item", ({ kbId, title }) => (
    <Link className="block wrap-anywhere" params={{ kbId }} to="/i/$kbId">
      <bdi>{title}</bdi>
    </Link>
  )),
  {
    title: "Reason",
    cell: ({ textState: { reason, message } }) => message ?? (reason === null ? "" : TEXT_REASON_WORDS[reason]),
  },
];
