import { describeSkips } from "#cli/skips.ts";
import type { BodyOf } from "#api/client.ts";
import { describeUnread } from "#api/people-words.ts";
import { count, plural } from "#api/plural.ts";
import type { Api } from "#cli/api.ts";
import { fieldsOf } from "#cli/command.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure, usageFailure } from "#cli/failure.ts";
import type { SyncRecord } from "#cli/records.ts";
import { describeSync, exitOfSync, watchSync } from "#cli/sync-watch.ts";
import { flexible, minute, shortTime, type Columns } from "#cli/table.ts";
import { parseDuration } from "#cli/values.ts";
import { confirmed } from "#cli/confirm.ts";
import { findConnector } from "#cli/find.ts";
import { remoteCommand } from "#cli/remote-command.ts";
import { CONNECTOR, WAIT_OPTIONS } from "./options.ts";

export const startSync = remoteCommand(
  {
    summary: "Start a sync, or join the queued one.",
    details:
      "Where kb mirrors permissions, a sync first reads people and groups, at most once a minute. --mode identities reads only these.",
    arguments: CONNECTOR,
    options: [
      {
        flags: "--mode <mode>",
        summary: "how much to look at",
        choices: ["full", "incremental", "items", "identities"],
      },
      { flags: "--item <externalId>", summary: "only this item; may be repeated", repeatable: true },
      ...WAIT_OPTIONS,
    ],
    examples: ["kb connectors sync docs --wait --timeout 10m", "kb connectors sync forge --mode identities --wait"],
    exitCodes: [3, 5, 8, 9, 130],
    fields: [fieldsOf("post", "/api/connectors/{id}/syncs", "sync")],
  },
  async ({ api, output, args, options, deps }): Promise<number> => {
    const connector = await findConnector(api, args.connector);
    const items = options.item;
    const hasItems = items.length > 0;
    const mode: BodyOf<"post", "/api/connectors/{id}/syncs">["mode"] = options.mode;
    const { sync } = await api.post("/api/connectors/{id}/syncs", {
      params: { path: { id: connector.id } },
      body: {
        mode: mode ?? (hasItems ? "items" : undefined),
        items: hasItems ? items : undefined,
      },
    });
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

/** `kb connectors cancel CONNECTOR`: ends its running sync; everything read so far stays. */
export const cancelSync = remoteCommand(
  {
    summary: "Cancel a connector's running sync; what it stored stays.",
    arguments: CONNECTOR,
    options: [{ flags: "--sync <id>", summary: "this one: syn_… (default: the running one)" }],
    examples: ["kb connectors cancel docs"],
    exitCodes: [3, 5],
    fields: [fieldsOf("post", "/api/connectors/{id}/syncs/{syncId}/cancel", "sync")],
  },
  async ({ api, output, args, options }) => {
    const connector = await findConnector(api, args.connector);
    const { id } = connector;
    const syncOption = options.sync;
    const { syncs } = await api.get("/api/connectors/{id}/syncs", { params: { path: { id }, query: { limit: 5 } } });
    const open = syncs.filter((sync) => sync.finishedAt === null);
    // No one waits for a sync that only rereads.
    const syncId = syncOption ?? (open.find((sync) => sync.trigger !== "reader") ?? open[0])?.id;
    if (syncId === undefined) {
      throw new CliFailure({
        code: "sync_not_running",
        exit: EXIT.conflict,
        message: `"${connector.name}" has no running sync.`,
        hint: "kb connectors progress",
      });
    }
    const answer = await api.post("/api/connectors/{id}/syncs/{syncId}/cancel", { params: { path: { id, syncId } } });
    output.result(answer, () => output.talk(`Sync ${syncId} is ${answer.sync.state}.`));
  },
);

/** `kb connectors progress [CONNECTOR]`: my open syncs, or the runs of one connector. `--watch` streams NDJSON. */
export const showProgress = remoteCommand(
  {
    summary: "Show running syncs, or the runs of one connector.",
    arguments: [{ name: "connector", summary: "its name or con_…" }],
    options: [{ flags: "--watch", summary: "keep watching; prints one JSON record per change" }],
    examples: ["kb connectors progress", "kb connectors progress docs --watch"],
    exitCodes: [3, 130],
    fields: [fieldsOf("get", "/api/connectors/progress", "syncs")],
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

/** `kb connectors removals CONNECTOR`: removals by a sync that a person must approve. */
export const listRemovals = remoteCommand(
  {
    summary: "Show removals that wait for approval; approve or reject them.",
    details: "When a sync would remove unusually many items, it holds the removals until you approve them.",
    arguments: CONNECTOR,
    options: [
      { flags: "--removed", summary: "show items that were removed and can be restored instead" },
      { flags: "--approve", summary: "remove them" },
      { flags: "--reject", summary: "keep them" },
      { flags: "--yes", summary: "skip the confirmation" },
    ],
    examples: ["kb connectors removals docs", "kb connectors removals docs --approve --yes"],
    exitCodes: [3, 5],
    fields: [fieldsOf("get", "/api/connectors/{id}/removals", "removals")],
  },
  async ({ api, output, args, options, deps }) => {
    const connector = await findConnector(api, args.connector);
    const path = { id: connector.id };
    if (options.removed) {
      const removed = await api.list("/api/connectors/{id}/removed", "removed", { at: path });
      output.result({ removed, nextCursor: null }, () =>
        output.table(
          removed,
          {
            kbId: (item) => item.kbId,
            removed: (item) => minute(item.removedAt),
          },
          `Nothing was removed from "${connector.name}" in the last 7 days.`,
        ),
      );
      return;
    }
    const verb = options.approve ? "approve" : options.reject ? "reject" : undefined;
    if (verb === undefined) {
      const removals = await api.list("/api/connectors/{id}/removals", "removals", { at: path });
      output.result({ removals, nextCursor: null }, () =>
        output.table(
          removals,
          {
            kbId: (item) => item.kbId,
            item: flexible((item) => item.title ?? item.externalId),
            "held since": (item) => minute(item.heldAt),
          },
          `No removals of "${connector.name}" wait for approval.`,
        ),
      );
      return;
    }
    if (options.approve && options.reject) throw usageFailure("Give --approve or --reject.");
    await confirmed(
      options,
      deps,
      `${verb === "approve" ? "Approve" : "Reject"} all waiting removals of "${connector.name}"?`,
    );
    const answer = await api.post(`/api/connectors/{id}/removals/${verb}`, { params: { path } });
    output.result(answer, () =>
      output.talk(verb === "approve" ? "Approved. The items are removed." : "Rejected. The items stay."),
    );
  },
);

async function namesOfConnectors(api: Api, syncs: readonly SyncRecord[]): Promise<Map<string, string>> {
  if (syncs.length === 0) return new Map();
  const all = await api.list("/api/connectors", "connectors");
  return new Map(all.map(({ id, name }) => [id, name]));
}

const syncColumns = (names: ReadonlyMap<string, string>): Columns<SyncRecord> => ({
  sync: (sync) => sync.id,
  connector: {
    value: (sync) => sync.connectorId,
    shown: (sync) => names.get(sync.connectorId) ?? sync.connectorId,
    isFlexible: true,
  },
  mode: { value: (sync) => sync.mode, isOptional: true },
  state: (sync) => sync.state,
  done: (sync) => `${count(sync.progress.done)}${sync.progress.total === null ? "" : `/${count(sync.progress.total)}`}`,
  failed: (sync) => count(sync.counts.failed),
  started: {
    value: (sync) => minute(sync.startedAt),
    shown: (sync) => shortTime(sync.startedAt),
  },
  now: { value: (sync) => sync.problem?.message ?? sync.progress.note ?? "", isFlexible: true, isOptional: true },
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
