import { isLoopbackHost } from "#api/server-url.ts";
import type { Sleep } from "#core/clock.ts";
import type { FaultLog } from "#core/faults.ts";
import { pooledBytes } from "#core/pooled-bytes.ts";
import type { Spool } from "#core/spool.ts";
import type { Extractor } from "#extract/extractor.ts";
import { endLapsedFound } from "#server/accounts/connect.ts";
import { withoutUnknownPeople, findInstance, loadAuthority } from "#server/connectors/authority.ts";
import { makeCredentialKeeper } from "#server/connectors/credentials.ts";
import type { ConnectorDeps } from "#server/connectors/deps.ts";
import { judgeAct } from "#server/connectors/judge.ts";
import { makeOfferedSecrets } from "#server/connectors/offered-secrets.ts";
import { makePeopleLinks } from "#server/connectors/people-links.ts";
import type { PeopleDeps } from "#server/connectors/people.ts";
import type { PushDeps, PushOnlyDeps } from "#server/connectors/push-deps.ts";
import { makeWebhookSecrets } from "#server/connectors/webhook-secrets.ts";
import { webhookUrl } from "#server/connectors/webhooks.ts";
import type { Emit } from "#server/events/outbox.ts";
import { endLapsedConnection } from "#server/provider-servers/arrive.ts";
import { probeServer } from "#server/provider-servers/health.ts";
import type { SearchGate } from "#server/search/gate.ts";
import { type ByteBudget, makeByteBudget } from "#server/sync/bytes/byte-budget.ts";
import { makeByteGate } from "#server/sync/bytes/byte-gate.ts";
import { makeRoom } from "#server/sync/bytes/room.ts";
import { makeItemPreparer, makeSyncControl } from "#server/sync/control/control.ts";
import type { Subscribing } from "#server/sync/deps.ts";
import { makeSourceWatcher } from "#server/sync/watch/source-watcher.ts";
import { makeWatchTries } from "#server/sync/watch/watch-tries.ts";
import { makeWebhookReceiver } from "#server/sync/webhooks/receiver.ts";
import { makeKeepsSecrets } from "#server/sync/worker/secrets-setting.ts";
import { makeSyncWorker, type WorkerOptions } from "#server/sync/worker/worker.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceHttpPool } from "#sources/http/pool.ts";
import { readPushDocument } from "#sources/push/document.ts";
import { parsePushLines } from "#sources/push/lines.ts";
import type { SourceRegistry } from "#sources/registry.ts";
import type { Policy } from "#storage/policy/policy.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import type { Accounts } from "./accounts.ts";
import type { Foundation } from "./foundation.ts";
import type { Identity } from "./identity.ts";
import type { Kinds } from "./kinds.ts";
import type { ProviderServers } from "./provider-servers.ts";

/** External dependencies of connectors and their syncs. */
export interface SyncAdapters {
  extractor: Extractor;
  /** Storage for the bytes of large files. */
  spool: Spool;
  /** Maximum bytes of extracted text in memory at once, over all syncs and pushes; 256 MB by default. */
  syncBytes?: number;
  sources: Pick<SourceRegistry, "find" | "list">;
  sleep: Sleep;
  /** Maximum concurrent syncs. If absent, the worker uses its default. */
  workers?: number;
}

/** The services that connectors depend on. */
export interface BelowConnectors {
  kinds: Kinds;
  policy: Policy;
  http: SourceHttpPool;
  accounts: Accounts;
  providers: ProviderServers;
  emit: Emit;
  gate: SearchGate;
  faults: FaultLog;
  syncs: ReturnType<typeof makeSyncControl>;
}

/**
 * Maximum bytes of pushed documents that are read at once: two of the largest documents. Most of the bytes are written
 * to disk.
 */
const PUSHED_BYTES_AT_ONCE = 100 * 1024 * 1024;

const SYNC_BYTES = 256 * 1024 * 1024;

/**
 * Number of files that a run reads and extracts at once. It keeps two child processes busy with small files that are
 * sent ahead.
 */
const FILES_AT_ONCE = 16;

/** Builds the services that request syncs. The worker that runs the syncs subscribes to the signals later. */
export function makeSyncs(
  { store, clock, randomBytes, settings }: Foundation,
  { syncSignals: signals }: Pick<Identity, "syncSignals">,
) {
  return makeSyncControl({ store, now: () => clock.now(), randomBytes, loadAuthority: authorityBy(settings), signals });
}

/** Builds connectors, the worker that syncs them, and the services that notify the worker of changes. */
export function makeConnectors(
  foundation: Foundation,
  identity: Pick<Identity, "audit" | "quotas" | "cursors">,
  adapters: SyncAdapters,
  below: BelowConnectors,
) {
  const { store, clock, log, randomBytes, vault } = foundation;
  const { http, accounts, providers } = below;
  const now = () => clock.now();
  const webhookSecrets = makeWebhookSecrets({ store, vault, randomBytes, log });
  const offeredSecrets = makeOfferedSecrets({ webhookSecrets, now });
  const credentials = makeCredentialKeeper({
    store,
    vault,
    accounts: accounts.forConnectors,
    connections: providers.sessions,
    now,
  });
  const keeping = {
    credentials,
    webhookSecrets,
    offeredSecrets,
    budget: makeByteBudget(adapters.syncBytes ?? SYNC_BYTES),
    keepsSecrets: makeKeepsSecrets(store, now),
    itemBytes: pooledBytes(randomBytes),
    tries: makeWatchTries(now),
  };
  const worker = makeWorker(foundation, identity, adapters, below, keeping);
  return {
    worker,
    sourceWatcher: makeSourceWatcher({
      store,
      findSource: (providerId) => adapters.sources.find(providerId),
      providerIds: below.kinds.watched,
      credentialsOf: credentials.credentialsOf,
      http,
      now,
      randomBytes,
      sleep: adapters.sleep,
      log,
      tries: keeping.tries,
      wake: worker.wake,
    }),
    webhooks: makeWebhooks(foundation, adapters, below, keeping),
    connectorDeps: makeConnectorDeps(foundation, identity, adapters, below, keeping),
  };
}

interface Keeping {
  credentials: ReturnType<typeof makeCredentialKeeper>;
  webhookSecrets: ReturnType<typeof makeWebhookSecrets>;
  offeredSecrets: ReturnType<typeof makeOfferedSecrets>;
  budget: ByteBudget;
  keepsSecrets: ReturnType<typeof makeKeepsSecrets>;
  itemBytes: WorkerOptions["randomBytes"];
  tries: ReturnType<typeof makeWatchTries>;
}

function authorityBy({ instances }: Foundation["settings"]) {
  return async (workspace: WorkspaceStore, source: Source, connector: ConnectorRecord) => {
    const instance = await findInstance(workspace, source, connector, instances);
    return loadAuthority(workspace, source, connector, instance);
  };
}

function makeWorker(
  foundation: Foundation,
  { audit, quotas }: Pick<Identity, "audit" | "quotas">,
  { extractor, sources, sleep, spool, workers }: SyncAdapters,
  { kinds, http, accounts, providers, emit, gate, faults }: BelowConnectors,
  { credentials, webhookSecrets, budget, keepsSecrets, itemBytes }: Keeping,
) {
  const { store, clock, log, settings } = foundation;
  const { accountDeps, once, upkeep } = accounts;
  const { serverDeps } = providers;
  const authorityOf = authorityBy(settings);
  return makeSyncWorker({
    store,
    faults,
    emit,
    findSource: (providerId) => sources.find(providerId),
    extractor,
    analyze: analyzeDocument,
    loadAuthority: (workspaceId, source, connector) => authorityOf(store.in(workspaceId), source, connector),
    withoutUnknownPeople,
    people: makePeopleLinks({ store, sources, credentials, audit, clock, instances: settings.instances }),
    keepsSecrets,
    quotas,
    credentialsOf: credentials.credentialsOf,
    keepAccount: upkeep,
    endLapsedFlow: (flowHash) =>
      once.endLapsed(flowHash, (flow) =>
        flow.stage === "found" ? endLapsedFound(accountDeps, flow) : endLapsedConnection(serverDeps, flow),
      ),
    probeServer: (workspaceId, serverId) => probeServer(serverDeps, workspaceId, serverId),
    subscribing: subscribingOf(foundation, kinds, webhookSecrets),
    http,
    spool,
    budget,
    now: () => clock.now(),
    randomBytes: itemBytes,
    sleep,
    log,
    parallel: FILES_AT_ONCE,
    waitForGap: gate.waitForGap,
    ...(workers !== undefined && { concurrency: workers }),
  });
}

function subscribingOf(
  { clock, settings: { baseUrl } }: Foundation,
  kinds: Kinds,
  webhookSecrets: Keeping["webhookSecrets"],
): Subscribing {
  return {
    // Providers can't reach a server at a loopback address.
    providerIds: isLoopbackHost(new URL(baseUrl).hostname) ? [] : kinds.subscribing,
    urlOf: ({ providerId, connectorId }) => webhookUrl(baseUrl, providerId, connectorId),
    secretFor: (workspaceId, connectorId) => webhookSecrets.ensure(workspaceId, connectorId, clock.now()),
  };
}

function makeWebhooks(
  { store, clock, log, randomBytes, settings }: Foundation,
  { sources }: SyncAdapters,
  { kinds }: BelowConnectors,
  { webhookSecrets, offeredSecrets }: Keeping,
) {
  for (const providerId of Object.keys(settings.webhookSecrets)) {
    if (kinds.notified.has(providerId)) continue;
    log.warn({ providerId }, "a webhook secret is set for a source that has no webhook");
  }
  return makeWebhookReceiver({
    store,
    findSource: (providerId) => sources.find(providerId),
    secretOf: webhookSecrets.find,
    takeSecret: offeredSecrets.offer,
    appSecrets: settings.webhookSecrets,
    now: () => clock.now(),
    randomBytes,
    log,
  });
}

function makeConnectorDeps(
  foundation: Foundation,
  { audit, quotas, cursors }: Pick<Identity, "audit" | "quotas" | "cursors">,
  adapters: SyncAdapters,
  below: BelowConnectors,
  { credentials, webhookSecrets, offeredSecrets, tries, ...keeping }: Keeping,
): PushDeps & PeopleDeps {
  const { store, clock, log, randomBytes, settings } = foundation;
  const { policy, http, syncs, accounts, providers } = below;
  const deps: ConnectorDeps = {
    store,
    webhookSecrets,
    offeredSecrets,
    baseUrl: settings.baseUrl,
    sources: adapters.sources,
    syncs,
    judgeAct,
    credentials,
    accounts: accounts.forConnectors,
    connections: providers.sessions,
    http,
    policy,
    audit,
    quotas,
    cursors,
    watchFault: tries.find,
    clock,
    randomBytes,
    log,
    sleep: adapters.sleep,
  };
  return { ...deps, instances: settings.instances, ...makePushDeps(foundation, adapters, below, keeping) };
}

function makePushDeps(
  { store, clock }: Foundation,
  { extractor, spool }: SyncAdapters,
  { faults }: BelowConnectors,
  { budget, keepsSecrets, itemBytes }: Pick<Keeping, "budget" | "keepsSecrets" | "itemBytes">,
): PushOnlyDeps {
  return {
    readLines: parsePushLines,
    readDocument: (stream, options) => readPushDocument(stream, { ...options, spool }),
    documentGate: makeByteGate(PUSHED_BYTES_AT_ONCE),
    openRoom(asker, signal) {
      const line = budget.open(asker);
      return { ...makeRoom(line.take(), signal), close: line.close };
    },
    prepareItem: makeItemPreparer({
      store,
      extractor,
      analyze: analyzeDocument,
      keepsSecrets,
      faults,
      now: () => clock.now(),
      randomBytes: itemBytes,
    }),
  };
}
