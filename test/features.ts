import { SPOOL } from "./spool.ts";
import { setImmediate as breath } from "node:timers/promises";
import { setTimeout as wait } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import type { Database } from "#storage/database/db.ts";
import { type Answering, ANSWERING } from "#server/compose/answering.ts";
import { type Content, type ContentAdapters, makeContent } from "#server/compose/content.ts";
import type { Foundation } from "#server/compose/foundation.ts";
import type { Identity } from "#server/compose/identity.ts";
import type { Extractor } from "#extract/extractor.ts";
import { makeSourceRegistry } from "#sources/registry.ts";
import { NO_NETWORK } from "./network.ts";
import { untilAborted } from "./server/sync/harness.ts";

/** The services that answer queries, on which others are built. */
export type AnsweringServices = { index: ContentAdapters["index"] } & {
  [Name in keyof Answering]: ReturnType<Answering[Name]>;
};

/** Wraps each service as it is made; all others get the wrapped one. */
export type ServiceDecorator = <Name extends keyof AnsweringServices>(
  name: Name,
  service: AnsweringServices[Name],
) => AnsweringServices[Name];

const UNDECORATED: ServiceDecorator = (_name, service) => service;

function decorated(decorate: ServiceDecorator): Answering {
  return {
    policy: (...options) => decorate("policy", ANSWERING.policy(...options)),
    files: (...options) => decorate("files", ANSWERING.files(...options)),
    finder: (...options) => decorate("finder", ANSWERING.finder(...options)),
    entities: (...options) => decorate("entities", ANSWERING.entities(...options)),
    connectorNotes: (...options) => decorate("connectorNotes", ANSWERING.connectorNotes(...options)),
    search: (...options) => decorate("search", ANSWERING.search(...options)),
  };
}

/** What a test gives in the place of the usual; the worker stands still until the test starts it. */
export interface ComposeOptions {
  decorate?: ServiceDecorator;
  sources?: ContentAdapters["sources"];
  extractor?: Pick<Extractor, "extract">;
  openMcp?: ContentAdapters["openMcp"];
  /** Syncs at once. */
  workers?: number;
  /** Waits take the time that they take. */
  isRealTime?: true;
}

/** The features as the program composes them, over an index in this thread; to be given to `makeServer`. */
export async function composeFeatures(
  core: Foundation & Identity,
  database: Database,
  {
    decorate = UNDECORATED,
    sources,
    extractor = NO_EXTRACTOR,
    openMcp = NO_MCP,
    workers,
    isRealTime,
  }: ComposeOptions = {},
): Promise<Content> {
  const adapters: ContentAdapters = {
    index: decorate("index", makeSearchPool({ file: database.file, size: 0 })),
    spool: SPOOL,
    extractor: { stats: () => [], close: async () => undefined, ...extractor },
    sources:
      sources ??
      makeSourceRegistry({
        allowedRoots: async () => [],
        dataFolder: "/nowhere",
        isOpenToStrangers: false,
        guard: NO_NETWORK,
        searchPath: "",
      }),
    openMcp,
    ...(isRealTime ? { sleep: realSleep } : { sleep: untilAborted, requestSleep: takeNoTime }),
    ...(workers !== undefined && { workers }),
  };
  const content = await makeContent(core, core, adapters, decorated(decorate));
  onTestFinished(() => content.close());
  return content;
}

const realSleep: ContentAdapters["sleep"] = (ms, signal) => wait(ms, undefined, { signal }).catch(() => undefined);

/** The clock of a test stands still, so no request would ever have its turn back. */
export async function takeNoTime(_ms: number, signal: AbortSignal): Promise<void> {
  await breath(undefined, { signal });
}

const NO_MCP: ContentAdapters["openMcp"] = async () => {
  throw new Error("No server of others is asked here.");
};

const NO_EXTRACTOR: Pick<Extractor, "extract"> = {
  async extract() {
    throw new Error("Nothing is extracted here.");
  },
};
