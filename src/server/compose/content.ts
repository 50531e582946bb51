import { isLoopbackHost } from "#api/server-url.ts";
import { makePolicy, type Policy } from "#storage/access/policy.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { claimStrangers, findInstance, loadAuthority } from "#server/connectors/authority.ts";
import { makeCredentialKeeper } from "#server/connectors/credentials.ts";
import { judgeAct } from "#server/connectors/judge.ts";
import { connectorNotes } from "#server/connectors/notes.ts";
import { makeOriginalFetcher } from "#server/connectors/original.ts";
import { webhookUrl } from "#server/connectors/webhooks.ts";
import type { PeopleDeps } from "#server/connectors/people.ts";
import { makePeopleLinks } from "#server/connectors/people-links.ts";
import { makeOfferedSecrets } from "#server/connectors/offered-secrets.ts";
import { makeWebhookSecrets } from "#server/connectors/webhook-secrets.ts";
import { linksOf } from "#server/connectors/sources.ts";
import type { PushDeps } from "#server/connectors/push-deps.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Foundation } from "./foundation.ts";
import type { Identity } from "./identity.ts";
import { makeAccounts } from "./accounts.ts";
import { makeEvents } from "./events.ts";
import { makeProviderServers } from "./provider-servers.ts";
import { giveBackLeft } from "#server/provider-servers/give-back.ts";
import { endLapsedConnection } from "#server/provider-servers/arrive.ts";
import { endLapsedFound } from "#server/accounts/connect.ts";
import { probeServer } from "#server/provider-servers/health.ts";
import type { OpenMcp } from "#server/provider-servers/deps.ts";
import { makeLiveSearch } from "#server/provider-servers/live.ts";
import { makeEntityFinder } from "#server/entities/finder.ts";
import { makeEntityService } from "#server/entities/service.ts";
import { makeFileService, type FileService } from "#server/files/service.ts";
import { makeTools } from "#server/mcp/tools.ts";
import type { EntityFinder, EntityService } from "#server/entities/types.ts";
import type { SearchService } from "#server/search/types.ts";
import type { Extractor } from "#extract/extractor.ts";
import type { Spool } from "#core/spool.ts";
import { makeFaultLog } from "#core/faults.ts";
import { pooledBytes } from "#core/pooled-bytes.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { WorkspaceStore } from "#storage/store.ts";
import type { SearchIndex } from "#storage/search-index.ts";
import { gatedEntities, gatedFiles, gatedSearch, makeSearchGate } from "#server/search/gate.ts";
import { searchWithLive } from "#server/search/live.ts";
import { makeSearchService } from "#server/search/service.ts";
import { readPushDocument } from "#sources/push/document.ts";
import { parsePushLines } from "#sources/push/lines.ts";
import { makeSourceHttpPool, type SourceHttpOptions } from "#sources/http.ts";
import type { SourceRegistry } from "#sources/registry.ts";
import { makeByteBudget } from "#server/sync/bytes/byte-budget.ts";
import { makeByteGate } from "#server/sync/bytes/byte-gate.ts";
import { makeRoom } from "#server/sync/bytes/room.ts";
import { makeItemPreparer, makeSyncControl } from "#server/sync/control/control.ts";
import { makeChildOpener } from "#server/sync/items/open-child.ts";
import { doubtEverything } from "#server/sync/control/after-restore.ts";
import { makeWatchTries } from "#server/sync/watch/watch-tries.ts";
import { makeSourceWatcher } from "#server/sync/watch/source-watcher.ts";
import { makeKeepsSecrets } from "#server/sync/worker/secrets-setting.ts";
import { makeWebhookReceiver } from "#server/sync/webhooks/receiver.ts";
import type { Sleep } from "#core/clock.ts";
import { makeSyncWorker } from "#server/sync/worker/worker.ts";

/** External dependencies of the content services. */
export interface ContentAdapters {
  index: SearchIndex;
  extractor: Extractor;
  /** Storage for the bytes of large files. */
  spool: Spool;
  /** Limit for the bytes of files' texts held at once, over all syncs and pushes; 256 MB by default. */
  syncBytes?: number;
  sources: Pick<SourceRegistry, "find" | "list">;
  sleep: Sleep;
  /** Opens sessions with provider servers. */
  openMcp: OpenMcp;
  /** How requests to providers wait for their turn and before a retry; real time by default. */
  requestSleep?: SourceHttpOptions["sleep"];
  /** Concurrent syncs; the worker's own default if absent. */
  workers?: number;
}

/** Content: connectors, syncs, items, search, entities, tools. */
export type Content = Awaited<ReturnType<typeof makeContent>>;

/** The services that answer queries, on which others are built. */
export interface AnsweringServices {
  policy: Policy;
  connectorNotes(actor: Actor): Promise<string[]>;
  files: FileService;
  search: SearchService;
  entities: EntityService;
  index: SearchIndex;
  finder: EntityFinder;
}

/** Wraps each service as it is made; all others get the wrapped one. For measurements and tests. */
export type ServiceDecorator = <Name extends keyof AnsweringServices>(
  name: Name,
  service: AnsweringServices[Name],
) => AnsweringServices[Name];

const UNDECORATED: ServiceDecorator = (_name, service) => service;

/** Limit for the bytes of pushed documents read at once, most of them to disk: two of the largest. */
const PUSHED_BYTES_AT_ONCE = 100 * 1024 * 1024;

const SYNC_BYTES = 256 * 1024 * 1024;

/** Files read and extracted at once in a run: enough to keep two children busy with small files sent ahead. */
const FILES_AT_ONCE = 16;

/** Builds all content services on the given adapters; the only place that wires them together. */
export async function makeContent(
  foundation: Foundation,
  {
    cursors,
    audit,
    quotas,
    syncStops,
    afterwards,
    leftGrants,
  }: Pick<Identity, "cursors" | "audit" | "quotas" | "syncStops" | "afterwards" | "leftGrants">,
  adapters: ContentAdapters,
  decorate: ServiceDecorator = UNDECORATED,
) {
  const { store, clock, log, randomBytes, vault, settings, addressGuard } = foundation;
  const { baseUrl } = settings;
  const { extractor, sources, sleep, spool } = adapters;
  const index = decorate("index", adapters.index);
  const itemBytes = pooledBytes(randomBytes);
  const kinds = await sources.list();
  const withPeople = new Set(kinds.flatMap(({ spec }) => (spec.hasPeople === true ? [spec.providerId] : [])));
  const bySync = new Map(kinds.map(({ spec, sessions }) => [spec.providerId, sessions !== undefined]));
  const lasting = new Set(
    kinds.filter(({ spec, sessions }) => spec.acl === "connector" || !sessions).map(({ spec }) => spec.providerId),
  );
  const policy = decorate("policy", makePolicy({ store, clock, ages: (providerId) => !lasting.has(providerId) }));
  const now = () => clock.now();
  const hasItems = async () => {
    for (const { workspaceId } of await store.workspaces.list()) {
      if (!(await store.in(workspaceId).items.isEmpty())) return true;
    }
    return false;
  };
  const pace = adapters.requestSleep && { sleep: adapters.requestSleep };
  const http = makeSourceHttpPool({ guard: addressGuard, now, ...pace });
  const {
    accountDeps,
    once,
    upkeep,
    forConnectors: accounts,
  } = await makeAccounts(
    foundation,
    { audit },
    {
      http,
      sleep,
      wake: () => worker.wake(),
    },
  );
  const keepsSecrets = makeKeepsSecrets(store, now);
  const webhookSecrets = makeWebhookSecrets({ store, vault, randomBytes, log });
  const offeredSecrets = makeOfferedSecrets({ webhookSecrets, now });
  const authorityIn = async (workspace: WorkspaceStore, source: Source, connector: ConnectorRecord) => {
    const instance = await findInstance(workspace, source, connector, settings.instances);
    return loadAuthority(workspace, source, connector, instance);
  };
  const { emit, events, eventDelivery } = makeEvents(foundation, { audit, cursors }, { sleep });
  const providers = makeProviderServers(
    foundation,
    { audit, cursors },
    { openMcp: adapters.openMcp, afterwards, emit, http, once, sleep, connectorDeps: () => connectorDeps },
  );
  const credentials = makeCredentialKeeper({ store, vault, accounts, connections: providers.sessions, now });
  const gate = makeSearchGate({ clock });
  const budget = makeByteBudget(adapters.syncBytes ?? SYNC_BYTES);
  const faults = makeFaultLog(log, now);
  const worker = makeSyncWorker({
    store,
    faults,
    emit,
    findSource: (providerId) => sources.find(providerId),
    extractor,
    analyze: analyzeDocument,
    loadAuthority: (workspaceId, source, connector) => authorityIn(store.in(workspaceId), source, connector),
    claimStrangers,
    people: makePeopleLinks({ store, sources, credentials, audit, clock, instances: settings.instances }),
    keepsSecrets,
    quotas,
    standingOf: (workspaceId, connector) => credentials.standingOf(workspaceId, connector),
    keepAccount: upkeep,
    endLapsedFlow: (flowHash) =>
      once.endLapsed(flowHash, (flow) =>
        flow.stage === "found" ? endLapsedFound(accountDeps, flow) : endLapsedConnection(providers.serverDeps, flow),
      ),
    probeServer: (workspaceId, serverId) => probeServer(providers.serverDeps, workspaceId, serverId),
    subscribing: {
      // Providers can't reach a server by a loopback address.
      providerIds: isLoopbackHost(new URL(baseUrl).hostname)
        ? []
        : kinds.flatMap(({ spec, webhook }) => (webhook?.subscribe ? [spec.providerId] : [])),
      urlOf: ({ providerId, connectorId }) => webhookUrl(baseUrl, providerId, connectorId),
      secretFor: (workspaceId, connectorId) => webhookSecrets.ensure(workspaceId, connectorId, now()),
    },
    http,
    spool,
    budget,
    now,
    randomBytes: itemBytes,
    sleep,
    log,
    parallel: FILES_AT_ONCE,
    waitForGap: () => gate.waitForGap(),
    ...(adapters.workers !== undefined && { concurrency: adapters.workers }),
  });
  leftGrants.listen((workspaceId, connections) => giveBackLeft(providers.serverDeps, workspaceId, connections));
  syncStops.listen((syncId) => worker.cancel(syncId));
  const watchTries = makeWatchTries(now);
  const sourceWatcher = makeSourceWatcher({
    store,
    findSource: (providerId) => sources.find(providerId),
    providerIds: kinds.flatMap(({ spec, watch }) => (watch === undefined ? [] : [spec.providerId])),
    standingOf: (workspaceId, connector) => credentials.standingOf(workspaceId, connector),
    http,
    now,
    randomBytes,
    sleep,
    log,
    tries: watchTries,
    wake: () => worker.wake(),
  });
  const webhooks = makeWebhookReceiver({
    store,
    findSource: (providerId) => sources.find(providerId),
    secretOf: webhookSecrets.find,
    takeSecret: offeredSecrets.offer,
    appSecrets: settings.webhookSecrets,
    now,
    randomBytes,
    log,
  });
  for (const providerId of Object.keys(settings.webhookSecrets)) {
    if (kinds.some((kind) => kind.spec.providerId === providerId && kind.webhook)) continue;
    log.warn({ providerId }, "a webhook secret is set for a source that has no webhook");
  }
  const connectorDeps: PushDeps & PeopleDeps = {
    store,
    webhookSecrets,
    offeredSecrets,
    baseUrl,
    instances: settings.instances,
    sources,
    syncs: makeSyncControl({ store, now, randomBytes, loadAuthority: authorityIn, worker }),
    judgeAct,
    credentials,
    accounts,
    connections: providers.sessions,
    http,
    policy,
    audit,
    quotas,
    cursors,
    watchFault: watchTries.find,
    clock,
    randomBytes,
    log,
    sleep,
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
      now,
      randomBytes: itemBytes,
    }),
  };
  const fetchOriginal = makeOriginalFetcher(connectorDeps, { openChild: makeChildOpener(extractor), spool });
  const files = decorate(
    "files",
    gatedFiles(
      gate,
      makeFileService({ store, policy, index, cursors, audit, fetchOriginal, baseUrl, kinds: kinds.map(linksOf) }),
    ),
  );
  const finder = decorate(
    "finder",
    makeEntityFinder({
      policy,
      index,
      hasPeople: (id) => withPeople.has(id),
      async verifiedEmailOf(userId) {
        const user = await store.users.find(userId);
        return user && user.emailVerifiedAt !== null ? user.email : undefined;
      },
    }),
  );
  const entities = decorate(
    "entities",
    gatedEntities(gate, makeEntityService({ policy, index, finder, cursors, clock })),
  );
  const searching = makeSearchService({
    index,
    policy,
    finder,
    cursors,
    clock,
    lookUp: files.lookUp,
    connectorNotes: decorate("connectorNotes", (actor) =>
      connectorNotes(store, actor, { now: now(), isSynced: (id) => bySync.get(id) === true }),
    ),
    onRefused: (count) => log.error({ count }, "the index proposed items that the records refuse"),
    onFault: (fault) => faults.note(fault, {}),
  });
  const live = makeLiveSearch({ sessions: providers.sessions, sleep, log, baseUrl: settings.baseUrl });
  const search = decorate("search", searchWithLive(gatedSearch(gate, searching), live));
  return {
    policy,
    accountDeps,
    serverDeps: providers.serverDeps,
    /** Sessions through people's connections to provider servers. */
    providerSessions: providers.sessions,
    connectorDeps,
    files,
    search,
    entities,
    tools: makeTools({ search, entities, files, clock, baseUrl, reads: audit }),
    worker,
    events,
    /** Sends outgoing events; stopped after the worker. */
    eventDelivery,
    webhooks,
    /** Watches sources between runs; stopped with the worker. */
    sourceWatcher,
    /** Reads everything again, and hides mirrored content until then, because the database was restored from a copy. */
    doubtEverything: () => doubtEverything({ store, findSource: (id) => sources.find(id), now, randomBytes }),
    /**
     * Starts the search threads, so that the first search need not wait: they take memory, so only once there are
     * items.
     */
    async warm() {
      if (!(await hasItems())) return;
      // Two concurrent queries start both threads; a workspace that doesn't exist is answered from an empty state.
      await Promise.all(["wsp_warm1", "wsp_warm2"].map((nobody) => index.stats(nobody)));
    },
    /** Closes the adapters; stop the worker first. */
    async close() {
      await adapters.index.close();
      await extractor.close();
      http.close();
    },
  };
}
