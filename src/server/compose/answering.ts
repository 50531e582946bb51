import { makeEntityFinder } from "#server/entities/finder.ts";
import { makeEntityService } from "#server/entities/service.ts";
import { makeFileService } from "#server/files/service.ts";
import { connectorNotes } from "#server/connectors/notes.ts";
import { makeOriginalFetcher } from "#server/connectors/original.ts";
import type { PushDeps } from "#server/connectors/push-deps.ts";
import { linksOf } from "#server/connectors/sources.ts";
import { makeTools } from "#server/mcp/tools.ts";
import { type LiveSearchOptions, makeLiveSearch } from "#server/provider-servers/live.ts";
import { gatedEntities, gatedFiles, gatedSearch, type SearchGate } from "#server/search/gate.ts";
import { searchWithLive } from "#server/search/live.ts";
import { makeSearchService } from "#server/search/service.ts";
import { makeChildOpener } from "#server/sync/items/open-child.ts";
import type { Sleep } from "#core/clock.ts";
import type { FaultLog } from "#core/faults.ts";
import type { Spool } from "#core/spool.ts";
import type { Extractor } from "#extract/extractor.ts";
import type { Actor } from "#storage/access/actor.ts";
import { makePolicy, type Policy } from "#storage/policy/policy.ts";
import type { SearchIndex } from "#storage/search-index.ts";
import type { Store } from "#storage/records/store.ts";
import type { Foundation } from "./foundation.ts";
import type { Identity } from "./identity.ts";
import type { Kinds } from "./kinds.ts";

type Options<Make extends (options: never) => unknown> = Parameters<Make>[0];

/**
 * The factory of each service that answers queries. Later factories receive the earlier services. Tests replace
 * factories.
 */
export const ANSWERING = {
  policy: makePolicy,
  files: (gate: SearchGate, options: Options<typeof makeFileService>) => gatedFiles(gate, makeFileService(options)),
  finder: makeEntityFinder,
  entities: (gate: SearchGate, options: Options<typeof makeEntityService>) =>
    gatedEntities(gate, makeEntityService(options)),
  connectorNotes:
    (store: Store, { now, isSynced }: { now(): number; isSynced(providerId: string): boolean }) =>
    (actor: Actor) =>
      connectorNotes(store, actor, { now: now(), isSynced }),
  search: (gate: SearchGate, live: ReturnType<typeof makeLiveSearch>, options: Options<typeof makeSearchService>) =>
    searchWithLive(gatedSearch(gate, makeSearchService(options)), live),
};

export type Answering = typeof ANSWERING;

/** Builds the services that answer queries, and the tools of agents. */
export function makeAnswering(
  { store, clock, log, settings: { baseUrl } }: Foundation,
  { audit, cursors }: Pick<Identity, "audit" | "cursors">,
  adapters: { index: SearchIndex; extractor: Pick<Extractor, "extract">; spool: Spool; sleep: Sleep },
  built: {
    kinds: Kinds;
    policy: Policy;
    gate: SearchGate;
    faults: FaultLog;
    connectorDeps: PushDeps;
    sessions: LiveSearchOptions["sessions"];
  },
  make: Answering,
) {
  const { index, extractor, spool, sleep } = adapters;
  const { kinds, policy, gate, faults, connectorDeps, sessions } = built;
  const asking = { policy, index, cursors, clock };
  const fetchOriginal = makeOriginalFetcher(connectorDeps, { openChild: makeChildOpener(extractor), spool });
  const files = make.files(gate, { ...asking, store, audit, fetchOriginal, baseUrl, kinds: kinds.all.map(linksOf) });
  const finder = make.finder({
    policy,
    index,
    hasPeople: kinds.hasPeople,
    async verifiedEmailOf(userId) {
      const user = await store.users.find(userId);
      return user && user.emailVerifiedAt !== null ? user.email : undefined;
    },
  });
  const entities = make.entities(gate, { ...asking, finder });
  const search = make.search(gate, makeLiveSearch({ sessions, sleep, log, baseUrl }), {
    ...asking,
    finder,
    lookUp: files.lookUp,
    connectorNotes: make.connectorNotes(store, { now: () => clock.now(), isSynced: kinds.isSynced }),
    onRefused: (count) => log.error({ count }, "the index proposed items that the records refuse"),
    onFault: (fault) => faults.note(fault, {}),
  });
  return { files, search, entities, tools: makeTools({ search, entities, files, clock, baseUrl, reads: audit }) };
}
