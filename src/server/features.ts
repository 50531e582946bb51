import { judgeAccess } from "./access/principals.ts";
import { makePolicy, type Policy } from "./access/policy.ts";
import { analyzeDocument } from "./analysis/analyzer.ts";
import { makeConnectorService, type ConnectorService } from "./connectors/service.ts";
import type { Foundation, Identity } from "./deps.ts";
import { makeEntityFinder } from "./entities/finder.ts";
import { makeEntityService } from "./entities/service.ts";
import { makeFileService, type FileService } from "./files/service.ts";
import type { ToolCalls } from "./mcp/rpc.ts";
import { loadTokenCounter } from "./mcp/tokens.ts";
import { makeTools } from "./mcp/tools.ts";
import type { EntityService, SearchService } from "./ports/answers.ts";
import type { Extractor } from "./ports/extractor.ts";
import type { SearchIndex } from "./ports/search-index.ts";
import { makeSearchService } from "./search/service.ts";
import { parsePushLines } from "./sources/push/lines.ts";
import type { SourceRegistry } from "./sources/registry.ts";
import { makeItemPreparer, makeSyncControl } from "./sync/control.ts";
import { makeSyncWorker, type Sleep, type SyncWorker } from "./sync/worker.ts";

/** The adapters that the features stand on. */
export interface FeatureParts {
  index: SearchIndex;
  extractor: Extractor;
  sources: SourceRegistry;
  sleep: Sleep;
}

/** Content: connectors, syncs, items, search, entities, tools. */
export interface Features {
  policy: Policy;
  connectors: ConnectorService;
  files: FileService;
  search: SearchService;
  entities: EntityService;
  tools: ToolCalls;
  worker: SyncWorker;
  /** Starts what the first search would wait for: the search threads and the token counter (about half a second). */
  warm(): Promise<void>;
  /** Ends the adapters given in `FeatureParts`; the worker is stopped before. */
  close(): Promise<void>;
}

/** Files read and extracted at once in a run: enough to keep two children busy with small ones sent ahead. */
const FILES_AT_ONCE = 16;

/** Builds everything about content on the given adapters. */
export async function makeFeatures(house: Foundation & Identity, parts: FeatureParts): Promise<Features> {
  const { store, clock, log, randomBytes, cursors, audit } = house;
  const { index, extractor } = parts;
  const specs = new Map((await parts.sources.list()).map((source) => [source.spec.providerId, source.spec]));
  const policy = makePolicy({ store, clock, aclOf: (providerId) => specs.get(providerId)?.acl });
  const sources = {
    find: async (providerId: string) => (specs.has(providerId) ? parts.sources.get(providerId) : undefined),
    list: () => parts.sources.list(),
  };
  const now = () => clock.now();
  const worker = makeSyncWorker({
    store,
    findSource: sources.find,
    extractor,
    analyze: analyzeDocument,
    judge: (access, connector) => judgeAccess(access, { connectorId: connector.connectorId }).access,
    now,
    randomBytes,
    sleep: parts.sleep,
    log,
    parallel: FILES_AT_ONCE,
  });
  const connectors = makeConnectorService({
    store,
    sources,
    syncs: makeSyncControl({ now, randomBytes, worker }),
    policy,
    audit,
    cursors,
    clock,
    randomBytes,
    log,
    readLines: parsePushLines,
    prepareItem: makeItemPreparer({ extractor, analyze: analyzeDocument, now, randomBytes }),
  });
  const files = makeFileService({ store, policy, cursors, audit, fetchOriginal: connectors.fetchOriginal });
  const finder = makeEntityFinder({ policy, index });
  const entities = makeEntityService({ policy, index, finder, cursors, clock });
  const search = makeSearchService({
    index,
    policy,
    finder,
    cursors,
    clock,
    lookUp: files.lookUp,
    connectorNotes: connectors.notesFor,
    onRefused: (count) => log.error({ count }, "the index proposed items that the records refuse"),
  });
  return {
    policy,
    connectors,
    files,
    search,
    entities,
    tools: makeTools({ search, entities, files, clock }),
    worker,
    async warm() {
      // Two questions at once start both threads; a workspace that nobody has is answered from an empty state.
      await Promise.all(["wsp_warm1", "wsp_warm2"].map((nobody) => index.stats(nobody)));
      await loadTokenCounter();
    },
    async close() {
      await index.close();
      await extractor.close();
    },
  };
}
