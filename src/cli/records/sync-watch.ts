/** Follows one sync to its end and shows its progress, for `connectors sync --wait`, `connectors add --wait` and quickstart. */
import { describeUnread } from "#api/people-words.ts";
import { count, plural } from "#api/plural.ts";
import type { Api } from "#cli/calls/api.ts";
import type { Deps } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { CliFailure, failure, interrupted } from "#cli/host/failure.ts";
import { bytes, duration } from "#cli/terminal/output.ts";
import { makeProgress } from "#cli/terminal/progress.ts";
import type { SyncRecord } from "./records.ts";

const OPEN_STATES = new Set(["queued", "running", "waiting", "cancelling"]);
const POLL_MS = 250;
const SLOW_POLL_MS = 1500;
/** Maximum number of consecutive requests that may fail while the server restarts. */
const MAX_MISSES = 10;

/**
 * Polls until the sync has ended.
 *
 * @param timeoutMs milliseconds to wait; 0 waits forever
 * @throws CliFailure 9 after the timeout, 130 on Ctrl-C (the sync continues in both cases)
 */
export async function watchSync(
  api: Api,
  deps: Deps,
  connectorName: string,
  sync: SyncRecord,
  timeoutMs: number,
): Promise<SyncRecord> {
  const progress = makeProgress(deps, connectorName, "items");
  const startedAt = deps.clock.now();
  const path = { id: sync.connectorId, syncId: sync.id };
  let current = sync;
  let misses = 0;
  try {
    while (OPEN_STATES.has(current.state)) {
      progress.update({ ...current.progress, note: noteOf(current) });
      const waited = deps.clock.now() - startedAt;
      if (timeoutMs > 0 && waited >= timeoutMs) throw timedOut(connectorName, timeoutMs);
      await deps.clock.sleep(waited < 20_000 ? POLL_MS : SLOW_POLL_MS, deps.signal);
      try {
        current = (await api.get("/api/connectors/{id}/syncs/{syncId}", { params: { path } })).sync;
        misses = 0;
      } catch (error) {
        misses += 1;
        const isPassing = error instanceof CliFailure && error.exit === EXIT.unreachable && misses < MAX_MISSES;
        if (!isPassing) throw error;
      }
    }
    return current;
  } catch (error) {
    if (!deps.signal.aborted) throw error;
    throw interrupted(`Stopped waiting. The sync of "${connectorName}" continues; see kb connectors progress.`);
  } finally {
    progress.stop();
  }
}

/** Describes in one line how a sync ended: counts, size, time. */
export function describeSync(sync: SyncRecord): string {
  const { counts, mode } = sync;
  if (mode === "identities") return `${sync.state}: ${count(counts.seen)} people and groups read${timeOf(sync)}`;
  const parts = [
    `${count(counts.upserted)} new or changed`,
    `${count(counts.unchanged)} unchanged`,
    `${count(counts.deleted)} removed`,
    ...(counts.skipped > 0 ? [`${count(counts.skipped)} left out`] : []),
    ...(counts.failed > 0 ? [`${count(counts.failed)} failed`] : []),
    ...((counts.datesLeftOut ?? 0) > 0 ? [`${plural(counts.datesLeftOut ?? 0, "impossible date")} left out`] : []),
    ...((counts.faults ?? 0) > 0 ? [`${plural(counts.faults ?? 0, "fault")} of kb (see the server's log)`] : []),
  ];
  return `${sync.state}: ${parts.join(", ")} (${plural(counts.seen, "item")} seen, ${bytes(counts.bytes)})${timeOf(sync)}`;
}

function timeOf({ startedAt, finishedAt }: SyncRecord): string {
  if (startedAt === null || finishedAt === null) return "";
  return ` in ${duration(Date.parse(finishedAt) - Date.parse(startedAt))}`;
}

/** Returns the exit code for a finished sync. */
export function exitOfSync(sync: SyncRecord): number {
  if (describeUnread(sync) !== undefined && sync.state === "succeeded") return EXIT.finishedWithErrors;
  if (sync.state === "partial" || (sync.state === "succeeded" && sync.counts.failed > 0))
    return EXIT.finishedWithErrors;
  return sync.state === "succeeded" ? EXIT.ok : EXIT.failure;
}

function noteOf(sync: SyncRecord): string {
  if (sync.people?.state === "waiting" && sync.startedAt === null) return "reading people and groups first";
  if (sync.state === "queued") return "waiting for a worker";
  if (sync.state === "waiting")
    return sync.resumeAt === null ? "waiting" : `the source asked to wait until ${sync.resumeAt}`;
  return sync.progress.note ?? "";
}

function timedOut(name: string, timeoutMs: number): CliFailure {
  return failure(
    "timedOut",
    "timed_out",
    `The sync of "${name}" is still running after ${duration(timeoutMs)}; it continues.`,
    "kb connectors progress",
  );
}
