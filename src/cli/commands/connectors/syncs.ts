import { describeSkips } from "#cli/records/skips.ts";
import { describeUnread } from "#api/people-words.ts";
import { count, plural } from "#api/plural.ts";
import type { Api } from "#cli/calls/api.ts";
import { oneOf, route, several } from "#cli/line/command.ts";
import { type Deps, confirmed } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { failure, usageFailure } from "#cli/host/failure.ts";
import type { SyncRecord } from "#cli/records/records.ts";
import { describeSync, exitOfSync, watchSync } from "#cli/records/sync-watch.ts";
import { flexible, formatted, minute, optional, time, type Columns } from "#cli/terminal/table.ts";
import { parseDuration, someOf } from "#cli/line/values.ts";
import { CONNECTOR, findConnector } from "#cli/records/find.ts";
import { YES } from "#cli/line/options.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { WAIT_OPTIONS } from "./options.ts";

export const startSync = remoteCommand(
  {
    summary: "Start a sync, or join the queued one.",
    details:
      "If kb mirrors the source's permissions, a sync first reads people and groups, at most once a minute. --mode identities reads only people and groups.",
    of: CONNECTOR,
    options: {
      "--mode <mode>": oneOf(["full", "incremental", "items", "identities"], "how much to read"),
      "--item <externalId>": several("only this item; may be repeated"),
      ...WAIT_OPTIONS,
    },
    examples: ["kb connectors sync docs --wait --timeout 10m", "kb connectors sync forge --mode identities --wait"],
    exitCodes: [5, 8, 9, 130],
    call: route("post", "/api/connectors/{id}/syncs", "sync"),
  },
  async ({ api, output, found: connector, options, deps, send }) => {
    const items = someOf(options.item);
    const { sync } = await send({ body: { mode: options.mode ?? (items && "items"), items } });
    if (!options.wait) {
      output.result({ sync }, () => output.line(sync.id));
      output.talk(`Sync of "${connector.name}" is ${sync.state}. Follow it: kb connectors progress`);
      return EXIT.ok;
    }
    const timeoutMs = parseDuration(options.timeout ?? "0", "--timeout");
    const finished = await watchSync(api, deps, connector.name, sync, timeoutMs);
    output.result({ sync: finished }, () => output.line(describeSync(finished)));
    if (finished.problem !== null) {
      output.talk(`${finished.problem.code}: ${finished.problem.message}`);
      if (finished.problem.hint !== undefined) output.talk(finished.problem.hint);
    }
    const warning = describeUnread(finished);
    if (warning !== undefined) output.talk(warning);
    for (const line of describeSkips(finished)) output.talk(`  ${line}`);
    const after = await api.get("/api/connectors/{id}", { params: { path: { id: connector.id } } });
    const { held } = after.connector.counts;
    if (held > 0) {
      const waiting = `${plural(held, "removal")} ${held === 1 ? "waits" : "wait"} for approval`;
      output.talk(`${waiting}: kb connectors removals ${connector.id}`);
    }
    return exitOfSync(finished);
  },
);

/** `kb connectors cancel CONNECTOR`: ends the connector's running sync; everything read so far is kept. */
export const cancelSync = remoteCommand(
  {
    summary: "Cancel a connector's running sync; what it stored stays.",
    of: CONNECTOR,
    options: { "--sync <id>": "the sync to cancel: syn_… (default: the running one)" },
    examples: ["kb connectors cancel docs"],
    exitCodes: [5],
    call: route("post", "/api/connectors/{id}/syncs/{syncId}/cancel", "sync"),
  },
  async ({ api, output, found: { id, name }, options, send }) => {
    const { syncs } = await api.get("/api/connectors/{id}/syncs", { params: { path: { id }, query: { limit: 5 } } });
    const open = syncs.filter(({ finishedAt }) => finishedAt === null);
    // A sync that only rereads is excluded, because no one waits for it.
    const syncId = options.sync ?? (open.find(({ trigger }) => trigger !== "reader") ?? open[0])?.id;
    if (syncId === undefined) {
      throw failure("conflict", "sync_not_running", `"${name}" has no running sync.`, "kb connectors progress");
    }
    output.result(await send({ at: { id, syncId } }), ({ sync }) => `Sync ${syncId} is ${sync.state}.`);
  },
);

/** `kb connectors progress [CONNECTOR]`: lists my open syncs, or the runs of one connector. `--watch` streams NDJSON. */
export const showProgress = remoteCommand(
  {
    summary: "Show running syncs, or the runs of one connector.",
    arguments: { "[connector]": "the connector: its name or con_…" },
    options: { "--watch": "keep watching; prints one JSON record per change" },
    examples: ["kb connectors progress", "kb connectors progress docs --watch"],
    exitCodes: [3, 130],
    fields: [route("get", "/api/connectors/progress", "syncs")],
  },
  async ({ api, output, args, options, deps }) => {
    const word = args.connector;
    const id = word === undefined ? undefined : (await findConnector(api, word)).id;
    const list = async () =>
      id === undefined
        ? await api.get("/api/connectors/progress")
        : await api.get("/api/connectors/{id}/syncs", { params: { path: { id } } });
    if (options.watch) return await watchProgress(list, deps, output.ndjson);
    const answer = await list();
    const names = output.format === "table" ? await namesOfConnectors(api, answer.syncs) : new Map<string, string>();
    output.result(answer, () => output.table(answer.syncs, syncColumns(names), "No sync is running."));
  },
);

/** `kb connectors removals CONNECTOR`: lists removals by a sync that a person must approve. */
export const listRemovals = remoteCommand(
  {
    summary: "Show removals that wait for approval; approve or reject them.",
    details: "When a sync would remove unusually many items, it holds the removals until you approve them.",
    of: CONNECTOR,
    options: {
      "--removed": "show items that were removed and can be restored instead",
      "--approve": "remove them",
      "--reject": "keep them",
      ...YES,
    },
    examples: ["kb connectors removals docs", "kb connectors removals docs --approve --yes"],
    exitCodes: [5],
    call: route("get", "/api/connectors/{id}/removals", "removals"),
  },
  async ({ api, output, found: { id, name }, options, deps }) => {
    const { removed, approve, reject } = options;
    if (removed) {
      return output.list(
        "removed",
        await api.list("/api/connectors/{id}/removed", "removed", { at: { id } }),
        { kbId: "kbId", removed: formatted(minute, "removedAt") },
        `Nothing was removed from "${name}" in the last 7 days.`,
      );
    }
    if (!approve && !reject) {
      return output.list(
        "removals",
        await api.list("/api/connectors/{id}/removals", "removals", { at: { id } }),
        {
          kbId: "kbId",
          item: flexible(({ title, externalId }) => title ?? externalId),
          "held since": formatted(minute, "heldAt"),
        },
        `No removals of "${name}" wait for approval.`,
      );
    }
    if (approve && reject) throw usageFailure("Give --approve or --reject.");
    await confirmed(options, deps, `${approve ? "Approve" : "Reject"} all waiting removals of "${name}"?`);
    const answer = await api.post(`/api/connectors/{id}/removals/${approve ? "approve" : "reject"}`, {
      params: { path: { id } },
    });
    output.result(answer, () => (approve ? "Approved. The items are removed." : "Rejected. The items stay."));
  },
);

async function namesOfConnectors(api: Api, syncs: readonly SyncRecord[]): Promise<Map<string, string>> {
  if (syncs.length === 0) return new Map();
  const all = await api.list("/api/connectors", "connectors");
  return new Map(all.map(({ id, name }) => [id, name]));
}

const syncColumns = (names: ReadonlyMap<string, string>): Columns<SyncRecord> => ({
  sync: "id",
  connector: {
    value: "connectorId",
    shown: ({ connectorId }) => names.get(connectorId) ?? connectorId,
    isFlexible: true,
  },
  mode: optional("mode"),
  state: "state",
  done: ({ progress: { done, total } }) => count(done) + (total === null ? "" : `/${count(total)}`),
  failed: ({ counts }) => count(counts.failed),
  started: time(({ startedAt }) => startedAt),
  now: optional(flexible(({ problem, progress }) => problem?.message ?? progress.note)),
});

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
