import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { openDatabase } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";
import { findPackageRoot } from "#core/spawn.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import { CONNECTOR, digestOf, makeConnector, WORKSPACE } from "../harness.ts";

/** When a process is killed: this long after its file has a running sync and this many items. */
export interface KillMoment {
  items: number;
  delayMs: number;
}

export interface EndState {
  digest: string;
  items: number;
}

export interface KilledSync extends EndState {
  /** Of each kill that met a run that was still going on: the items that the file held then. */
  hits: number[];
  /** Runs it took: 1 unless one was given up after five kills. */
  requests: number;
  /** Milliseconds of the process that was let live. */
  tookMs: number;
}

/** What is synced. */
type Connected = Pick<ConnectorRecord, "providerId" | "config">;

/** What node starts unless told: the child as it is written. */
const CHILD = ["--import", "tsx", join(import.meta.dirname, "child.ts")];

/**
 * Syncs a folder into a database of its own, killing the process (SIGKILL) at each of these moments, and lets it end
 * then. Each later process has a clock beyond the leases of the one before.
 *
 * @param child  what node starts: a built child is there sooner
 */
export async function syncKilling(
  file: string,
  root: string,
  moments: readonly KillMoment[],
  child: readonly string[] = CHILD,
  connected: Connected = { providerId: "filesystem", config: { root } },
): Promise<KilledSync> {
  await prepareFile(file, connected);
  const hits: number[] = [];
  let requests = 1;
  let offsetMs = 0;
  for (let at = 0; ;) {
    const moment = moments[at];
    const startedAt = performance.now();
    const isKilled = await runChild([...child, file, root, String(offsetMs)], file, moment);
    const tookMs = performance.now() - startedAt;
    offsetMs += 60_000;
    const { state, items } = look(file);
    if (state === "failed" && requests <= moments.length) {
      // A run is given up after five dead workers; the next one on the schedule goes on where it stood.
      requests++;
      await requestAgain(file, connected, Date.now() + offsetMs);
    } else if (moment === undefined) {
      return { ...(await endStateOf(file)), hits, requests, tookMs };
    } else {
      if (isKilled && state === "running") hits.push(items);
      at++;
    }
  }
}

/** What a database holds after its sync. @throws Error when the sync has not ended well */
export async function endStateOf(file: string): Promise<EndState> {
  const database = await openDatabase({ file });
  try {
    const [sync] = await makeStore(database).in(WORKSPACE).syncs.list(CONNECTOR, 1);
    if (sync?.state !== "succeeded" && sync?.state !== "partial") {
      throw new Error(`The sync is ${sync?.state}: ${JSON.stringify(sync?.problem)}`);
    }
    return { digest: await digestOf(database), items: look(file).items };
  } finally {
    await database.close();
  }
}

async function prepareFile(file: string, connected: Connected): Promise<void> {
  const database = await openDatabase({ file });
  const store = makeStore(database);
  const now = Date.now();
  await store.workspaces.insert({ workspaceId: WORKSPACE, name: "Acme", timeZone: "UTC", createdAt: now });
  await store.in(WORKSPACE).connectors.create(makeConnector(now, connected));
  await database.close();
  await requestAgain(file, connected, now);
}

async function requestAgain(file: string, connected: Connected, now: number): Promise<void> {
  const database = await openDatabase({ file });
  const connector = makeConnector(now, connected);
  const wish = { trigger: "schedule" as const, now, randomBytes };
  await makeStore(database).transaction((tx) => requestSync(tx, WORKSPACE, connector, wish));
  await database.close();
}

/** True when it was killed before it ended by itself. */
async function runChild(args: readonly string[], file: string, moment?: KillMoment): Promise<boolean> {
  const child = spawn(process.execPath, args, {
    cwd: findPackageRoot(),
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  const over = new AbortController();
  if (moment !== undefined) {
    untilMoment(file, moment, over.signal).then(
      () => child.kill("SIGKILL"),
      (error: unknown) => {
        if (!over.signal.aborted) process.stderr.write(`${String(error)}\n`);
      },
    );
  }
  const code = await ended;
  over.abort();
  if (code !== null && code !== 0) throw new Error(`The child ended with ${code}.`);
  return code === null;
}

async function untilMoment(file: string, { items, delayMs }: KillMoment, signal: AbortSignal): Promise<void> {
  for (let now = look(file); now.state !== "running" || now.items < items; now = look(file)) {
    await wait(50, undefined, { signal });
  }
  await wait(delayMs, undefined, { signal });
}

/** The newest sync's state and the number of items, from beside the process that writes. */
function look(file: string): { state: string; items: number } {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    const sql = `SELECT (SELECT count(*) FROM items) AS items,
                        (SELECT state FROM syncs ORDER BY createdAt DESC LIMIT 1) AS state`;
    // One row without FROM; a file that was prepared has a sync.
    return db.prepare(sql).get() as { state: string; items: number };
  } finally {
    db.close();
  }
}
