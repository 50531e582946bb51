import type { Log } from "#core/log.ts";
import type { RandomBytes } from "#core/clock.ts";
import type { ChangeNotification, Watch } from "#sources/change-notifications.ts";
import type { Source } from "#sources/contract.ts";
import type { Store } from "#storage/records/store.ts";
import { type ChangeInbox, makeChangeInbox } from "./change-inbox.ts";
import { makeContext, type SyncDeps } from "#server/sync/deps.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import type { WatchTries } from "./watch-tries.ts";
import { runForNotification } from "#server/sync/schedule/run-for-changes.ts";
import type { Sleep } from "#core/clock.ts";

export interface SourceWatcherOptions extends Pick<SyncDeps, "findSource" | "credentialsOf" | "http"> {
  store: Store;
  /** The providers whose sources can be watched. */
  providerIds: readonly string[];
  now: () => number;
  randomBytes: RandomBytes;
  sleep: Sleep;
  log: Log;
  /** Records the connectors that could not be watched, for views that show connectors. */
  tries: WatchTries;
  /** Called after a run was requested. */
  wake(): void;
}

/** How soon the watcher notices a new, changed, paused or deleted connector. */
const POLL_MS = 2_000;

interface Listening {
  standing: string;
  abort: AbortController;
  /** Undefined if the connector should not be watched or could not be watched. */
  watch: Promise<Watch | undefined>;
  inbox: ChangeInbox;
  retryAt: number | undefined;
}

interface Opening {
  signal: AbortSignal;
  inbox: ChangeInbox;
  failed(error: unknown): void;
}

type Watchable = Awaited<ReturnType<Store["queue"]["listWatchableConnectors"]>>[number];

/**
 * Keeps one watch for each active connector that has a schedule, with its current record. A watch that fails to start,
 * or that ends, is reported in one log line and to the connector's owner, and retried after increasing pauses. The
 * schedule continues independently.
 */
export function makeSourceWatcher(options: SourceWatcherOptions) {
  const { store, now, sleep, log, providerIds, tries } = options;
  const all = new Map<string, Listening>();
  const over = new AbortController();
  let loop: Promise<void> | undefined;
  /** Watches that are ending. A source may need long to end its watch, and only `stop` waits for that. */
  const endings = new Set<Promise<void>>();

  async function follow(): Promise<void> {
    if (providerIds.length === 0) return;
    const wanted = new Map((await store.queue.listWatchableConnectors(providerIds)).map((at) => [at.connectorId, at]));
    for (const [connectorId, listening] of all) {
      const isAsBefore = wanted.get(connectorId)?.standing === listening.standing;
      if (!isAsBefore) tries.forget(connectorId);
      if (!isAsBefore || (listening.retryAt ?? Infinity) <= now()) end(connectorId, listening);
    }
    for (const at of wanted.values()) if (!over.signal.aborted && !all.has(at.connectorId)) begin(at);
  }

  function begin(at: Watchable): void {
    const abort = new AbortController();
    const listening: Listening = {
      standing: at.standing,
      abort,
      watch: Promise.resolve(undefined),
      inbox: makeChangeInbox(
        (notification) =>
          take(at, notification).catch((error: unknown) => {
            log.error({ connectorId: at.connectorId, error }, "A change notification could not be handled");
          }),
        { signal: abort.signal },
      ),
      retryAt: undefined,
    };
    const { connectorId } = at;
    const beganAt = now();
    const failed = (error: unknown) => {
      if (abort.signal.aborted || listening.retryAt !== undefined) return;
      listening.retryAt = tries.failed(connectorId, error, beganAt);
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ connectorId, reason }, "a connector is not watched; its schedule continues");
    };
    all.set(connectorId, listening);
    listening.watch = open(at, { signal: abort.signal, inbox: listening.inbox, failed }).then(
      (watch) => {
        if (!abort.signal.aborted && listening.retryAt === undefined) tries.began(connectorId);
        return watch;
      },
      (error: unknown) => (failed(error), undefined),
    );
  }

  async function open(at: Watchable, { signal, inbox, failed }: Opening): Promise<Watch | undefined> {
    const connector = await store.in(at.workspaceId).connectors.find(at.connectorId);
    const source: Source | undefined = connector && (await options.findSource(connector.providerId));
    if (connector === undefined || source?.watch === undefined) return undefined;
    const context = await makeContext(options, at.workspaceId, source, connector, signal);
    return source.watch(context, connector.scope, {
      notify: (notification) => inbox.add(notification),
      ended: failed,
    });
  }

  /** Requests the run for a change notification if the connector is unchanged since the watch began. */
  async function take(at: Watchable, notification: ChangeNotification): Promise<void> {
    if (over.signal.aborted || all.get(at.connectorId)?.standing !== at.standing) return;
    const isAsked = await store.transaction(async (tx) => {
      const workspace = tx.in(at.workspaceId);
      const connector = await workspace.connectors.find(at.connectorId);
      const wish =
        connector?.state === "active" ? await runForNotification(workspace, connector, notification) : undefined;
      if (connector === undefined || wish === undefined) return false;
      const { randomBytes } = options;
      await requestSync(tx, at.workspaceId, connector, { trigger: "watch", ...wish, now: now(), randomBytes });
      return true;
    });
    if (isAsked) options.wake();
  }

  function end(connectorId: string, { abort, watch, inbox }: Listening): void {
    all.delete(connectorId);
    abort.abort();
    const ending = watch
      .then((open) => open?.stop())
      .then(() => inbox.settled())
      .catch((error: unknown) => log.error({ connectorId, error }, "A watch could not be ended"))
      .finally(() => endings.delete(ending));
    endings.add(ending);
  }

  return {
    /** Checks once which connectors exist, and returns when it watches those that can be watched; for tests. */
    async poll(): Promise<void> {
      await follow();
      await Promise.all([...endings, ...[...all.values()].map(({ watch }) => watch)]);
    },
    /** Starts watching. `stop` ends it. */
    start(): void {
      loop ??= (async () => {
        while (!over.signal.aborted) {
          await follow().catch((error: unknown) => log.error({ error }, "The connectors to watch could not be listed"));
          await sleep(POLL_MS, over.signal);
        }
      })();
    },
    async stop(): Promise<void> {
      over.abort();
      await loop;
      for (const [connectorId, listening] of all) end(connectorId, listening);
      await Promise.all(endings);
    },
  };
}
