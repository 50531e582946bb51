/** Notifies the code that runs syncs in this process that some must end now; other processes find it in the records. */
export interface SyncStops {
  stop(syncIds: readonly string[]): void;
  /** Set once, by the code that runs syncs. */
  listen(stop: (syncId: string) => void): void;
}

export function makeSyncStops(): SyncStops {
  let listener: ((syncId: string) => void) | undefined;
  return {
    stop: (syncIds) => syncIds.forEach((syncId) => listener?.(syncId)),
    listen: (stop) => void (listener = stop),
  };
}
