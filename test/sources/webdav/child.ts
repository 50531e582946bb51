/**
 * Does the due syncs of a database file with the WebDAV source and ends: `child.ts FILE URL CLOCK_OFFSET_MS`. The server at
 * the URL is this machine's; the writer's thread and the extraction in child processes are real. Made to be killed.
 */
import { makeSyncBytes } from "../../spool.ts";
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { findSpawnEntry } from "#core/spawn.ts";
import { makeExtractor } from "#extract/pool.ts";
import { makeSyncWorker } from "#server/sync/worker/worker.ts";
import { makeSourceHttpPool } from "#sources/http/pool.ts";
import { makeWebdavSource } from "#sources/webdav/index.ts";
import { openDatabase } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { guardOf } from "../../net/everywhere.ts";

const [file, url, offsetMs] = process.argv.slice(2);
if (!file || !url || !offsetMs) throw new Error("Usage: child.ts FILE URL CLOCK_OFFSET_MS");
const silent = { debug() {}, info() {}, warn: complain, error: complain };
const database = await openDatabase({ file, writerEntry: findSpawnEntry("writer") });
const source = makeWebdavSource({ batching: { upserts: 20, seen: 100, listings: 20 } });
const extractor = makeExtractor({
  childPath: findSpawnEntry("extractor"),
  now: () => performance.now(),
  analyze: analyzeDocument,
  log: silent,
});
const http = makeSourceHttpPool({
  guard: guardOf(async ({ host, port }) => ({ host, port, address: "127.0.0.1", family: 4, isListed: true })),
  now: () => Date.now(),
});
const worker = makeSyncWorker({
  store: makeStore(database),
  findSource: () => source as never,
  extractor,
  analyze: analyzeDocument,
  loadAuthority: async (_workspaceId, _source, { connectorId }) => ({ connectorId, named: { has: () => true } }),
  withoutUnknownPeople: (item) => item,
  keepsSecrets: async () => false,
  ...makeSyncBytes(),
  http,
  now: () => Date.now() + Number(offsetMs),
  randomBytes,
  sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
  log: silent,
});
await worker.runUntilIdle();
http.close();
await extractor.close();
await database.close();

function complain(fields: Record<string, unknown>, message: string): void {
  const text = (key: string, value: unknown) => (key === "error" && value instanceof Error ? value.stack : value);
  process.stderr.write(`${message} ${JSON.stringify(fields, text)}\n`);
}
