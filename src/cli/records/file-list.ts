/** Lists of items: their options, the query made from the options, and the table. */
import type { QueryOf } from "#api/client.ts";
import type { FileList, FileRecord } from "#api/files.ts";
import { count } from "#api/plural.ts";
import { TEXT_REASONS } from "#api/text-reasons.ts";
import { TOOL_KINDS } from "#api/tools.ts";
import { oneOf, type OptionsData, type OptionsOf } from "#cli/line/command.ts";
import { PAGE_OPTIONS, pageOf } from "#cli/line/options.ts";
import { type Output } from "#cli/terminal/output.ts";
import type { Settings } from "#cli/login/settings.ts";
import { day, flexible, formatted, optional } from "#cli/terminal/table.ts";

export const FILE_LIST_OPTIONS = {
  "--find <text>": "only items with this in their title",
  "--kind <kind>": oneOf(TOOL_KINDS, "only these"),
  "--state <state>": oneOf(
    ["indexed", "unsearchable", "pending", "failed", "held"],
    "only items in this state of indexing",
  ),
  "--reason <reason>": oneOf(TEXT_REASONS, "only items without searchable text for this reason"),
  "--sort <order>": oneOf(["updatedAt", "title"], "newest first, or by title"),
  ...PAGE_OPTIONS,
} as const satisfies OptionsData;

/** The query fields of both lists of files. */
type FileQuery = Pick<QueryOf<"get", "/api/connectors/all-files">, keyof QueryOf<"get", "/api/connectors/{id}/files">>;

/** Makes the query from the options of a file list. */
export function fileQueryOf(
  options: OptionsOf<typeof FILE_LIST_OPTIONS>,
  settings: Pick<Settings, "defaults">,
): FileQuery {
  return {
    kind: options.kind,
    indexState: options.state,
    textReason: options.reason,
    q: options.find,
    sort: options.sort,
    ...pageOf(options, settings, 200),
  };
}

/** Prints one page of a file list, with the command for the next page. */
export function printFiles(list: FileList, output: Output): void {
  output.result(list, ({ files, total, nextCursor }) => {
    output.table<FileRecord>(
      files,
      {
        kbId: "kbId",
        kind: "kind",
        title: flexible("title"),
        source: optional(flexible("source")),
        path: optional(flexible(({ path }) => path.join("/"))),
        state: { value: stateOf, shown: whyNoText, isFlexible: true },
        updated: formatted(day, "updatedAt"),
      },
      "No matching items that you can see.",
    );
    return `${count(files.length)} of ${count(total)}.${nextCursor === null ? "" : ` More: --cursor ${nextCursor}`}`;
  });
}

function stateOf({ indexState, textState }: FileRecord): string {
  // An older server doesn't report `asOf`.
  if (textState.asOf) return `${indexState} (text as of ${day(textState.asOf)})`;
  return textState.reason === null || textState.reason === indexState
    ? indexState
    : `${indexState} (${textState.reason})`;
}

/** Only the reason why an item has no text, because it implies that the item can't be searched. */
function whyNoText(file: FileRecord): string {
  if (file.textState.asOf) return stateOf(file);
  return file.textState.reason?.replaceAll("_", " ") ?? file.indexState;
}
