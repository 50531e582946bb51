import { useQuery } from "@tanstack/react-query";
import type { SourceKind } from "#api/connector-records.ts";
import { count } from "#api/plural.ts";
import type { SearchAnswer } from "#api/search.ts";
import { connectorQuery, sourcesQuery } from "#server/web/app/data/connectors.ts";
import { type Asked, FACETS, type FilterName, FILTERS } from "#server/web/app/data/search.ts";
import { sourceWords } from "#server/web/app/data/search-words.ts";
import { Button } from "#server/web/app/ui/button.tsx";
import { sentenceCase } from "#server/web/app/ui/sentence-case.ts";
import { type Choice, Options, Picker, PLAIN } from "#server/web/app/ui/picker.tsx";

export interface FiltersProps {
  asked: Asked;
  /** Result counts per value. */
  facets: NonNullable<SearchAnswer["facets"]>;
  onChange(change: Asked): void;
}

/**
 * A list for each filter, with the values in the results and their counts. A value that all results have isn't offered.
 */
export function Filters({ asked, facets, onChange }: FiltersProps) {
  const connectorName = useConnectorName(asked.source);
  const kinds = useQuery(sourcesQuery).data?.sources;
  const isFiltered = FILTERS.some((name) => asked[name] !== undefined);
  return (
    <div className="flex flex-wrap items-center gap-2">
      {FILTERS.map((name) => {
        const value = asked[name] ?? "";
        const choices = choicesOf(name, value, { facets, connectorName, kinds }).filter(
          // Without words, the newest results come first anyway.
          ([choice]) => name !== "sortBy" || asked.query !== undefined || value !== "" || choice !== "recency",
        );
        if (choices.length === 0 || (value === "" && choices.length === 1)) return null;
        return (
          <Picker
            className={`max-w-48 min-w-0 ${value === "" ? PLAIN : "border-accent bg-accent-soft text-accent-strong"}`}
            key={name}
            label={WORDS[name].label}
            onChoose={(chosen) => onChange({ [name]: chosen })}
            value={value}
          >
            <option value="">
              {name === "sortBy" && asked.query === undefined ? "Newest first" : WORDS[name].any}
            </option>
            <Options choices={choices} />
          </Picker>
        );
      })}
      {isFiltered && (
        <Button kind="quiet" onClick={() => onChange(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>
          Clear filters
        </Button>
      )}
    </div>
  );
}

const WORDS: Readonly<Record<FilterName, { label: string; any: string }>> = {
  kind: { label: "Kind", any: "Any kind" },
  source: { label: "Source", any: "Any source" },
  people: { label: "Person", any: "Anyone" },
  status: { label: "Status", any: "Any status" },
  after: { label: "Updated", any: "Any time" },
  sortBy: { label: "Order", any: "Best match" },
};

const FIXED: Readonly<Partial<Record<FilterName, readonly Choice[]>>> = {
  after: [
    ["1d", "Past day"],
    ["7d", "Past week"],
    ["30d", "Past month"],
    ["365d", "Past year"],
  ],
  sortBy: [
    ["recency", "Newest first"],
    ["due", "Due first"],
  ],
};

/** Returns the name of a connector that the source filter names by its ID. */
function useConnectorName(source: string | undefined): string | undefined {
  const id = source?.startsWith("con_") ? source : undefined;
  // For another person's connector, only the fact that it exists is known.
  const { data } = useQuery({ ...connectorQuery(id ?? ""), enabled: id !== undefined });
  return id === undefined ? undefined : (data?.name ?? "One connector");
}

interface Known {
  facets: FiltersProps["facets"];
  connectorName: string | undefined;
  kinds: readonly SourceKind[] | undefined;
}

/** Returns the available values. The value in use is always among them, with its name if it has one. */
function choicesOf(name: FilterName, value: string, { facets, connectorName, kinds }: Known): readonly Choice[] {
  const called = (text: string) => (name === "source" ? sourceWords(text, kinds) : nameOf(text));
  const counted = name in FACETS ? (facets[FACETS[name as keyof typeof FACETS]] ?? []) : [];
  const choices: readonly Choice[] =
    FIXED[name] ??
    counted
      .filter(({ value }) => value !== "")
      .map(({ value, name, count: items }) => [value, `${called(name ?? value)} (${count(items)})`]);
  if (value === "" || choices.some(([known]) => known === value)) return choices;
  const label = name === "source" && connectorName !== undefined ? connectorName : called(value);
  return [[value, label], ...choices];
}

/** Returns `task` as `Task`. Values that aren't all lower-case letters stay unchanged. */
function nameOf(value: string): string {
  return /^[a-z]+$/.test(value) ? sentenceCase(value) : value;
}
