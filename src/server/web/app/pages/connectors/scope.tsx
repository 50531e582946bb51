import { useState } from "react";
import { whoMay } from "#api/act-words.ts";
import type { Connector, ScopePlan } from "#api/connector-records.ts";
import { count } from "#api/plural.ts";
import { api } from "#server/web/app/data/client.ts";
import { useSource } from "#server/web/app/data/connectors.ts";
import { useRefetch } from "#server/web/app/data/refetch.ts";
import { describePlan } from "#server/web/app/data/connector-words.ts";
import { useAct } from "#server/web/app/ui/act.ts";
import { Section } from "#server/web/app/ui/bits.tsx";
import { Button } from "#server/web/app/ui/button.tsx";
import { Fieldset, TextAreaField } from "#server/web/app/ui/form.tsx";
import { Notice, ProblemNotice } from "#server/web/app/ui/notice.tsx";
import { toast } from "#server/web/app/ui/toast.tsx";
import { Chooser, titlesOf } from "./chooser.tsx";
import { linesOf } from "./schema-fields.ts";

type Scope = Connector["scope"];

/** A connector's scope, and a form to change it, which first shows what will be added and removed. */
export function ScopeSection({ connector }: { connector: Connector }) {
  const [isOpen, setOpen] = useState(false);
  const { scope, providerId, allowed } = connector;
  const kind = useSource(providerId);
  if (kind === undefined || !kind.capabilities.includes("browse") || !kind.capabilities.includes("scope")) return null;
  const mayChange = allowed.includes("narrow_scope") || allowed.includes("widen_scope");
  return (
    <Section
      action={mayChange && !isOpen && <Button onClick={() => setOpen(true)}>Change</Button>}
      description={whoMay(connector, "widen_scope")}
      title="What it indexes"
    >
      {isOpen && mayChange ? (
        <Editor connector={connector} key={JSON.stringify(scope)} onDone={() => setOpen(false)} />
      ) : (
        <Chosen scope={scope} />
      )}
    </Section>
  );
}

/**
 * Shows entries by the names under which they were chosen. Entries from the command line have no names and are shown as
 * they were given.
 */
function Chosen({ scope: { include, exclude, titles = {} } }: { scope: Scope }) {
  return (
    <div className="space-y-2">
      {include.length === 0 ? (
        <p>Everything that it can read.</p>
      ) : (
        <Entries entries={include} label="Included" titles={titles} />
      )}
      {exclude.length > 0 && (
        <div>
          <p className="text-muted mb-1">Left out</p>
          <Entries entries={exclude} label="Left out" titles={titles} />
        </div>
      )}
    </div>
  );
}

/** The number of items shown. Further items are only counted. */
const MOST_SHOWN = 20;

function Entries({
  entries,
  label,
  titles,
}: {
  entries: readonly string[];
  label: string;
  titles: Readonly<Record<string, string>>;
}) {
  const rest = entries.length - MOST_SHOWN;
  return (
    <ul aria-label={label} className="flex flex-wrap gap-1.5">
      {entries.slice(0, MOST_SHOWN).map((entry) => (
        <li className="bg-ink/7 rounded px-2 py-0.5 wrap-anywhere" key={entry}>
          <bdi>{titles[entry] ?? entry}</bdi>
        </li>
      ))}
      {rest > 0 && <li className="text-muted px-1 py-0.5">and {count(rest)} more</li>}
    </ul>
  );
}

function Editor({ connector: { id, scope, allowed }, onDone }: { connector: Connector; onDone(): void }) {
  const refetch = useRefetch();
  const [included, setIncluded] = useState<readonly string[]>(scope.include);
  const [excluded, setExcluded] = useState<readonly string[]>(scope.exclude);
  const [titles, setTitles] = useState<ReadonlyMap<string, string>>(new Map(Object.entries(scope.titles ?? {})));
  const [plan, setPlan] = useState<ScopePlan>();
  const isSame = isSameList(included, scope.include) && isSameList(excluded, scope.exclude);

  // A result for another choice doesn't apply to this one.
  const change = (set: (entries: readonly string[]) => void) => (entries: readonly string[]) => {
    set(entries);
    setPlan(undefined);
  };

  const { run, isBusy, problem } = useAct(async (dryRun: "true" | "false") => {
    const body = { include: [...included], exclude: [...excluded], titles: titlesOf(included, titles) };
    const answer = await api.patch("/api/connectors/{id}/scope", { params: { path: { id }, query: { dryRun } }, body });
    if (dryRun === "true") return setPlan(answer.plan);
    toast("Saved. A sync applies it.");
    onDone();
    await refetch(["connectors"]);
  });

  return (
    <div className="max-w-xl space-y-4">
      {allowed.includes("browse") ? (
        <>
          <Chooser
            included={included}
            isTitled={false}
            onChange={change(setIncluded)}
            onLearn={setTitles}
            readTarget={() => ({ connectorId: id })}
            titles={titles}
          />
          {scope.exclude.length > 0 && (
            <EntryChecks chosen={excluded} entries={scope.exclude} legend="Leave out" onChange={change(setExcluded)} />
          )}
        </>
      ) : (
        <Narrowing included={included} onExclude={change(setExcluded)} onInclude={change(setIncluded)} scope={scope} />
      )}
      <ProblemNotice problem={problem} />
      <div aria-live="polite">{plan && <Plan plan={plan} />}</div>
      <div className="flex flex-wrap gap-2">
        {plan === undefined ? (
          <Button disabled={isSame} isBusy={isBusy} kind="primary" onClick={() => run("true")}>
            Review the change
          </Button>
        ) : (
          <Button isBusy={isBusy} kind="primary" onClick={() => run("false")}>
            Save and sync
          </Button>
        )}
        <Button disabled={isBusy} onClick={onDone}>
          Cancel
        </Button>
      </div>
    </div>
  );
}

/**
 * For people who may only leave out more and can't browse the source: they remove entries by hand, or name entries to
 * leave out.
 */
function Narrowing({
  scope: { include, exclude },
  included,
  onInclude,
  onExclude,
}: {
  scope: Scope;
  included: readonly string[];
  onInclude(included: readonly string[]): void;
  onExclude(excluded: readonly string[]): void;
}) {
  return (
    <>
      {include.length > 0 && (
        <EntryChecks chosen={included} entries={include} legend="Include (keep at least one)" onChange={onInclude} />
      )}
      {exclude.length > 0 && <Entries entries={exclude} label="Left out" titles={{}} />}
      <TextAreaField
        hint="One entry per line, as the source names it."
        isOptional
        label="Leave out as well"
        name="exclude"
        onChange={(event) => onExclude([...new Set([...exclude, ...linesOf(event.currentTarget.value)])])}
        rows={3}
      />
    </>
  );
}

/** Entries of the scope. Each can be removed from its list and put back. */
function EntryChecks({
  legend,
  entries,
  chosen,
  onChange,
}: {
  legend: string;
  entries: readonly string[];
  chosen: readonly string[];
  onChange(chosen: readonly string[]): void;
}) {
  return (
    <Fieldset legend={legend}>
      {entries.map((entry) => (
        <label className="flex items-center gap-2 py-1 wrap-anywhere" key={entry}>
          <input
            checked={chosen.includes(entry)}
            className="accent-accent size-4 shrink-0"
            onChange={(event) =>
              onChange(entries.filter((one) => (one === entry ? event.currentTarget.checked : chosen.includes(one))))
            }
            type="checkbox"
          />
          <bdi>{entry}</bdi>
        </label>
      ))}
    </Fieldset>
  );
}

function Plan({ plan }: { plan: ScopePlan }) {
  const { adds, removes } = describePlan(plan);
  return (
    <Notice tone={plan.removed !== null && plan.removed > 0 ? "warn" : "info"}>
      <p className="font-medium">If you save this</p>
      <ul className="list-disc pl-5">
        <li>{adds}</li>
        <li>{removes}</li>
      </ul>
    </Notice>
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.toSorted().join("\n") === b.toSorted().join("\n");
}
