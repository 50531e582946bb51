import { once } from "node:events";
import type { Worker } from "node:worker_threads";

/** Milliseconds to wait for the end. Searches, and other work of a thread that was asked to end, take only seconds. */
const END_MS = 10_000;

/**
 * Waits until a thread that was asked to end does so, and terminates it only if it doesn't. Terminating a thread during
 * a call of SQLite's binding aborts the whole process, because the binding throws where nothing can catch it.
 */
export async function awaitThreadEnd(worker: Worker): Promise<void> {
  await once(worker, "exit", { signal: AbortSignal.timeout(END_MS) }).catch(() => worker.terminate());
}
