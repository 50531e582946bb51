import { cleanLine } from "#api/clean.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { SearchArguments } from "./types.ts";
import type { SearchFilters, SearchRequest, SearchResponse } from "#storage/search-index.ts";
import type { FilterContext } from "./filters.ts";
import { pairText } from "./field-filters.ts";

export interface NoteContext {
  search: {
    actor: Actor;
    args: SearchArguments;
    query: string;
    request: Omit<SearchRequest, "viewer">;
    notes: readonly string[];
    probe: FilterContext["probe"];
  };
  response: Omit<SearchResponse, "hits">;
  isContinued: boolean;
  connectorNotes?(actor: Actor): Promise<string[]>;
}

/** Returns notes about an answer, one sentence each. Every count includes only what the reader may see. */
export async function answerNotes(context: NoteContext): Promise<string[]> {
  const { search, response, isContinued } = context;
  const notes = [...search.notes];
  if (isContinued) return notes;
  notes.push(...matchNotes(context));
  if (!response.isTotalExact) notes.push("the total is a lower bound: a phrase or prefix has too many candidates.");
  if (response.total === 0) notes.push(...(await zeroNotes(context)));
  notes.push(...(await undatedNote(context)));
  // Usually one line, at most two. Source: B17.
  notes.push(...((await context.connectorNotes?.(search.actor)) ?? []).slice(0, 2));
  return notes;
}

function matchNotes({ search, response }: NoteContext): string[] {
  const notes: string[] = [];
  if (response.match !== "all" && response.total > 0) {
    const missing = response.unknownWords[0];
    const most = missing === undefined ? "" : ` (missing most: "${cleanLine(missing, 60)}")`;
    notes.push(
      response.totalAll === 0
        ? `no item has all words; these have some${most}.`
        : `${response.totalAll} ${response.totalAll === 1 ? "item has" : "items have"} all words; the others have some${most}.`,
    );
  }
  const { sortBy } = search.args;
  if (sortBy !== undefined && sortBy !== "relevance" && response.order === "relevance") {
    notes.push(`No item has all words, so results are ordered by relevance, not by ${sortBy}.`);
  }
  return notes;
}

/** Returns suggestions when nothing was found. Source: B10. */
async function zeroNotes({ search, response }: NoteContext): Promise<string[]> {
  const notes: string[] = [];
  const words = response.unknownWords.slice(0, 5).map((word) => `"${cleanLine(word, 60)}"`);
  if (words.length > 0) {
    notes.push(`${words.join(", ")} ${words.length === 1 ? "occurs" : "occur"} in nothing you can see.`);
  }
  const counts: string[] = [];
  for (const [name, filters] of withoutEach(search.args, search.request.filters).slice(0, 3)) {
    const { total } = await search.probe({ ...search.request, filters, limit: 0, facets: [] });
    counts.push(`without ${name}: ${total}`);
  }
  if (counts.length > 0) notes.push(`${counts.join("; ")}.`);
  if (search.query.trim() !== "") notes.push("this is word search: try other words or the documents' language.");
  return notes;
}

/** Returns, for each filter that was given, the filters without it. */
function withoutEach(args: SearchArguments, filters: SearchFilters): [string, SearchFilters][] {
  const { kinds, status, assignees, people, fields, from, until, dateField, ...place } = filters;
  const all: [boolean, string, SearchFilters][] = [
    ...(fields ?? []).map((pair): [boolean, string, SearchFilters] => [
      true,
      pairText(pair),
      { ...filters, fields: (fields ?? []).filter((other) => other !== pair) },
    ]),
    [args.kinds !== undefined, `kind=${args.kinds?.join(",") ?? ""}`, omit(filters, ["kinds"])],
    [args.source !== undefined, "source", keep({ kinds, status, assignees, people, fields, from, until, dateField })],
    [args.assignee !== undefined, "assignee", omit(filters, ["assignees"])],
    [args.people !== undefined, "people", omit(filters, ["people"])],
    [args.status !== undefined, `status=${args.status ?? ""}`, omit(filters, ["status"])],
    [args.after !== undefined, "after", omit(filters, ["from"])],
    [args.before !== undefined, "before", omit(filters, ["until"])],
  ];
  void place;
  return all.flatMap(([isPresent, name, rest]) => (isPresent ? [[name, rest] as [string, SearchFilters]] : []));
}

function omit(filters: SearchFilters, names: readonly (keyof SearchFilters)[]): SearchFilters {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => !names.some((one) => one === name)));
}

function keep(filters: { [Name in keyof SearchFilters]: SearchFilters[Name] | undefined }): SearchFilters {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
}

/** Counts tasks without a due date, since a query about due dates can't find them. Source: B5. */
async function undatedNote({ search }: NoteContext): Promise<string[]> {
  const { filters } = search.request;
  if (filters.dateField !== "due") return [];
  const { from: _from, until: _until, dateField: _field, ...rest } = filters;
  const tasks = { ...search.request, filters: { ...rest, kinds: ["task" as const] }, limit: 0, facets: [] };
  const all = await search.probe(tasks);
  const dated = await search.probe({
    ...tasks,
    filters: { ...tasks.filters, dateField: "due", from: -8.64e15, until: 8.64e15 },
  });
  const undated = all.total - dated.total;
  if (undated <= 0) return [];
  return [`${undated} ${undated === 1 ? "task has" : "tasks have"} no due date and can't be listed by due date.`];
}
