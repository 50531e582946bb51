import { makeFaultLog } from "#core/faults.ts";
import type { OpenMcp } from "#server/provider-servers/deps.ts";
import { giveBackLeft } from "#server/provider-servers/give-back.ts";
import { makeSearchGate } from "#server/search/gate.ts";
import { invalidateEverything } from "#server/sync/control/after-restore.ts";
import { makeSourceHttpPool, type SourceHttpOptions } from "#sources/http/pool.ts";
import type { SearchIndex } from "#storage/search-index.ts";
import type { Store } from "#storage/records/store.ts";
import { makeAccounts } from "./accounts.ts";
import { type Answering, ANSWERING, makeAnswering } from "./answering.ts";
import { makeConnectors, makeSyncs, type SyncAdapters } from "./connectors.ts";
import { makeEvents } from "./events.ts";
import type { Foundation } from "./foundation.ts";
import type { Identity } from "./identity.ts";
import { readKinds } from "./kinds.ts";
import { makeProviderServers } from "./provider-servers.ts";

/** External dependencies of the content services. */
export interface ContentAdapters extends SyncAdapters {
  index: SearchIndex;
  /** Opens sessions with provider servers. */
  openMcp: OpenMcp;
  /** How requests to providers wait, for their turn and before a retry; real time by default. */
  requestSleep?: SourceHttpOptions["sleep"];
}

/** Content: connectors, syncs, items, search, entities, tools. */
export type Content = Awaited<ReturnType<typeof makeContent>>;

/**
 * Builds all content services on the given adapters, each service on the ones before it. No other place wires them
 * together.
 */
export async function makeContent(
  foundation: Foundation,
  identity: Pick<Identity, "cursors" | "audit" | "quotas" | "syncSignals" | "afterwards" | "leftGrants">,
  adapters: ContentAdapters,
  make: Answering = ANSWERING,
) {
  const { store, clock, log, randomBytes, addressGuard } = foundation;
  const { syncSignals, afterwards, leftGrants } = identity;
  const { index, extractor, sources, sleep, openMcp, requestSleep } = adapters;
  const now = () => clock.now();
  const kinds = await readKinds(sources);
  const policy = make.policy({ store, clock, ages: kinds.ages });
  const gate = makeSearchGate({ clock });
  const faults = makeFaultLog(log, now);
  const http = makeSourceHttpPool({ guard: addressGuard, now, ...(requestSleep && { sleep: requestSleep }) });
  const syncs = makeSyncs(foundation, identity);
  const accounts = await makeAccounts(foundation, identity, { http, sleep, wake: syncSignals.wake });
  const { emit, events, eventDelivery } = makeEvents(foundation, identity, { sleep });
  const { once } = accounts;
  const providers = makeProviderServers(foundation, identity, { openMcp, afterwards, emit, http, once, sleep, syncs });
  const { serverDeps, sessions } = providers;
  leftGrants.listen((workspaceId, connections) => giveBackLeft(serverDeps, workspaceId, connections));
  const below = { kinds, policy, http, accounts, providers, emit, gate, faults, syncs };
  const connectors = makeConnectors(foundation, identity, adapters, below);
  const { worker, connectorDeps, webhooks, sourceWatcher } = connectors;
  syncSignals.listen(worker);
  const answering = makeAnswering(
    foundation,
    identity,
    adapters,
    { kinds, policy, gate, faults, connectorDeps, sessions },
    make,
  );
  return {
    ...answering,
    policy,
    accountDeps: accounts.accountDeps,
    serverDeps,
    /** Sessions that use people's connections to provider servers. */
    providerSessions: sessions,
    connectorDeps,
    worker,
    events,
    /** Sends outgoing events; stop it after the worker. */
    eventDelivery,
    webhooks,
    /** Watches sources between runs; stop it with the worker. */
    sourceWatcher,
    /**
     * Reads everything again, because the database was restored from a copy. Mirrored content is hidden until it has
     * been read.
     */
    invalidateEverything: () => invalidateEverything({ store, findSource: (id) => sources.find(id), now, randomBytes }),
    /**
     * Starts the search threads, so that the first search doesn't have to wait. They need memory, so they start only if
     * there are items.
     */
    async warm() {
      if (!(await hasItems(store))) return;
      // Two concurrent queries start both threads. A workspace that doesn't exist is answered from an empty state.
      await Promise.all(["wsp_warm1", "wsp_warm2"].map((nobody) => index.stats(nobody)));
    },
    /** Closes the adapters; stop the worker first. */
    async close() {
      await index.close();
      await extractor.close();
      http.close();
    },
  };
}

async function hasItems(store: Store): Promise<boolean> {
  for (const { workspaceId } of await store.workspaces.list()) {
    if (!(await store.in(workspaceId).items.isEmpty())) return true;
  }
  return false;
}
