/** Filled by its feature. */
export interface EntityStore {}
