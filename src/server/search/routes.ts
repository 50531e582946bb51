import { searchRoute } from "#api/search.ts";
import type { Mount } from "#server/http/mount.ts";
import type { ReadRecorder } from "#server/identity/audit/recorder.ts";
import type { SearchService } from "./types.ts";
import type { FieldFilter } from "#storage/search-index.ts";
import { toSearchAnswer } from "./answer.ts";

/** Mounts the REST form of the search. */
export function mountSearch(
  at: Mount,
  deps: { search: SearchService; audit: ReadRecorder; settings: { baseUrl: string } },
): void {
  at.member(searchRoute, async ({ actor, query: { kind, field, live, explain, ...query } }) => {
    const input = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
    // Only absent values were removed, so all values that the contract requires are still present.
    const args = input as typeof query & { query: string; limit: number };
    const { search } = deps;
    const outcome = await search.search(
      actor,
      withoutAbsent({
        ...args,
        kinds: kind === undefined ? undefined : [kind],
        fields: field?.map(toPair),
        live: live === "true",
        explain: explain === "true" ? true : undefined,
      }),
    );
    const kbIds = outcome.entries.map(({ item }) => item.kbId);
    deps.audit.recordReads(actor, { type: "route", name: "GET /api/connectors/search" }, kbIds);
    return toSearchAnswer(outcome, deps.settings);
  });
}

/** Parses `name:value`. A value may contain colons, and may be quoted as in a query. */
function toPair(text: string): FieldFilter {
  const colon = text.indexOf(":");
  return { key: text.slice(0, colon), value: text.slice(colon + 1).replace(/^\s*"(.*)"\s*$/su, "$1") };
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** Removes absent values: `undefined` isn't a value under exact optional types. */
function withoutAbsent<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>; // same keys
}
