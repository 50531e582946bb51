/**
 * Does the due syncs of a database file and ends: `child.ts FILE ROOT CLOCK_OFFSET_MS`. Everything is real: the
 * writer's thread, the filesystem, the extraction in child processes. Made to be killed.
 */
import { makeSyncBytes } from "../../../spool.ts";
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { openDatabase } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";
import { findSpawnEntry } from "#core/spawn.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { makeExtractor } from "#extract/pool.ts";
import { makeSourceRegistry } from "#sources/registry.ts";
import { makeSyncWorker } from "#server/sync/worker/worker.ts";
import { NO_NETWORK, NO_HTTP_POOL } from "../../../network.ts";

const [file, root, offsetMs] = process.argv.slice(2);
if (!file || !root || !offsetMs) throw new Error("Usage: child.ts FILE ROOT CLOCK_OFFSET_MS");
const silent = { debug() {}, info() {}, warn: complain, error: complain };
const database = await openDatabase({ file, writerEntry: findSpawnEntry("writer") });
const sources = makeSourceRegistry({
  allowedRoots: async () => [root],
  dataFolder: `${file}-none`,
  isOpenToStrangers: false,
  guard: NO_NETWORK,
  searchPath: "",
});
const extractor = makeExtractor({
  childPath: findSpawnEntry("extractor"),
  now: () => performance.now(),
  analyze: analyzeDocument,
  log: silent,
});
const worker = makeSyncWorker({
  store: makeStore(database),
  findSource: (providerId) => sources.find(providerId),
  extractor,
  analyze: analyzeDocument,
  loadAuthority: async (_workspaceId, _source, { connectorId }) => ({ connectorId, named: { has: () => true } }),
  withoutUnknownPeople: (item) => item,
  keepsSecrets: async () => false,
  ...makeSyncBytes(),
  http: NO_HTTP_POOL,
  now: () => Date.now() + Number(offsetMs),
  randomBytes,
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
  log: silent,
});
await worker.runUntilIdle();
await extractor.close();
await database.close();

function complain(fields: Record<string, unknown>, message: string): void {
  const text = (key: string, value: unknown) => (key === "error" && value instanceof Error ? value.stack : value);
  process.stderr.write(`${message} ${JSON.stringify(fields, text)}\n`);
}
