/** Filled by its feature. */
export interface SessionStore {}
