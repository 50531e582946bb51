/** Notifies the code that runs syncs in this process that some must end now; other processes find it in the records. */
export type SyncStops = ReturnType<typeof makeSyncStops>;

export function makeSyncStops() {
  let listener: ((syncId: string) => void) | undefined;
  return {
    stop: (syncIds: readonly string[]): void => syncIds.forEach((syncId) => listener?.(syncId)),
    /** Set once, by the code that runs syncs. */
    listen: (stop: (syncId: string) => void): void => void (listener = stop),
  };
}
