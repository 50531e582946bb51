import { useQuery } from "@tanstack/react-query";
import type { Connector, Sync } from "#api/connector-records.ts";
import { count, plural } from "#api/plural.ts";
import { syncQuery, syncsQuery } from "#server/web/app/data/connectors.ts";
import { Loaded } from "#server/web/app/shell/loaded.tsx";
import { LEFT_OUT_WORDS } from "#server/web/app/pages/item/text-reason-words.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { type Column, headColumn, Table } from "#server/web/app/ui/table.tsx";

/** Items that the last sync skipped, and why: names for people who may see them, numbers for others. */
export function LeftOut({ connector }: { connector: Connector }) {
  const last = useQuery(syncsQuery(connector)).data?.find(isListing);
  if (last === undefined || last.counts.skipped + last.counts.failed === 0) return null;
  return <Skips connector={connector} sync={last} />;
}

function Skips({ connector: { id }, sync: { id: syncId, counts } }: { connector: Connector; sync: Sync }) {
  const query = useQuery(syncQuery(id, syncId));
  const reasons = Object.entries({ ...counts.reasons, ...(counts.failed > 0 && { failed: counts.failed }) });
  return (
    <Section
      description={reasons.map(([reason, number]) => `${wordsOf(reason)}: ${count(number)}`).join(" · ")}
      title={`${plural(counts.skipped + counts.failed, "item")} left out of the last sync`}
    >
      <Loaded query={query}>
        {({ skips }) => {
          const named = skips.filter(({ externalId }) => externalId !== null);
          if (named.length === 0) return <p className="text-muted">You can't see their names.</p>;
          return <Table columns={COLUMNS} keyOf={({ externalId }) => externalId ?? ""} label="Left out" rows={named} />;
        }}
      </Loaded>
    </Section>
  );
}

/** Whether a run reads everything or new items. Other runs are about single items. */
function isListing({ mode, trigger, finishedAt }: Sync): boolean {
  return (mode === "full" || mode === "incremental") && trigger !== "reader" && finishedAt !== null;
}

function wordsOf(reason: string): string {
  return LEFT_OUT_WORDS[reason] ?? reason.replaceAll("_", " ");
}

const COLUMNS: Column<Sync["skips"][number]>[] = [
  headColumn("Item", ({ externalId }) => <bdi className="block wrap-anywhere">{externalId}</bdi>),
  { title: "Reason", cell: ({ reason, message }) => message ?? wordsOf(reason) },
];
