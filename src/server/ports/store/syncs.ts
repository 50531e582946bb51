/** Filled by its feature. */
export interface SyncStore {}
