/**
 * Signals to the worker of this process, which is built after those who send them. In other processes, and where there is
 * no worker, they do nothing: it finds everything in the records, a moment later.
 */
export type SyncSignals = ReturnType<typeof makeSyncSignals>;

interface Listener {
  wake(): void;
  cancel(syncId: string): void;
}

export function makeSyncSignals() {
  let listener: Listener | undefined;
  return {
    /** A job was queued. */
    wake: (): void => listener?.wake(),
    /** These syncs must end. */
    stop: (syncIds: readonly string[]): void => syncIds.forEach((syncId) => listener?.cancel(syncId)),
    /** Set once, by the code that runs syncs. */
    listen: (worker: Listener): void => void (listener = worker),
  };
}
