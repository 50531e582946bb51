import { defined } from "#core/defined.ts";
import { cleanField, MAX_CHARS } from "#api/clean.ts";
import { formatNow } from "#api/days.ts";
import type { ToolSearchEntry, ToolSearchResult } from "#api/tools.ts";
import { showHit } from "#storage/show-hit.ts";
import type { Grouping, SearchOutcome } from "#server/search/types.ts";
import { entryLines, projectEntry, type EntryDetail } from "./entry.ts";
import type { Printing } from "./facts.ts";
import { bothFit, bothForms, mostThatFits, type Rendered } from "./fitting.ts";
import type { CountTokens } from "./tokens.ts";

export interface SearchRendering {
  maxTokens: number;
  isDetailed: boolean;
  /** The call continues from a cursor. */
  isContinued: boolean;
  groupBy?: Grouping;
  timeZone: string;
  baseUrl: string;
  count: CountTokens;
}

/**
 * Renders the answer of `kb_search`, at most `maxTokens` in its larger form. To fit, snippets are shortened first, then
 * optional facts are dropped, then entries from the end. The cursor continues after the last entry shown. Source: B24.
 */
export async function renderSearch(
  outcome: SearchOutcome,
  options: SearchRendering,
): Promise<Rendered<ToolSearchResult>> {
  const { groupBy } = options;
  return groupBy === undefined ? renderEntries(outcome, options) : renderGroups(outcome, options, groupBy);
}

const CONCISE: EntryDetail = { snippetChars: 240, passages: 1, hasOptional: true, isDetailed: false };
const DETAILED: EntryDetail = { snippetChars: 600, passages: 3, hasOptional: true, isDetailed: true };
const SHORT: EntryDetail = { snippetChars: 120, passages: 1, hasOptional: true, isDetailed: false };
const BARE: EntryDetail = { ...SHORT, hasOptional: false };

async function renderEntries(outcome: SearchOutcome, options: SearchRendering): Promise<Rendered<ToolSearchResult>> {
  const time: Printing = { now: outcome.asOf, timeZone: options.timeZone, baseUrl: options.baseUrl };
  const full = options.isDetailed ? DETAILED : CONCISE;
  const all = outcome.entries.length;
  for (const detail of [full, { ...full, snippetChars: SHORT.snippetChars, passages: 1 }, BARE]) {
    const whole = render(outcome, options, entriesOf(outcome, all, detail, time), outcome.notes);
    if (await bothFit(whole, options)) return whole;
  }
  const bare = entriesOf(outcome, all, BARE, time);
  const part = (shown: number) => render(outcome, options, bare.slice(0, shown), outcome.notes);
  return (await mostThatFits(all - 1, part, bothForms, options)) ?? render(outcome, options, [], []);
}

function entriesOf(outcome: SearchOutcome, count: number, detail: EntryDetail, time: Printing): ToolSearchEntry[] {
  return outcome.entries
    .slice(0, count)
    .map((entry, index) => showHit(entry, (one) => projectEntry(one, index + 1, detail, time), outcome.noteFault));
}

function render(
  outcome: SearchOutcome,
  options: SearchRendering,
  results: ToolSearchEntry[],
  notes: readonly string[],
): Rendered<ToolSearchResult> {
  const cursor = outcome.cursorAfter(results.length);
  const structured: ToolSearchResult = {
    ...headOf(outcome, options, results.length),
    results,
    ...(results.length < outcome.entries.length && { isCut: true }),
    ...(notes.length > 0 && { notes: [...notes] }),
    ...(cursor !== undefined && { next: { cursor } }),
  };
  return { structured, text: searchText(structured, { ...options, now: outcome.asOf }, options.isContinued) };
}

async function renderGroups(
  outcome: SearchOutcome,
  options: SearchRendering,
  groupedBy: Grouping,
): Promise<Rendered<ToolSearchResult>> {
  const groups = (outcome.facets[groupedBy] ?? []).map(({ value, entityId, count, assigned }) => ({
    value: cleanField(value, MAX_CHARS.source) || "(none)",
    ...defined({ entityId }),
    count,
    ...defined({ assigned }),
  }));
  const one = (shown: number, notes: readonly string[]): Rendered<ToolSearchResult> => {
    const structured: ToolSearchResult = {
      ...headOf(outcome, options, shown),
      groupedBy,
      groups: groups.slice(0, shown),
      ...(shown < groups.length && { isCut: true }),
      ...(notes.length > 0 && { notes: [...notes] }),
    };
    return { structured, text: groupText(structured) };
  };
  const part = (shown: number) => one(shown, outcome.notes);
  return (await mostThatFits(groups.length, part, bothForms, options)) ?? one(0, []);
}

function headOf(outcome: SearchOutcome, options: SearchRendering, returned: number) {
  return {
    now: formatNow(outcome.asOf, options.timeZone),
    returned,
    total: outcome.total,
    totalIsExact: outcome.isTotalExact,
    match: outcome.match,
    order: outcome.order,
  };
}

function searchText(answer: ToolSearchResult, time: Printing, isContinued: boolean): string {
  const results = answer.results ?? [];
  const shown = results.length === 0 ? "" : `, 1-${results.length}${isContinued ? " of this page" : ""} shown`;
  const blocks = results.map((entry) => entryLines(entry, time).join("\n"));
  return [
    `${amount(answer)} found${shown}. Now: ${answer.now}.${modeOf(answer)}`,
    ...blocks,
    [...(answer.notes ?? []).map((note) => `Note: ${note}`), endLine(answer, isContinued)].join("\n"),
  ].join("\n\n");
}

function groupText(answer: ToolSearchResult): string {
  const groups = answer.groups ?? [];
  const lines = groups.map(({ value, entityId, count, assigned }) =>
    [
      `${count} x ${value}`,
      ...(assigned === undefined ? [] : [`assignee: ${assigned}, author or other: ${count - assigned}`]),
      ...(entityId === undefined ? [] : [`entityId: ${entityId}`]),
    ].join(" | "),
  );
  const end = answer.isCut === true ? `Cut by maxTokens after ${groups.length} values.` : "All shown.";
  return [
    `${amount(answer)} found, counted by ${answer.groupedBy ?? "value"}. Now: ${answer.now}.${modeOf(answer)}`,
    ...(lines.length > 0 ? [lines.join("\n")] : []),
    [...(answer.notes ?? []).map((note) => `Note: ${note}`), `End of results. ${end}`].join("\n"),
  ].join("\n\n");
}

function endLine(answer: ToolSearchResult, isContinued: boolean): string {
  const cursor = answer.next?.cursor;
  if (answer.isCut === true) {
    const rest = cursor === undefined ? "raise maxTokens." : `go on with cursor="${cursor}".`;
    return `End of results. Cut by maxTokens after ${answer.returned} of ${amount(answer)}; ${rest}`;
  }
  if (cursor === undefined) return "End of results. All shown.";
  const more = isContinued ? "There are more" : `${Math.max(1, answer.total - answer.returned)} more`;
  return `End of results. ${more}: repeat the call with cursor="${cursor}".`;
}

/** Returns the mode of the answer if it isn't the expected one, which matches all words and sorts by relevance. */
function modeOf(answer: ToolSearchResult): string {
  const match = answer.match === "all" ? "" : ` Match: ${answer.match}.`;
  return answer.order === "relevance" ? match : `${match} Order: ${answer.order}.`;
}

/** Returns the number of results. If the count reached its cap, the text says so. */
function amount(answer: ToolSearchResult): string {
  return answer.totalIsExact ? String(answer.total) : `at least ${answer.total}`;
}
