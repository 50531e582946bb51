import { scripted } from "../../scripted.ts";
import { inMemory, makeSyncBytes } from "../../spool.ts";
import { createHash } from "node:crypto";
import { z } from "zod";
import { analyzeDocument } from "#text/analyzer.ts";
import type { Database, DatabaseOptions } from "#storage/database/db.ts";
import type { Log } from "#core/log.ts";
import type { Extractor } from "#extract/extractor.ts";
import type { Scope } from "#core/scope.ts";
import type { SyncContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import type { SyncDeps } from "#server/sync/deps.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import type { Sleep } from "#core/clock.ts";
import { makeSyncWorker, type SyncWorker, type WorkerOptions } from "#server/sync/worker/worker.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncMode, SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/records/store.ts";
import { openTestStore } from "../../helpers.ts";
import { NO_HTTP_POOL } from "../../network.ts";

export const WORKSPACE = "wsp_2222222222222222";
export const CONNECTOR = "con_2222222222222222";
const OWNER = "usr_2222222222222222";

/** The script of a fake source: what it says in each run. Throwing an `Error` in it ends the run there. */
export type ScriptRun = SyncRequest & Pick<SyncContext<unknown>, "stored" | "state">;
export type Script = (run: ScriptRun, signal: AbortSignal) => Iterable<SyncEvent> | AsyncIterable<SyncEvent>;

export interface Harness {
  database: Database;
  store: Store;
  clock: { now: number };
  source: Source;
  worker: SyncWorker;
  /** Makes a worker of its own on the same store. */
  makeWorker(overrides?: Partial<WorkerOptions>): SyncWorker;
  request(mode?: SyncMode, items?: string[]): Promise<SyncRecord>;
  /** Requests a run and does it; gives the run's record afterwards. */
  sync(mode?: SyncMode): Promise<SyncRecord>;
  connector(): Promise<ConnectorRecord>;
  items(): Promise<StoredRow[]>;
  /** The end state, as the kill tests compare it. */
  digest(): Promise<string>;
}

export interface StoredRow {
  kbId: string;
  externalId: string;
  title: string;
  version: string | null;
  indexState: string;
  textReason: string | null;
  aclId: number;
  textHash: string | null;
  removedAt: number | null;
}

/** A store with one workspace and one connector, whose source says what `script` says. */
export async function makeHarness(
  script: Script,
  overrides: Partial<SyncDeps> = {},
  options: Pick<DatabaseOptions, "inline"> = {},
): Promise<Harness> {
  const { database, store } = await openTestStore(options);
  const clock = { now: 1_800_000_000_000 };
  await seed(database, store, clock.now);
  const source = fakeSource(script);
  let drawn = 0;
  const deps: SyncDeps = {
    store,
    findSource: () => source,
    extractor: fakeExtractor,
    analyze: analyzeDocument,
    loadAuthority: async () => ({ connectorId: CONNECTOR, named: { has: () => true } }),
    withoutUnknownPeople: (item) => item,
    keepsSecrets: async () => false,
    http: NO_HTTP_POOL,
    ...makeSyncBytes(),
    now: () => clock.now,
    // Different every time and the same in every test run.
    randomBytes: (count) => createHash("sha256").update(String(drawn++)).digest().subarray(0, count),
    log: quiet,
    ...overrides,
  };
  const makeWorker = (more: Partial<WorkerOptions> = {}) => makeSyncWorker({ ...deps, ...more, sleep: untilAborted });
  const worker = makeWorker();
  const connector = async () => {
    const found = await store.in(WORKSPACE).connectors.find(CONNECTOR);
    if (!found) throw new Error("The connector is gone.");
    return found;
  };
  const request = async (mode?: SyncMode, items?: string[]) => {
    const wish = { trigger: "manual" as const, now: clock.now, randomBytes: deps.randomBytes };
    const found = await connector();
    return store.transaction((tx) =>
      requestSync(tx, WORKSPACE, found, { ...wish, ...(mode && { mode }), ...(items && { items }) }),
    );
  };
  return {
    database,
    store,
    clock,
    source,
    worker,
    makeWorker,
    request,
    connector,
    async sync(mode) {
      const { syncId } = await request(mode);
      await worker.runUntilIdle();
      const sync = await store.in(WORKSPACE).syncs.find(syncId);
      if (!sync) throw new Error("The sync is gone.");
      return sync;
    },
    items: () => storedRows(database),
    digest: async () => digestOf(database),
  };
}

/** An item with this text and version, open to the workspace unless told. */
export function item(externalId: string, text: string, more: Partial<SourceItem> = {}): SourceItem {
  return {
    externalId,
    kind: "file",
    title: externalId,
    version: createHash("sha256").update(text).digest("hex").slice(0, 8),
    content: { type: "inline", text },
    access: { known: true, all: [["workspace"]] },
    ...more,
  };
}

export function upsert(externalId: string, text: string, more: Partial<SourceItem> = {}): SyncEvent {
  return { t: "upsert", item: item(externalId, text, more) };
}

export const end = (complete = true): SyncEvent => ({
  t: "end",
  listing: complete ? "complete" : "partial",
  permissions: complete ? "current" : "not_checked",
});

/** A source that lists a folder-like set of items: unchanged ones are only seen. */
export function listing(
  items: () => SourceItem[],
): (run: Pick<SyncContext<unknown>, "stored">) => AsyncIterable<SyncEvent> {
  return async function* ({ stored }) {
    for (const each of items()) {
      if (each.version !== undefined && (await stored.version(each.externalId)) === each.version) {
        yield { t: "seen", externalIds: [each.externalId] };
      } else {
        yield { t: "upsert", item: each };
      }
    }
    yield { t: "end", listing: "complete", permissions: "current" };
  };
}

export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Time does not pass by itself: only an abort wakes. */
export const untilAborted: Sleep = (_ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Bytes are UTF-8 text; those that begin with "FAIL" can't be read, "LATER" may be another time, "BOMB" is too large. */
export const fakeExtractor: Pick<Extractor, "extract"> = {
  async extract({ bytes, title, path, labels, mimeType = "text/plain" }) {
    const text = new TextDecoder().decode(inMemory(bytes));
    const fields = { title, path, labels, text };
    if (text.startsWith("FAIL") || text.startsWith("LATER")) {
      const analyzed = analyzeDocument({ ...fields, text: "" });
      const retryable = text.startsWith("LATER");
      const why = { state: "no_text", reason: "failed", message: "Broken.", mimeType, retryable } as const;
      return { ...why, reader: retryable ? null : mimeType, analyzed };
    }
    if (text.startsWith("BOMB")) {
      const why = { state: "no_text", reason: "too_large", message: "It unpacks to too much.", mimeType } as const;
      return { ...why, reader: mimeType, retryable: false, analyzed: analyzeDocument({ ...fields, text: "" }) };
    }
    const analyzed = analyzeDocument(fields);
    const read = { state: "ok", text, mimeType, reader: mimeType } as const;
    return { ...read, sections: [], properties: {}, maskedSecrets: 0, analyzed };
  },
};

function fakeSource(script: Script): Source {
  return {
    spec: {
      providerId: "fake",
      name: "Fake",
      kinds: ["file"],
      auth: [{ type: "none" }],
      config: z.strictObject({}),
      acl: "per_item",
      hasLastingContent: true,
    },
    check: async () => ({ ok: true }),
    sessions: scripted(async function* (ctx, run) {
      yield* script({ ...run, stored: ctx.stored, state: ctx.state }, ctx.signal);
    }),
    inScope: (scope: Scope, { externalId }) => !scope.exclude.some((prefix) => externalId.startsWith(prefix)),
    fetchContent: async (_ctx, { externalId }) => ({
      bytes: new TextEncoder().encode(`bytes of ${externalId}`),
      fileName: externalId,
    }),
  };
}

async function seed(database: Database, store: Store, now: number): Promise<void> {
  const workspace = { workspaceId: WORKSPACE, name: "Acme", timeZone: "UTC", createdAt: now };
  await database.write.insertInto("workspaces").values(workspace).execute();
  await store.in(WORKSPACE).connectors.create(makeConnector(now));
}

export function makeConnector(now: number, more: Partial<ConnectorRecord> = {}): ConnectorRecord {
  return {
    connectorId: CONNECTOR,
    providerId: "fake",
    name: "Things",
    ownerUserId: OWNER,
    visibility: "private",
    memberIds: [],
    groupIds: [],
    config: {},
    scope: { include: [], exclude: [] },
    scopeVersion: 1,
    accountId: null,
    connectionId: null,
    everyMinutes: null,
    state: "active",
    stateReason: null,
    nextRunAt: null,
    cursor: null,
    consecutiveFailures: 0,
    aclCheckedAt: null,
    lastFullAt: null,
    refusedAt: null,
    proofTriedAt: null,
    pausedBy: null,
    withheldAt: null,
    ownedSince: 0,
    createdAt: now,
    createdBy: OWNER,
    ...more,
  };
}

function storedRows(database: Database): Promise<StoredRow[]> {
  return database.read
    .selectFrom("items")
    .select(["kbId", "externalId", "title", "version", "indexState", "textReason", "aclId", "textHash", "removedAt"])
    .orderBy("externalId")
    .execute();
}

/** (externalId, version, state, reason, access, text hash), the stored text and the index's documents. */
export async function digestOf(database: Database): Promise<string> {
  const hash = createHash("sha256");
  const lists = new Map<number, string>();
  for (const row of await database.read.selectFrom("access_lists").select(["listId", "principals"]).execute()) {
    lists.set(row.listId, row.principals);
  }
  const accesses = new Map<number, string>();
  for (const row of await database.read.selectFrom("accesses").select(["aclId", "listIds"]).execute()) {
    const names = row.listIds.split(",").map((id) => lists.get(Number(id)) ?? "?");
    accesses.set(row.aclId, names.sort().join(" & "));
  }
  for (const row of await storedRows(database)) {
    const { externalId, version, indexState, textReason, aclId, textHash, removedAt, kbId } = row;
    const texts = await database.read
      .selectFrom("item_texts")
      .select("text")
      .where("workspaceId", "=", WORKSPACE)
      .where("kbId", "=", kbId)
      .orderBy("chunk")
      .execute();
    const entities = await database.read
      .selectFrom("item_entities")
      .select(["entityId", "role"])
      .where("workspaceId", "=", WORKSPACE)
      .where("kbId", "=", kbId)
      .orderBy("entityId")
      .execute();
    const text = texts.map((chunk) => chunk.text).join("");
    hash.update(
      JSON.stringify([
        externalId,
        version,
        indexState,
        textReason,
        accesses.get(aclId) ?? "nobody",
        textHash,
        removedAt !== null,
        text,
        entities,
      ]),
    );
  }
  return hash.digest("hex");
}

/** The store, whose batches fail once `mayApply` says no. */
export function withBatches(store: Store, mayApply: () => boolean): Store {
  const refuse = () => Promise.reject(new Error("The disk is full."));
  return wrap(store, "in", (workspaceId: string) => {
    const inner = store.in(workspaceId);
    const { itemWrites } = inner;
    const applyBatch: typeof itemWrites.applyBatch = (batch) => (mayApply() ? itemWrites.applyBatch(batch) : refuse());
    return wrap(inner, "itemWrites", wrap(itemWrites, "applyBatch", applyBatch));
  });
}

function wrap<T extends object, K extends keyof T>(target: T, name: K, value: T[K]): T {
  return new Proxy(target, { get: (from, key) => (key === name ? value : Reflect.get(from, key)) });
}
