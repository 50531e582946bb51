/** Prints a search's answer for people: as blocks on a terminal, otherwise as one tab-separated line per hit. */
import { placeOf } from "#api/clean.ts";
import { LIVE_PROBLEMS, type LiveHit } from "#api/live-search.ts";
import { count } from "#api/plural.ts";
import type { SearchAnswer, SearchResult } from "#api/search.ts";
import { excerptLine } from "#cli/terminal/excerpt.ts";
import { explanationLines, rankingLine } from "./explanation.ts";
import type { Output } from "#cli/terminal/output.ts";
import { cell, day, type Columns } from "#cli/terminal/table.ts";

/** Prints a search answer for people: blocks with snippets on a terminal, otherwise one tab-separated line per hit. */
export function printAnswer(answer: SearchAnswer, output: Output): void {
  if (output.format === "table") answer.results.forEach((result, at) => printResult(result, at + 1, output));
  else
    output.table(answer.results, answer.ranking === undefined ? TSV_COLUMNS : { ...TSV_COLUMNS, ...WHY_COLUMNS }, "");
  for (const hit of answer.live?.hits ?? []) printLive(hit, output);
  for (const { server, problem } of answer.live?.connections ?? []) {
    if (problem !== null) output.talk(`Live: ${server} ${LIVE_PROBLEMS[problem]}.`);
  }
  for (const [name, values] of Object.entries(answer.facets ?? {})) {
    output.talk(`${name}: ${values.map(facetWords).join(", ")}`);
  }
  if (answer.ranking !== undefined) output.talk(rankingLine(answer.ranking));
  for (const note of answer.notes) output.talk(`Note: ${note}`);
  const total = `${answer.totalIsExact ? "" : "about "}${count(answer.total)}`;
  const matchNote = answer.match === "any" ? ", with any of the words" : "";
  const more = answer.nextCursor === null ? "" : ` More: --cursor ${answer.nextCursor}`;
  output.talk(`${count(answer.returned)} of ${total}${matchNote}, ${answer.tookMs.toFixed(0)} ms.${more}`);
}

/** Formats a value and its count; for a person also the role, in the words of `kb_search`. */
function facetWords({ value, name, count: all, assigned }: Facet): string {
  const roles =
    assigned === undefined ? "" : ` (assignee: ${count(assigned)}, author or other: ${count(all - assigned)})`;
  return `${name ?? value} ${count(all)}${roles}`;
}

type Facet = NonNullable<SearchAnswer["facets"]>[string][number];

const TSV_COLUMNS: Columns<SearchResult> = {
  kbId: "kbId",
  kind: "kind",
  title: { value: "title", tinted: ({ title }, paint) => paint.bold(cell(title)) },
  source: "source",
  updated: "updatedAt",
  url: "url",
  snippet: {
    value: "snippet",
    tinted: ({ snippet, highlights }, paint) => excerptLine(snippet, highlights, paint.bold),
  },
};

const WHY_COLUMNS: Columns<SearchResult> = {
  score: ({ explanation }) => explanation?.score,
  explanation: ({ explanation }) => explanation && explanationLines(explanation).join("; "),
};

/**
 * Prints a hit from the person's own connections: on a terminal as a block like the others, otherwise on stderr, separate from the lines of the
 * index.
 */
function printLive({ server, title, url, text }: LiveHit, output: Output): void {
  if (output.format !== "table") return output.talk(`Live, from ${server}: ${title}${url === null ? "" : `  ${url}`}`);
  const { paint } = output;
  output.painted("*  ", title, paint.bold);
  output.painted("   ", `live, from ${server}`, paint.dim);
  if (url !== null) output.painted("   ", url, paint.dim);
  if (text !== "") output.excerpt("   > ", text, []);
  output.line("");
}

function printResult(result: SearchResult, number: number, output: Output): void {
  const { paint } = output;
  output.painted(`${number}  `, result.title, paint.bold);
  const place = placeOf(result);
  const facts = [
    result.status === null ? result.kind : `${result.kind}, ${result.status}`,
    result.source,
    ...(place === "" ? [] : [place]),
    ...(result.section === null ? [] : [result.section]),
    ...(result.assignees.length > 0 ? [result.assignees.map((person) => person.name).join(", ")] : []),
    ...(result.dueAt === null ? [] : [`due ${day(result.dueAt)}`]),
    result.updatedAt === null ? `indexed ${day(result.indexedAt)}` : `updated ${day(result.updatedAt)}`,
    // An older server doesn't report `textAsOf`.
    ...(result.textAsOf ? [`text as of ${day(result.textAsOf)}, couldn't be read since`] : []),
  ];
  output.painted("   ", facts.join(" | "), paint.dim);
  const url = result.sectionUrl ?? result.url;
  output.painted("   ", url === null ? result.kbId : `${result.kbId}  ${url}`, paint.dim);
  output.excerpt("   > ", result.snippet, result.highlights);
  for (const line of result.explanation === undefined ? [] : explanationLines(result.explanation)) {
    output.painted("   = ", line, paint.dim);
  }
  output.line("");
}
