import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ACTS_BY_TOPIC } from "./audit-words.ts";
import { auditQuery, useEverybody } from "#server/web/app/data/queries.ts";
import { dayEnd, dayStart } from "./days.ts";
import { forAdmins } from "#server/web/app/shell/for-admins.tsx";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { PageFrame } from "#server/web/app/shell/page.tsx";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button, buttonClass } from "#server/web/app/ui/button.tsx";
import { Options, Picker, PLAIN } from "#server/web/app/ui/picker.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { Acts } from "./acts.tsx";
import { ChainCheck } from "./chain-check.tsx";

/** Actions in the workspace: what was done, by whom and from where. */
export const Page = forAdmins("Audit", Audit);

interface Filter {
  userId: string;
  action: string;
  /** A day in the format of the browser's date input, `2026-11-21`. */
  from: string;
  to: string;
}

const EVERYTHING: Filter = { userId: "", action: "", from: "", to: "" };

function Audit() {
  const [filter, setFilter] = useState(EVERYTHING);
  const { userId, action, from, to } = filter;
  const [since, until] = [dayStart(from), dayEnd(to)];
  const query = useInfiniteQuery(
    auditQuery({
      ...(userId !== "" && { userId }),
      ...(action !== "" && { action }),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
    }),
  );
  return (
    <PageFrame
      action={
        <a
          className={buttonClass()}
          download
          href="/api/audit/export"
          onClick={() => toast("Downloading kb-audit.ndjson")}
        >
          Export
        </a>
      }
      lead="What members, clients and the server did in the last 90 days."
      title="Audit"
    >
      <Section title="Activity">
        <Filters filter={filter} onChange={setFilter} />
        <LoadedPages query={query}>
          {({ entries, names }) =>
            entries.length === 0 ? (
              <EmptyState icon="list" title="No matching activity">
                {filter !== EVERYTHING && (
                  <Button kind="quiet" onClick={() => setFilter(EVERYTHING)}>
                    Clear filters
                  </Button>
                )}
              </EmptyState>
            ) : (
              <Acts entries={entries} names={names} />
            )
          }
        </LoadedPages>
      </Section>
      <ChainCheck />
    </PageFrame>
  );
}

function Filters({ filter, onChange }: { filter: Filter; onChange(filter: Filter): void }) {
  const everybody = useEverybody();
  const set = (change: Partial<Filter>) => onChange({ ...filter, ...change });
  return (
    <div className="border-line mb-1 grid grid-cols-2 gap-2 border-b pb-3 lg:flex">
      <Picker className={CONTROL} label="Member" onChoose={(userId) => set({ userId })} value={filter.userId}>
        <option value="">Everyone</option>
        <Options choices={everybody.map(({ userId, name }) => [userId, name])} />
      </Picker>
      <Picker className={CONTROL} label="Action" onChoose={(action) => set({ action })} value={filter.action}>
        <option value="">All actions</option>
        {ACTS_BY_TOPIC.map(({ topic, acts }) => (
          <optgroup key={topic} label={topic}>
            <Options choices={Object.entries(acts).map(([action, [title]]) => [action, title])} />
          </optgroup>
        ))}
      </Picker>
      <Day label="From" onChoose={(from) => set({ from })} value={filter.from} />
      <Day label="To" onChoose={(to) => set({ to })} value={filter.to} />
    </div>
  );
}

interface DayProps {
  label: string;
  value: string;
  onChoose(day: string): void;
}

function Day({ label, value, onChoose }: DayProps) {
  return (
    <label className="text-muted flex min-w-0 items-center gap-2 max-sm:flex-col max-sm:items-start max-sm:gap-0.5">
      {label}
      <input
        className={`min-h-8 rounded-md border px-2 max-sm:min-h-10 ${CONTROL} text-ink w-full`}
        onChange={(event) => onChoose(event.currentTarget.value)}
        type="date"
        value={value}
      />
    </label>
  );
}

const CONTROL = `${PLAIN} min-w-0 lg:flex-1`;
