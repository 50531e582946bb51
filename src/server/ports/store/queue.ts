/** Filled by its feature. */
export interface QueueStore {}
