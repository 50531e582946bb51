import { once } from "node:events";
import type { Worker } from "node:worker_threads";

/** A search is given up after seconds, by itself; so is whatever else a thread is still at when it is asked to end. */
const END_MS = 10_000;

/**
 * Waits for a thread that was told to end by itself, and ends it by force only when it does not. Force in the middle of
 * a call of SQLite's binding aborts the whole process: the binding throws where nothing can catch it.
 */
export async function awaitThreadEnd(worker: Worker): Promise<void> {
  await once(worker, "exit", { signal: AbortSignal.timeout(END_MS) }).catch(() => worker.terminate());
}
