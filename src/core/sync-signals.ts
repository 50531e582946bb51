/**
 * Signals to the sync worker of this process, which is created after the code that sends them. In a process without a
 * worker they do nothing: the worker of another process finds the same facts in the records a moment later.
 */
export type SyncSignals = ReturnType<typeof makeSyncSignals>;

interface Listener {
  wake(): void;
  cancel(syncId: string): void;
}

export function makeSyncSignals() {
  let listener: Listener | undefined;
  return {
    /** Signals that a job was queued. */
    wake: (): void => listener?.wake(),
    /** Signals that these syncs must end. */
    stop: (syncIds: readonly string[]): void => syncIds.forEach((syncId) => listener?.cancel(syncId)),
    /** Sets the listener; called once, by the code that runs syncs. */
    listen: (worker: Listener): void => void (listener = worker),
  };
}
