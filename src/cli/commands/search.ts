import { placeOf } from "#api/clean.ts";
import type { SearchAnswer, SearchResult } from "#api/search.ts";
import { connect } from "#cli/api.ts";
import { argumentList, listOption, textOption, wordOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { excerptLine } from "#cli/excerpt.ts";
import { count, makeOutput, type Output } from "#cli/output.ts";
import type { Paint } from "#cli/paint.ts";
import { cell } from "#cli/table.ts";
import { parseInteger } from "#cli/values.ts";

/** `kb search QUERY` */
export async function search(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const { defaults } = api.settings;
  const answer = await api.get("/api/connectors/search", {
    params: {
      query: {
        query: argumentList(input, 0).join(" "),
        kind: wordOption(input, "kind"),
        status: wordOption(input, "status"),
        assignee: textOption(input, "assignee"),
        people: textOption(input, "people"),
        source: textOption(input, "source") ?? defaults.source,
        field: listOption(input, "field"),
        after: textOption(input, "after"),
        before: textOption(input, "before"),
        dateField: wordOption(input, "dateField"),
        sortBy: wordOption(input, "sortBy"),
        groupBy: wordOption(input, "groupBy"),
        detail: wordOption(input, "detail"),
        limit: parseInteger(textOption(input, "limit"), "--limit", 1, 50) ?? defaults.limit,
        cursor: textOption(input, "cursor"),
      },
    },
  });
  const output = makeOutput(input, deps, defaults);
  output.result(answer, () => printAnswer(answer, output));
}

/** A search answer for people: on a terminal blocks with snippets, else one line of tabs per hit. */
export function printAnswer(answer: SearchAnswer, output: Output): void {
  if (output.format === "table") answer.results.forEach((result, at) => printResult(result, at + 1, output));
  else output.table(answer.results, TSV_COLUMNS, "");
  for (const [name, values] of Object.entries(answer.facets ?? {})) {
    output.talk(`${name}: ${values.map(facetWords).join(", ")}`);
  }
  for (const note of answer.notes) output.talk(`Note: ${note}`);
  const total = `${answer.totalIsExact ? "" : "about "}${count(answer.total)}`;
  const how = answer.match === "any" ? ", with any of the words" : "";
  const more = answer.nextCursor === null ? "" : ` More: --cursor ${answer.nextCursor}`;
  output.talk(`${count(answer.returned)} of ${total}${how}, ${answer.tookMs.toFixed(0)} ms.${more}`);
}

/** A value and its count; of a person also in which role, in the words of `kb_search`. */
function facetWords({ value, name, count: all, assigned }: Facet): string {
  const roles =
    assigned === undefined ? "" : ` (assignee: ${count(assigned)}, author or other: ${count(all - assigned)})`;
  return `${name ?? value} ${count(all)}${roles}`;
}

type Facet = NonNullable<SearchAnswer["facets"]>[string][number];

const TSV_COLUMNS = [
  { title: "kbId", value: (result: SearchResult) => result.kbId },
  { title: "kind", value: (result: SearchResult) => result.kind },
  {
    title: "title",
    value: (result: SearchResult) => result.title,
    tinted: (result: SearchResult, paint: Paint) => paint.bold(cell(result.title)),
  },
  { title: "source", value: (result: SearchResult) => result.source },
  { title: "updated", value: (result: SearchResult) => result.updatedAt },
  { title: "url", value: (result: SearchResult) => result.url },
  {
    title: "snippet",
    value: (result: SearchResult) => result.snippet,
    tinted: ({ snippet, highlights }: SearchResult, paint: Paint) => excerptLine(snippet, highlights, paint.bold),
  },
];

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
    ...(result.dueAt === null ? [] : [`due ${result.dueAt.slice(0, 10)}`]),
    ...(result.updatedAt === null ? [] : [`updated ${result.updatedAt.slice(0, 10)}`]),
  ];
  output.painted("   ", facts.join(" | "), paint.dim);
  const url = result.sectionUrl ?? result.url;
  output.painted("   ", url === null ? result.kbId : `${result.kbId}  ${url}`, paint.dim);
  output.excerpt("   > ", result.snippet, result.highlights);
  output.line("");
}
