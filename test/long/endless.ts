/**
 * How long an honest first sync waits next to four trees without end: `npx tsx test/long/endless.ts [ENDLESS]` (4). A WebDAV
 * server with two folders and a file in every folder, a bucket that always names another page of 1,000 objects, a site whose
 * pages lead to two new ones each, and an MCP server with ever new cursors; more of them in turn. After 20 seconds a folder of
 * 50 files is asked for, three times, as a person does and as a schedule does. Prints what each waited for its first item and
 * for its end, and the longest pause of the main thread. Exits with 1 when a first item took longer than 10 seconds. The
 * engine, its writer and its extractors are those of the program.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findSpawnEntry } from "#core/spawn.ts";
import { makeExtractor } from "#extract/pool.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import { makeSyncWorker } from "#server/sync/worker/worker.ts";
import type { Source } from "#sources/contract.ts";
import { makeFilesystemSource } from "#sources/filesystem/index.ts";
import { makeSourceHttpPool } from "#sources/http/pool.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import { makeS3Source } from "#sources/s3/index.ts";
import { makeWebSource } from "#sources/web/index.ts";
import { makeWebdavSource } from "#sources/webdav/index.ts";
import { openDatabase } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { guardOf } from "../net/everywhere.ts";
import { makeConnector, WORKSPACE } from "../server/sync/harness.ts";
import { makeSyncBytes } from "../spool.ts";

const [BEFORE_MS, FILES, MOST_WAIT_MS] = [20_000, 50, 10_000];
const KINDS = ["webdav", "s3", "web", "mcp"] as const;
type Kind = (typeof KINDS)[number];

if (process.argv[2] === "--serve") serveEndless();
else process.exitCode = (await measure(Number(process.argv[2] ?? 4))) ? 0 : 1;

function serveEndless(): void {
  const server = createServer((request, response) => answer(request, response));
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}

function answer({ url = "/" }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
  const [, kind, ...names] = pathname.split("/");
  if (kind === "dav") return answerDav(pathname, response);
  if (kind === "files" && searchParams.has("list-type")) return answerBucket(searchParams, response);
  if (kind === "site") return answerSite(Number(names[0] || 1), response);
  if (kind === "files") return void response.writeHead(200, { etag: '"x"' }).end(`text of ${pathname}`);
  response.writeHead(404).end();
}

function answerDav(pathname: string, response: ServerResponse): void {
  if (pathname.endsWith(".md")) return void response.writeHead(200).end(`text of ${pathname}`);
  const of = (path: string, type: string) =>
    `<d:response><d:href>${path}</d:href><d:propstat><d:prop>${type}<d:getetag>"1"</d:getetag></d:prop>
    <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
  const folder = "<d:resourcetype><d:collection/></d:resourcetype>";
  const all = [
    of(pathname, folder),
    of(`${pathname}a.md`, ""),
    of(`${pathname}x/`, folder),
    of(`${pathname}y/`, folder),
  ];
  const body = `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${all.join("")}</d:multistatus>`;
  response.writeHead(207, { "content-type": "application/xml" }).end(body);
}

function answerBucket(query: URLSearchParams, response: ServerResponse): void {
  const from = Number(query.get("continuation-token") ?? query.get("start-after")?.slice(1) ?? 0);
  const contents = Array.from({ length: 1_000 }, (_, i) => {
    const key = `k${String(from + i + 1).padStart(12, "0")}`;
    return `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>30</Size><StorageClass>STANDARD</StorageClass></Contents>`;
  });
  const next = `<NextContinuationToken>${from + 1_000}</NextContinuationToken>`;
  const body = `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>${next}${contents.join("")}</ListBucketResult>`;
  response.writeHead(200, { "content-type": "application/xml" }).end(body);
}

function answerSite(page: number, response: ServerResponse): void {
  const links = [page * 2, page * 2 + 1].map((to) => `<a href="/site/${to}">page ${to}</a>`);
  const body = `<html><head><title>Page ${page}</title></head><body><p>text of page ${page}</p>${links.join(" ")}</body></html>`;
  response.writeHead(200, { "content-type": "text/html" }).end(body);
}

/** A session of an MCP server, without the wire. */
function makeSession() {
  const page = async (cursor = "0") => {
    await wait(20);
    const items = Array.from({ length: 50 }, (_, i) => ({
      uri: `note:///${cursor}/${i}`,
      name: `Note ${cursor} ${i}`,
    }));
    return { items, leftOut: 0, nextCursor: String(Number(cursor) + 1) };
  };
  return {
    capabilities: { resources: true, tools: false, listChanged: false, subscribe: false },
    listResources: page,
    readResource: async (uri: string) => [{ type: "text", uri, text: `text of ${uri}` }],
    listResourceTemplates: async () => ({ items: [], leftOut: 0 }),
    close: async () => undefined,
  };
}

async function startServer(): Promise<{ origin: string; stop(): void }> {
  const file = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, ["--import", "tsx", file, "--serve"], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<string>((resolve) =>
    child.stdout.once("data", (data) => resolve(String(data).trim())),
  );
  return { origin: `http://127.0.0.1:${port}`, stop: () => void child.kill() };
}

async function openEngine(dir: string) {
  const database = await openDatabase({ file: join(dir, "kb.db"), writerEntry: findSpawnEntry("writer") });
  const store = makeStore(database);
  const workspace = { workspaceId: WORKSPACE, name: "Acme", timeZone: "UTC", createdAt: Date.now() };
  await database.write.insertInto("workspaces").values(workspace).execute();
  const info = (fields: Record<string, unknown>, message: string) => {
    if (fields["error"] !== undefined) complain(fields, message);
  };
  const log = { debug() {}, info, warn: complain, error: complain };
  const childPath = findSpawnEntry("extractor");
  const extractor = makeExtractor({ childPath, now: () => performance.now(), analyze: analyzeDocument, log });
  const judge = async ({ host, port }: { host: string; port: number }) =>
    ({ host, port, address: "127.0.0.1", family: 4, isListed: true }) as const;
  const http = makeSourceHttpPool({ guard: guardOf(judge), now: () => Date.now() });
  const sources: Readonly<Record<string, unknown>> = {
    webdav: makeWebdavSource(),
    s3: makeS3Source(),
    web: makeWebSource({ limits: { perMinute: 600_000 } }),
    mcp: makeMcpSource(),
    filesystem: makeFilesystemSource({ allowedRoots: async () => [dir], dataFolder: join(dir, "data") }),
  };
  const worker = makeSyncWorker({
    store,
    findSource: (providerId) => sources[providerId] as Source | undefined,
    extractor,
    analyze: analyzeDocument,
    loadAuthority: async (_workspaceId, _source, { connectorId }) => ({ connectorId, named: { has: () => true } }),
    withoutUnknownPeople: (item) => item,
    keepsSecrets: async () => false,
    // What the source takes of a session is all there.
    credentialsOf: async (_workspaceId, { providerId }) => ({
      credentials: providerId === "s3" ? { accessKeyId: "AKIA", secretAccessKey: "secret" } : {},
      ...(providerId === "mcp" && { mcp: { open: async () => makeSession(), mapping: undefined } as never }),
    }),
    ...makeSyncBytes(),
    http,
    now: () => Date.now(),
    randomBytes,
    sleep: (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined),
    log,
    faults: { note: (error, about) => complain({ ...about, error }, "A mistake of kb") },
  });
  return {
    store,
    database,
    worker,
    async close() {
      await worker.stop();
      http.close();
      await extractor.close();
      await database.close();
    },
  };
}

type Engine = Awaited<ReturnType<typeof openEngine>>;

function configOf(kind: Kind, origin: string): Record<string, unknown> {
  switch (kind) {
    case "webdav":
      return { url: `${origin}/dav/` };
    case "s3":
      return { endpoint: origin, bucket: "files" };
    case "web":
      return { url: `${origin}/site/`, mode: "crawl", maxPages: 50_000, maxDepth: 50 };
    case "mcp":
      return {};
  }
}

function idOf(n: number): string {
  const letters = String(n).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
  return `con_${letters.padStart(16, "2")}`;
}

async function ask(
  { store, worker }: Engine,
  n: number,
  providerId: string,
  { config, trigger }: { config: Record<string, unknown>; trigger: "manual" | "schedule" },
): Promise<{ connectorId: string; syncId: string }> {
  const connectorId = idOf(n);
  const connector = makeConnector(Date.now(), { connectorId, providerId, name: `${providerId} ${n}`, config });
  await store.in(WORKSPACE).connectors.create(connector);
  const wish = { trigger, now: Date.now(), randomBytes } as const;
  const { syncId } = await store.transaction((tx) => requestSync(tx, WORKSPACE, connector, wish));
  worker.wake();
  return { connectorId, syncId };
}

/** Milliseconds until the first item is stored, and until the run is over. */
async function timesOf({ store, database }: Engine, { connectorId, syncId }: { connectorId: string; syncId: string }) {
  const from = performance.now();
  let first: number | undefined;
  for (;;) {
    const row = await database.read
      .selectFrom("items")
      .select("kbId")
      .where("connectorId", "=", connectorId)
      .limit(1)
      .execute();
    if (row.length > 0) first ??= performance.now() - from;
    const sync = await store.in(WORKSPACE).syncs.find(syncId);
    const isOver = sync?.finishedAt !== null;
    if (isOver || performance.now() - from > 180_000)
      return { first: first ?? Infinity, end: isOver ? performance.now() - from : Infinity, state: sync?.state };
    await wait(50);
  }
}

async function measure(endless: number): Promise<boolean> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "kb-endless-")));
  const server = await startServer();
  const engine = await openEngine(dir);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  let isWell = true;
  try {
    const kinds = Array.from({ length: endless }, (_, i) => KINDS[i % KINDS.length] ?? "webdav");
    for (const [n, kind] of kinds.entries())
      await ask(engine, n + 10, kind, { config: configOf(kind, server.origin), trigger: "manual" });
    engine.worker.start();
    await wait(BEFORE_MS);
    delay.enable();
    for (const trigger of ["manual", "schedule"] as const) {
      for (let round = 0; round < 3; round++) {
        const n = 100 + round + (trigger === "manual" ? 0 : 10);
        const root = join(dir, `honest-${n}`);
        mkdirSync(root);
        for (let i = 0; i < FILES; i++) writeFileSync(join(root, `${i}.md`), `text ${i} of ${n}`);
        const { first, end, state } = await timesOf(
          engine,
          await ask(engine, n, "filesystem", { config: { root }, trigger }),
        );
        isWell &&= first <= MOST_WAIT_MS;
        say(`${trigger} ${round + 1}: first item after ${seconds(first)} s, over after ${seconds(end)} s (${state})`);
      }
    }
    say(
      `main thread: longest pause ${(delay.max / 1e6).toFixed(0)} ms, p99 ${(delay.percentile(99) / 1e6).toFixed(0)} ms`,
    );
    for (const [n, kind] of kinds.entries()) {
      const connectorId = idOf(n + 10);
      const [sync] = await engine.store.in(WORKSPACE).syncs.list(connectorId, 1);
      say(`${kind}: ${sync?.state}, ${sync?.progress.done} items, ${sync?.problem?.message ?? ""}`);
    }
    return isWell;
  } finally {
    await engine.close();
    server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}

function complain(fields: Record<string, unknown>, message: string): void {
  const text = (key: string, value: unknown) => (key === "error" && value instanceof Error ? value.stack : value);
  process.stderr.write(`${message} ${JSON.stringify(fields, text)}\n`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
