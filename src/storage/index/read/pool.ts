import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import { ApiError } from "#api/errors.ts";
import { checkBuild } from "#core/build.ts";
import type { FoundPassages } from "#text/snippet.ts";
import { awaitThreadEnd } from "#storage/end-thread.ts";
import type { SearchTally } from "#storage/search-tally.ts";
import { THREAD_MEMORY } from "#storage/thread-memory.ts";
import type { IndexStats, SearchIndex, SearchResponse, ShowResponse } from "#storage/search-index.ts";
import {
  fromReplyError,
  openSearcher,
  type SearcherAnswer,
  type SearcherMessage,
  type SearcherOptions,
  type SearcherReply,
  type SearcherTask,
} from "./searcher.ts";

export interface SearchPoolOptions extends SearcherOptions {
  /** Number of worker threads; 0 = search in the calling thread (tests, short commands). Default: 2. */
  size?: number;
  /** The built searcher entry; not needed when `size` is 0. */
  workerUrl?: URL | string;
  /** Called with the error of a failed search. */
  onFailure?: (error: unknown) => void;
  /** The tally that counts each running task. */
  searches?: SearchTally;
}

const DEFAULT_SIZE = 2;
const DEADLINE_MS = 2_000;

interface Waiting {
  task: SearcherTask;
  /** Time on the `performance.now()` clock from which no one waits for the answer. */
  expiresAt: number;
  resolve(value: SearcherAnswer): void;
  reject(error: unknown): void;
}

interface Slot {
  /** The thread, which is started with the first task and restarted after it died. */
  worker: Worker | undefined;
  running: (Waiting & { id: number }) | undefined;
}

/**
 * Makes the embedded index as the service uses it: searches run in worker threads, each with its own read-only
 * connection.
 */
export function makeSearchPool(options: SearchPoolOptions): SearchIndex {
  const { size = DEFAULT_SIZE } = options;
  const plain = size === 0 ? makeInlineRunner(options) : makeThreads(options, size);
  const runner = options.searches === undefined ? plain : counted(plain, options.searches);
  return {
    // Each type of task has one type of answer; `Searcher.perform` pairs them.
    search: async (request) => (await runner.run({ type: "search", request }, request.deadlineMs)) as SearchResponse,
    show: async (request) =>
      (await runner.run({ type: "show", request }, request.deadlineMs)) as ShowResponse | undefined,
    find: async (request) =>
      (await runner.run({ type: "find", request }, request.deadlineMs)) as FoundPassages | undefined,
    stats: async (workspaceId) => (await runner.run({ type: "stats", workspaceId })) as IndexStats,
    close: () => runner.close(),
  };
}

interface Runner {
  run(task: SearcherTask, deadlineMs?: number): Promise<SearcherAnswer>;
  close(): Promise<void>;
}

function counted(runner: Runner, searches: SearchTally): Runner {
  return {
    ...runner,
    async run(...task) {
      searches.begin();
      try {
        return await runner.run(...task);
      } finally {
        searches.end();
      }
    },
  };
}

function makeInlineRunner(options: SearcherOptions): Runner {
  const searcher = openSearcher(options);
  return {
    run: async (task) => searcher.perform(task),
    close: async () => searcher.close(),
  };
}

function makeThreads(options: SearchPoolOptions, size: number): Runner {
  // The queue is short, because the search gate admits only a few searches at a time.
  const queue: Waiting[] = [];
  const slots: Slot[] = Array.from({ length: size }, () => ({ worker: undefined, running: undefined }));
  const exchange = size > 1 ? randomUUID() : undefined;
  const start = (slot: Slot) =>
    startWorker({ ...options, ...(exchange !== undefined && { exchange }) }, onReply(slot), onEnd(slot));
  let isClosed = false;
  let nextId = 1;

  const pump = (slot: Slot) => {
    while (slot.running === undefined) {
      const next = queue.shift();
      if (next === undefined) return;
      if (performance.now() > next.expiresAt) {
        next.reject(timedOut());
        continue;
      }
      try {
        slot.worker ??= start(slot);
      } catch (error) {
        next.reject(error);
        continue;
      }
      give(slot.worker, slot, next);
    }
  };

  const give = (worker: Worker, slot: Slot, waiting: Waiting) => {
    slot.running = { ...waiting, id: nextId++ };
    const message: SearcherMessage = { id: slot.running.id, task: waiting.task };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    worker.postMessage(message);
  };

  /**
   * Starts one more thread with a task that other threads answer. A busy thread is free sooner than a new one has
   * started: 40 ms against 220.
   */
  const rehearse = (slot: Slot, task: SearcherTask) => {
    const nobody = { expiresAt: Infinity, resolve: () => undefined, reject: () => undefined };
    try {
      give((slot.worker = start(slot)), slot, { ...nobody, task });
    } catch {
      // A failure doesn't matter: the running threads answer.
    }
  };

  const takeUp = (task: SearcherTask) => {
    const idle = slots.filter(({ running }) => running === undefined);
    const started = idle.find(({ worker }) => worker !== undefined);
    const [another] = idle;
    if (started !== undefined) pump(started);
    else if (another !== undefined && idle.length < slots.length) rehearse(another, task);
    else if (another !== undefined) pump(another);
  };

  const onReply = (slot: Slot) => (reply: SearcherReply) => {
    const { running } = slot;
    if (running === undefined || running.id !== reply.id) return;
    slot.running = undefined;
    if (reply.ok) running.resolve(reply.value);
    else {
      const error = fromReplyError(reply.error);
      options.onFailure?.(error);
      running.reject(error);
    }
    pump(slot);
  };

  const onEnd = (slot: Slot) => (cause: unknown) => {
    slot.worker = undefined;
    const { running } = slot;
    slot.running = undefined;
    running?.reject(isClosed ? closed() : stopped(cause));
    if (!isClosed) pump(slot);
  };

  return {
    run(task, deadlineMs = DEADLINE_MS) {
      if (isClosed) return Promise.reject(closed());
      return new Promise((resolve, reject) => {
        queue.push({ task, expiresAt: performance.now() + deadlineMs, resolve, reject });
        takeUp(task);
      });
    },
    async close() {
      isClosed = true;
      for (const waiting of queue.splice(0)) waiting.reject(closed());
      await Promise.all(slots.map(({ worker }) => worker && endWorker(worker)));
    },
  };
}

/** Starts a searcher. `onEnd` is called once, however the searcher ends. */
function startWorker(
  options: SearchPoolOptions,
  onReply: (reply: SearcherReply) => void,
  onEnd: (cause: unknown) => void,
): Worker {
  const { file, cacheBytes, exchange, workerUrl } = options;
  if (workerUrl === undefined) throw new Error("A pool with threads needs the searcher's entry.");
  checkBuild();
  const worker = new Worker(workerUrl, {
    workerData: { file, cacheBytes, exchange },
    name: "kb-searcher",
    // The entry is already built JavaScript. Under tsx, loading tsx's module loader would take longer than starting the
    // thread.
    execArgv: [],
    resourceLimits: THREAD_MEMORY,
  });
  let cause: unknown;
  worker.on("message", onReply);
  worker.on("error", (error) => (cause = error));
  // Node emits `exit` after `error` as well.
  worker.on("exit", () => onEnd(cause));
  return worker;
}

async function endWorker(worker: Worker): Promise<void> {
  const ended = awaitThreadEnd(worker);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
  worker.postMessage({ close: true } satisfies SearcherMessage);
  await ended;
}

function stopped(cause: unknown): ApiError {
  return new ApiError("unavailable", { message: "A search thread has stopped. Repeat the search.", cause });
}

function closed(): ApiError {
  return new ApiError("unavailable", { message: "The search index is closed." });
}

function timedOut(): ApiError {
  return new ApiError("search_timeout", {
    message: "The search waited too long for a free thread. Repeat it in a moment.",
    retryAfterMs: 1_000,
  });
}
