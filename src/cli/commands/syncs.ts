import type { BodyOf } from "#api/client.ts";
import { connect, type Api } from "#cli/api.ts";
import { argument, flagOption, listOption, textOption, wordOption, type CommandInput } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure, usageFailure } from "#cli/failure.ts";
import { count, makeOutput } from "#cli/output.ts";
import type { SyncRecord } from "#cli/records.ts";
import { describeSync, exitOfSync, watchSync } from "#cli/sync-watch.ts";
import { shortTime, type Column } from "#cli/table.ts";
import { parseDuration, parseInteger } from "#cli/values.ts";
import { confirmed } from "#cli/confirm.ts";
import { findConnector } from "#cli/find.ts";

/** `kb connectors sync CONNECTOR` */
export async function startSync(input: CommandInput, deps: Deps): Promise<number> {
  const api = await connect(input, deps);
  const connector = await findConnector(api, argument(input, 0));
  const items = listOption(input, "item");
  const hasItems = items.length > 0;
  const mode: BodyOf<"post", "/api/connectors/{id}/syncs">["mode"] = wordOption(input, "mode");
  const { sync } = await api.post("/api/connectors/{id}/syncs", {
    params: { path: { id: connector.id } },
    body: {
      mode: mode ?? (hasItems ? "items" : undefined),
      items: hasItems ? items : undefined,
    },
  });
  const output = makeOutput(input, deps, api.settings.defaults);
  if (!flagOption(input, "wait")) {
    output.result({ sync }, () => output.line(sync.id));
    output.talk(`Sync of "${connector.name}" is ${sync.state}. Follow it: kb connectors progress`);
    return EXIT.ok;
  }
  const timeoutMs = parseDuration(textOption(input, "timeout") ?? "0", "--timeout");
  const finished = await watchSync(api, deps, connector.name, sync, timeoutMs);
  output.result({ sync: finished }, () => output.line(describeSync(finished)));
  if (finished.problem !== null) {
    output.talk(`${finished.problem.code}: ${finished.problem.message}`);
    if (finished.problem.hint !== undefined) output.talk(finished.problem.hint);
  }
  for (const skip of finished.skips.filter((item) => item.reason === "failed").slice(0, 10)) {
    output.talk(`  ${skip.externalId ?? "an item"}: ${skip.message ?? skip.reason}`);
  }
  return exitOfSync(finished);
}

/** `kb connectors cancel CONNECTOR`: ends its running sync; what it has read stays. */
export async function cancelSync(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const connector = await findConnector(api, argument(input, 0));
  const { id } = connector;
  const given = textOption(input, "sync");
  const { syncs } = await api.get("/api/connectors/{id}/syncs", { params: { path: { id }, query: { limit: 5 } } });
  const syncId = given ?? syncs.find((sync) => sync.finishedAt === null)?.id;
  if (syncId === undefined) {
    throw new CliFailure({
      code: "sync_not_running",
      exit: EXIT.conflict,
      message: `"${connector.name}" has no running sync.`,
      hint: "kb connectors progress",
    });
  }
  const answer = await api.post("/api/connectors/{id}/syncs/{syncId}/cancel", { params: { path: { id, syncId } } });
  const output = makeOutput(input, deps, api.settings.defaults);
  output.result(answer, () => output.talk(`Sync ${syncId} is ${answer.sync.state}.`));
}

/** `kb connectors progress [CONNECTOR]`: open syncs of mine, or the runs of one connector. `--watch` streams NDJSON. */
export async function showProgress(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const word = typeof input.arguments[0] === "string" ? input.arguments[0] : undefined;
  const id = word === undefined ? undefined : (await findConnector(api, word)).id;
  const list = async () =>
    id === undefined
      ? await api.get("/api/connectors/progress")
      : await api.get("/api/connectors/{id}/syncs", { params: { path: { id } } });
  const output = makeOutput(input, deps, api.settings.defaults);
  if (flagOption(input, "watch")) return await watchProgress(list, deps, output.ndjson);
  const answer = await list();
  const names = output.format === "table" ? await namesOfConnectors(api, answer.syncs) : new Map<string, string>();
  output.result(answer, () => output.table(answer.syncs, syncColumns(names), "No sync is running."));
}

/** `kb connectors removals CONNECTOR`: what a sync wants to delete and a person must approve. */
export async function listRemovals(input: CommandInput, deps: Deps): Promise<void> {
  const api = await connect(input, deps);
  const connector = await findConnector(api, argument(input, 0));
  const path = { id: connector.id };
  const output = makeOutput(input, deps, api.settings.defaults);
  const verb = flagOption(input, "approve") ? "approve" : flagOption(input, "reject") ? "reject" : undefined;
  if (verb === undefined) {
    const removals = await api.list("/api/connectors/{id}/removals", "removals", { at: path });
    output.result({ removals, nextCursor: null }, () =>
      output.table(
        removals,
        [
          { title: "kbId", value: (item) => item.kbId },
          { title: "item", value: (item) => item.title ?? item.externalId, isFlexible: true },
          { title: "held since", value: (item) => item.heldAt.slice(0, 16).replace("T", " ") },
        ],
        `No removals of "${connector.name}" wait for approval.`,
      ),
    );
    return;
  }
  if (flagOption(input, "approve") && flagOption(input, "reject")) throw usageFailure("Give --approve or --reject.");
  await confirmed(
    input,
    deps,
    `${verb === "approve" ? "Approve" : "Reject"} all waiting removals of "${connector.name}"?`,
  );
  const answer = await api.post(`/api/connectors/{id}/removals/${verb}`, { params: { path } });
  output.result(answer, () =>
    output.talk(verb === "approve" ? "Approved. The items are removed." : "Rejected. The items stay."),
  );
}

/** Reads the number of a page from --limit. */
export function pageLimit(input: CommandInput, max = 200): number | undefined {
  return parseInteger(textOption(input, "limit"), "--limit", 1, max);
}

async function namesOfConnectors(api: Api, syncs: readonly SyncRecord[]): Promise<Map<string, string>> {
  if (syncs.length === 0) return new Map();
  const all = await api.list("/api/connectors", "connectors");
  return new Map(all.map(({ id, name }) => [id, name]));
}

const syncColumns = (names: ReadonlyMap<string, string>): readonly Column<SyncRecord>[] => [
  { title: "sync", value: (sync) => sync.id },
  {
    title: "connector",
    value: (sync) => sync.connectorId,
    shown: (sync) => names.get(sync.connectorId) ?? sync.connectorId,
    isFlexible: true,
  },
  { title: "mode", value: (sync) => sync.mode, isOptional: true },
  { title: "state", value: (sync) => sync.state },
  {
    title: "done",
    value: (sync) =>
      `${count(sync.progress.done)}${sync.progress.total === null ? "" : `/${count(sync.progress.total)}`}`,
  },
  { title: "failed", value: (sync) => count(sync.counts.failed) },
  {
    title: "started",
    value: (sync) => sync.startedAt?.slice(0, 16).replace("T", " ") ?? "",
    shown: (sync) => shortTime(sync.startedAt),
  },
  {
    title: "now",
    value: (sync) => sync.problem?.message ?? sync.progress.note ?? "",
    isFlexible: true,
    isOptional: true,
  },
];

const WATCH_MS = 1000;

async function watchProgress(
  list: () => Promise<{ syncs: SyncRecord[] }>,
  deps: Deps,
  print: (value: unknown) => void,
): Promise<void> {
  const last = new Map<string, string>();
  for (;;) {
    for (const sync of (await list()).syncs) {
      const text = JSON.stringify(sync);
      if (last.get(sync.id) !== text) print(sync);
      last.set(sync.id, text);
    }
    await deps.clock.sleep(WATCH_MS, deps.signal);
  }
}
