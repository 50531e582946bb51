import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { cleanBlock } from "#api/clean.ts";
import type { QueryOf } from "#api/client.ts";
import type { FileList, FileRecord } from "#api/files.ts";
import { connect, type Api } from "#cli/api.ts";
import { argument, flagOption, textOption, wordOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { usageFailure } from "#cli/failure.ts";
import { findConnector } from "#cli/find.ts";
import { count, makeOutput, type Output } from "#cli/output.ts";
import { parseInteger } from "#cli/values.ts";

/** `kb files list` */
export async function listFiles(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const connector = textOption(input, "connector");
  const list = await api.get("/api/connectors/all-files", {
    params: {
      query: {
        ...fileQueryOf(input, api),
        connectorId: connector === undefined ? undefined : (await findConnector(api, connector)).id,
        providerId: textOption(input, "provider"),
        source: textOption(input, "source") ?? api.settings.defaults.source,
      },
    },
  });
  printFiles(list, makeOutput(input, deps, api.settings.defaults));
}

/** What both lists of files take. */
type FileQuery = Pick<QueryOf<"get", "/api/connectors/all-files">, keyof QueryOf<"get", "/api/connectors/{id}/files">>;

/** The query that the options of a file list say. */
export function fileQueryOf(input: CommandInput, { settings }: Api): FileQuery {
  return {
    kind: wordOption(input, "kind"),
    indexState: wordOption(input, "state"),
    textReason: wordOption(input, "reason"),
    q: textOption(input, "find"),
    sort: wordOption(input, "sort"),
    limit: parseInteger(textOption(input, "limit"), "--limit", 1, 200) ?? settings.defaults.limit,
    cursor: textOption(input, "cursor"),
  };
}

/** One page of a file list, with the way to the next. */
export function printFiles(list: FileList, output: Output): void {
  output.result(list, () => {
    output.table<FileRecord>(
      list.files,
      [
        { title: "kbId", value: (file) => file.kbId },
        { title: "kind", value: (file) => file.kind },
        { title: "title", value: (file) => file.title, isFlexible: true },
        { title: "source", value: (file) => file.source, isFlexible: true, isOptional: true },
        { title: "path", value: (file) => file.path.join("/"), isFlexible: true, isOptional: true },
        { title: "state", value: stateOf, shown: whyNoText, isFlexible: true },
        { title: "updated", value: (file) => file.updatedAt?.slice(0, 10) ?? "" },
      ],
      "No matching items that you can see.",
    );
    output.talk(
      `${count(list.files.length)} of ${count(list.total)}.${list.nextCursor === null ? "" : ` More: --cursor ${list.nextCursor}`}`,
    );
  });
}

/** `kb files get KBID`: the stored text, a range, the passages around words, or the original bytes. */
export async function getFile(input: CommandInput, deps: Deps): Promise<number> {
  const api = await connect(input, deps);
  const isOriginal = flagOption(input, "original");
  const target = textOption(input, "output");
  if (isOriginal && target === undefined && deps.io.isStdoutTty) {
    throw usageFailure("The original is binary and can't be shown on a terminal.", "Save it with -o FILE, or pipe it.");
  }
  const response = await api.open.get("/api/connectors/files/{fileId}/content", {
    params: {
      path: { fileId: argument(input, 0) },
      query: {
        ...rangeOf(textOption(input, "range")),
        section: textOption(input, "section"),
        find: textOption(input, "find"),
        original: isOriginal ? "true" : undefined,
      },
    },
    headers: { accept: isOriginal ? "*/*" : "text/markdown, text/plain, application/problem+json" },
    timeoutMs: isOriginal ? 0 : 60_000,
  });
  if (target !== undefined) {
    // Written only where the person said: a name from the server decides nothing.
    if (response.body !== null) await pipeline(response.body, createWriteStream(target));
    return EXIT.ok;
  }
  if (isOriginal) {
    for await (const part of response.body ?? []) deps.io.stdout.write(part);
    return EXIT.ok;
  }
  const text = await response.text();
  if (response.headers.get("x-total-passages") === "0") {
    makeOutput(input, deps).talk(`This item contains none of "${textOption(input, "find") ?? ""}".`);
    return EXIT.failure;
  }
  deps.io.stdout.write(deps.io.isStdoutTty ? `${cleanBlock(text)}\n` : text);
  const total = response.headers.get("x-total-chars");
  if (total !== null && deps.io.isStderrTty)
    deps.io.stderr.write(`${count(text.length)} of ${count(Number(total))} characters.\n`);
  return EXIT.ok;
}

/** `kb files counts` */
export async function countFiles(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const answer = await api.get("/api/connectors/file-counts-by-source");
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () =>
    output.table(
      answer.counts,
      [
        { title: "source", value: (row) => row.source, isFlexible: true },
        { title: "kind", value: (row) => row.kind },
        { title: "indexed", value: (row) => count(row.indexed) },
        { title: "unsearchable", value: (row) => count(row.unsearchable) },
      ],
      "You can see no indexed items.",
    ),
  );
}

/** `100-400` as offset and limit in characters of the stored text; `100-` is open at the end. Throws a usage failure. */
export function rangeOf(
  range: string | undefined,
): Pick<QueryOf<"get", "/api/connectors/files/{fileId}/content">, "offset" | "limit"> {
  if (range === undefined) return {};
  const match = /^(\d{1,12})-(\d{1,12})?$/.exec(range);
  const from = Number(match?.[1]);
  const to = match?.[2] === undefined ? undefined : Number(match[2]);
  if (match === null || (to !== undefined && to <= from))
    throw usageFailure(`--range "${range}" is not FROM-TO.`, "Write 0-4000 or 8000-.");
  return { offset: from, ...(to === undefined ? {} : { limit: to - from }) };
}

function stateOf({ indexState, textState }: FileRecord): string {
  return textState.reason === null || textState.reason === indexState
    ? indexState
    : `${indexState} (${textState.reason})`;
}

/** The reason alone where an item has no text: that it can't be searched follows from it. */
function whyNoText(file: FileRecord): string {
  return file.textState.reason?.replaceAll("_", " ") ?? file.indexState;
}
