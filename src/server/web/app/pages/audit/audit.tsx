import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState, type ComponentProps } from "react";
import { ACTS_BY_TOPIC } from "./audit-words.ts";
import { auditQuery, everybodyQuery } from "#server/web/app/data/queries.ts";
import { dayEnd, dayStart } from "./days.ts";
import { ForAdmins } from "#server/web/app/shell/for-admins.tsx";
import { LoadedPages } from "#server/web/app/shell/loaded.tsx";
import { PageHeading } from "#server/web/app/shell/page.tsx";
import { EmptyState, Section } from "#server/web/app/ui/bits.tsx";
import { Button, buttonClass } from "#server/web/app/ui/button.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { Acts } from "./acts.tsx";
import { ChainCheck } from "./chain-check.tsx";

/** Actions in the workspace: what, by whom, from where. */
export function Page() {
  return (
    <ForAdmins title="Audit">
      <Audit />
    </ForAdmins>
  );
}

interface Filter {
  userId: string;
  action: string;
  /** Days in the format of the browser's control, `2026-11-21`. */
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
    <>
      <PageHeading
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
        title="Audit"
      >
        What members, clients and the server did in the last 90 days.
      </PageHeading>
      <div className="space-y-5">
        <Section title="Activity">
          <Filters filter={filter} onChange={setFilter} />
          <LoadedPages query={query} rowsOf={(page) => [page]}>
            {(pages) =>
              pages.every(({ entries }) => entries.length === 0) ? (
                <EmptyState icon="list" title="No matching activity">
                  {filter !== EVERYTHING && (
                    <Button kind="quiet" onClick={() => setFilter(EVERYTHING)}>
                      Clear filters
                    </Button>
                  )}
                </EmptyState>
              ) : (
                <Acts
                  entries={pages.flatMap(({ entries }) => entries)}
                  names={new Map(pages.flatMap(({ names }) => Object.entries(names)))}
                />
              )
            }
          </LoadedPages>
        </Section>
        <ChainCheck />
      </div>
    </>
  );
}

function Filters({ filter, onChange }: { filter: Filter; onChange(filter: Filter): void }) {
  const everybody = useQuery(everybodyQuery).data?.members ?? [];
  const set = (change: Partial<Filter>) => onChange({ ...filter, ...change });
  return (
    <div className="border-line mb-1 grid grid-cols-2 gap-2 border-b pb-3 lg:flex">
      <select
        aria-label="Member"
        className={CONTROL}
        onChange={(event) => set({ userId: event.currentTarget.value })}
        value={filter.userId}
      >
        <option value="">Everyone</option>
        {everybody.map(({ userId, name }) => (
          <option key={userId} value={userId}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Action"
        className={CONTROL}
        onChange={(event) => set({ action: event.currentTarget.value })}
        value={filter.action}
      >
        <option value="">All actions</option>
        {ACTS_BY_TOPIC.map(({ topic, acts }) => (
          <optgroup key={topic} label={topic}>
            {Object.entries(acts).map(([action, { title }]) => (
              <option key={action} value={action}>
                {title}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <Day label="From" onChange={(event) => set({ from: event.currentTarget.value })} value={filter.from} />
      <Day label="To" onChange={(event) => set({ to: event.currentTarget.value })} value={filter.to} />
    </div>
  );
}

function Day({ label, ...rest }: { label: string } & ComponentProps<"input">) {
  return (
    <label className="text-muted flex min-w-0 items-center gap-2 max-sm:flex-col max-sm:items-start max-sm:gap-0.5">
      {label}
      <input {...rest} className={`${CONTROL} text-ink w-full`} type="date" />
    </label>
  );
}

const CONTROL = "border-edge/60 bg-surface min-h-8 min-w-0 rounded-md border px-2 max-sm:min-h-10 lg:flex-1";
