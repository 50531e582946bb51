import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { cleanBlock } from "#api/clean.ts";
import type { QueryOf } from "#api/client.ts";
import { count } from "#api/plural.ts";
import { route, type Noun } from "#cli/line/command.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { FILE_LIST_OPTIONS, fileQueryOf, printFiles } from "#cli/records/file-list.ts";
import { findConnector, ITEM } from "#cli/records/find.ts";
import { callCommand, remoteCommand } from "#cli/calls/remote-command.ts";
import { day, flexible, formatted } from "#cli/terminal/table.ts";

/** Converts `100-400` to offset and limit in characters of the stored text; `100-` has no end. Throws a usage failure. */
export function rangeOf(
  range: string | undefined,
): Pick<QueryOf<"get", "/api/connectors/files/{fileId}/content">, "offset" | "limit"> {
  if (range === undefined) return {};
  const match = /^(\d{1,12})-(\d{1,12})?$/.exec(range);
  const from = Number(match?.[1]);
  const to = match?.[2] === undefined ? undefined : Number(match[2]);
  if (match === null || (to !== undefined && to <= from))
    throw usageFailure(`--range "${range}" is not FROM-TO.`, "Write 0-4000 or 8000-.");
  return { offset: from, ...(to !== undefined && { limit: to - from }) };
}

export const files: Noun = {
  summary: "Indexed items.",
  verbs: {
    list: remoteCommand(
      {
        summary: "List indexed items that you can see.",
        options: {
          "--connector <connector>": "only items of this connector: id or name",
          "--provider <provider>": "only this kind of source",
          "--source <source>": "only items of this source, exactly as printed",
          ...FILE_LIST_OPTIONS,
        },
        examples: ["kb files list --state unsearchable"],
        call: route("get", "/api/connectors/all-files", "files"),
      },
      async ({ api, output, options, send }) => {
        const { connector, provider, source = api.settings.defaults.source } = options;
        const list = await send({
          query: {
            ...fileQueryOf(options, api.settings),
            connectorId: connector === undefined ? undefined : (await findConnector(api, connector)).id,
            providerId: provider,
            source,
          },
        });
        printFiles(list, output);
      },
    ),
    /** `kb files get KBID`: prints the stored text, a range, the passages around words, or the original bytes. */
    get: remoteCommand(
      {
        summary: "Print an item's text, or fetch the original.",
        details: "The exit code is 1 if --find matches nothing, or if the item has no text; the command then says why.",
        of: ITEM,
        options: {
          "--range <from-to>": "only these characters: 0-4000, or 8000- for all from 8000 on",
          "--section <name>": "only this section: a heading, page 3, an anchor, or L10 for a line",
          "--find <words>": "only the passages around these words",
          "--original": "the source's original bytes",
          "-o, --output <file>": "write to this file",
        },
        examples: ["kb files get kbi_2345abcd2345abcd --find budget"],
      },
      async ({ api, output, found, options, deps }) => {
        const { original: isOriginal, output: target, section, find } = options;
        if (isOriginal && target === undefined && deps.io.isStdoutTty) {
          throw usageFailure(
            "The original is binary and can't be shown on a terminal.",
            "Save it with -o FILE, or pipe it.",
          );
        }
        const response = await api.open.get("/api/connectors/files/{fileId}/content", {
          params: {
            path: found,
            query: { ...rangeOf(options.range), section, find, original: isOriginal ? "true" : undefined },
          },
          headers: { accept: isOriginal ? "*/*" : "text/markdown, text/plain, application/problem+json" },
          timeoutMs: isOriginal ? 0 : 60_000,
        });
        if (target !== undefined) {
          // The file is written only to the path that the person named; a name from the server is never used.
          if (response.body !== null) await pipeline(response.body, createWriteStream(target));
          return EXIT.ok;
        }
        if (isOriginal) {
          for await (const part of response.body ?? []) deps.io.stdout.write(part);
          return EXIT.ok;
        }
        const text = await response.text();
        if (response.headers.get("x-total-passages") === "0") {
          output.talk(`This item contains none of "${find ?? ""}".`);
          return EXIT.failure;
        }
        deps.io.stdout.write(deps.io.isStdoutTty ? `${cleanBlock(text)}\n` : text);
        const asOf = response.headers.get("x-text-as-of");
        if (asOf !== null) output.talk(`Text as of ${day(asOf)}: the content couldn't be read since.`);
        const total = response.headers.get("x-total-chars");
        if (total !== null && deps.io.isStderrTty)
          deps.io.stderr.write(`${count(text.length)} of ${count(Number(total))} characters.\n`);
        return EXIT.ok;
      },
    ),
    counts: callCommand(
      "get",
      "/api/connectors/file-counts-by-source",
      {
        summary: "Count the items that you can see, by source and kind.",
        examples: ["kb files counts"],
        key: "counts",
      },
      ({ counts }, { output }) =>
        output.table(
          counts,
          {
            source: flexible("source"),
            kind: "kind",
            indexed: formatted(count, "indexed"),
            unsearchable: formatted(count, "unsearchable"),
          },
          "You can see no indexed items.",
        ),
    ),
    /** `kb files restore KBID`: restores a removed item. */
    restore: callCommand(
      "post",
      "/api/connectors/files/{fileId}/restore",
      {
        summary: "Restore an item that was removed in the last 7 days.",
        details:
          "Only the connector's owner and admins can do this. `kb connectors removals CONNECTOR --removed` lists the items. No one can read a restored item until its source says who can.",
        of: ITEM,
        examples: ["kb files restore kbi_2345abcd2345abcd"],
      },
      ({ sync }) =>
        sync === null
          ? "Restored. People can find it once its source has sent it again."
          : "Restored. A sync reads it now; then people can find it.",
    ),
  },
};
