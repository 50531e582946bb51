/** Prints quickstart's final report: what is searchable, what isn't and why, and one real answer. */
import type { QueryOf } from "#api/client.ts";
import { count, plural } from "#api/plural.ts";
import { TEXT_REASONS } from "#api/text-reasons.ts";
import type { Api } from "#cli/calls/api.ts";
import { type Output } from "#cli/terminal/output.ts";
import type { ConnectorRecord, SyncRecord } from "#cli/records/records.ts";
import { printAnswer } from "#cli/records/search-answer.ts";
import { lineOf, listReasons } from "#cli/records/skips.ts";

/** One indexed folder and how its sync ended. */
export interface IndexedFolder {
  path: string;
  connector: ConnectorRecord;
  sync: SyncRecord;
}

/** Prints what a folder's sync indexed, and what it skipped, by reason. */
export async function reportFolder(api: Api, folder: IndexedFolder, output: Output): Promise<void> {
  const { connector, sync } = folder;
  const path = { id: connector.id };
  async function total(of: QueryOf<"get", "/api/connectors/{id}/files">): Promise<number> {
    const query = { ...of, limit: 1 };
    return (await api.get("/api/connectors/{id}/files", { params: { path, query } })).total;
  }
  const [indexed, byName, failed] = await Promise.all([
    total({ indexState: "indexed" }),
    total({ indexState: "unsearchable" }),
    total({ indexState: "failed" }),
  ]);
  output.line(`${folder.path}: ${plural(indexed, "file")} searchable.`);
  if (byName > 0) {
    const totals = await Promise.all(
      TEXT_REASONS.map(async (textReason) => await total({ indexState: "unsearchable", textReason })),
    );
    const why = listReasons(Object.fromEntries(TEXT_REASONS.map((reason, i) => [reason, totals[i] ?? 0])));
    output.line(`  ${count(byName)} found by name only${why}.`);
  }
  if (sync.counts.skipped > 0)
    output.line(`  ${count(sync.counts.skipped)} left out${listReasons(sync.counts.reasons)}.`);
  const named = sync.skips.filter(({ externalId }) => externalId !== null);
  for (const skip of named.filter(({ reason }) => reason !== "failed" && reason !== "generated").slice(0, 5)) {
    output.line(`    ${lineOf(skip)}`);
  }
  const made = named.filter(({ reason }) => reason === "generated").map(({ externalId }) => externalId);
  if (made.length > 0) {
    const more = made.length > 5 ? " …" : "";
    output.line(`  Left out as generated: ${made.slice(0, 5).join(", ")}${more}. To include them: --generated`);
  }
  if (sync.counts.failed > 0 || failed > 0) {
    output.line(`  ${count(Math.max(sync.counts.failed, failed))} failed:`);
    for (const skip of sync.skips.filter((item) => item.reason === "failed").slice(0, 5)) {
      output.line(`    ${lineOf(skip)}`);
    }
    output.line(`  More: kb connectors files ${connector.id} --state failed`);
  }
  if (sync.problem !== null) {
    output.line(`  ${sync.problem.code}: ${sync.problem.message}`);
    if (sync.problem.hint !== undefined) output.line(`  ${sync.problem.hint}`);
  }
}

/** Runs a search for words from a real title, as a person or an agent would, and prints its answer. */
export async function showSearch(
  api: Api,
  folder: IndexedFolder,
  query: string | undefined,
  output: Output,
): Promise<void> {
  const words = query ?? (await wordsOfATitle(api, folder.connector.id));
  if (words === undefined) return;
  output.line("");
  output.line(`$ kb search ${words}`);
  const answer = await api.get("/api/connectors/search", { params: { query: { query: words, limit: 3 } } });
  // Prints the same blocks with and without a terminal, because the report is meant for people.
  printAnswer(answer, { ...output, format: "table" });
}

async function wordsOfATitle(api: Api, connectorId: string): Promise<string | undefined> {
  const { files } = await api.get("/api/connectors/{id}/files", {
    params: { path: { id: connectorId }, query: { indexState: "indexed", limit: 20 } },
  });
  const titles = files.map(
    (file) => file.title.replace(/\.[A-Za-z0-9]{1,5}$/, "").match(/\p{L}[\p{L}\p{N}]{2,}/gu) ?? [],
  );
  // Two or three words are more specific than one, and file names such as "index" aren't helpful.
  const best = titles.sort((a, b) => Math.min(b.length, 3) - Math.min(a.length, 3))[0];
  return best === undefined || best.length === 0 ? undefined : best.slice(0, 3).join(" ").toLowerCase();
}
