import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openDatabase } from "#server/adapters/sql/db.ts";
import { makeStore } from "#server/adapters/sql/store.ts";
import { findPackageRoot } from "#server/adapters/spawn.ts";
import { requestSync } from "#server/sync/request.ts";
import { CONNECTOR, digestOf, makeConnector, WORKSPACE } from "../harness.ts";

export interface KilledSync {
  digest: string;
  items: number;
  /** How many of the kills met a run that was still going on. */
  kills: number;
  /** Milliseconds of the processes that were let live. */
  tookMs: number;
}

/**
 * Syncs a folder into a database of its own, killing the process (SIGKILL) after each of these delays, and lets it end
 * then. Each later process has a clock beyond the leases of the one before.
 */
export async function syncKilling(file: string, root: string, killAfterMs: readonly number[]): Promise<KilledSync> {
  await prepareFile(file, root);
  let kills = 0;
  let offsetMs = 0;
  for (const delay of killAfterMs) {
    if (await runChild(file, root, offsetMs, delay)) kills++;
    offsetMs += 60_000;
  }
  const startedAt = performance.now();
  if (await runChild(file, root, offsetMs)) throw new Error("Nobody killed the last one.");
  const tookMs = performance.now() - startedAt;
  const database = await openDatabase({ file });
  try {
    const { count } = await database.read
      .selectFrom("items")
      .select((eb) => eb.fn.countAll().as("count"))
      .executeTakeFirstOrThrow();
    const [sync] = await makeStore(database).in(WORKSPACE).syncs.list(CONNECTOR, 1);
    if (sync?.state !== "succeeded" && sync?.state !== "partial") {
      throw new Error(`The sync is ${sync?.state}: ${JSON.stringify(sync?.problem)}`);
    }
    return { digest: await digestOf(database), items: Number(count), kills, tookMs };
  } finally {
    await database.close();
  }
}

async function prepareFile(file: string, root: string): Promise<void> {
  const database = await openDatabase({ file });
  const store = makeStore(database);
  const now = Date.now();
  await store.workspaces.insert({ workspaceId: WORKSPACE, name: "Acme", timeZone: "UTC", createdAt: new Date(now) });
  const connector = makeConnector(now, { providerId: "filesystem", config: { root } });
  await store.in(WORKSPACE).connectors.create(connector);
  await store.transaction((tx) => requestSync(tx, WORKSPACE, connector, { trigger: "manual", now, randomBytes }));
  await database.close();
}

/** True when it was killed before it ended by itself. */
async function runChild(file: string, root: string, offsetMs: number, killAfterMs?: number): Promise<boolean> {
  const script = join(import.meta.dirname, "child.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, file, root, String(offsetMs)], {
    cwd: findPackageRoot(),
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  const timer = new AbortController();
  if (killAfterMs !== undefined) {
    void wait(killAfterMs, undefined, { signal: timer.signal }).then(
      () => child.kill("SIGKILL"),
      () => undefined,
    );
  }
  const code = await ended;
  timer.abort();
  if (code !== null && code !== 0) throw new Error(`The child ended with ${code}.`);
  return code === null;
}
