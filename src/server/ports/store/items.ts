/** Filled by its feature. */
export interface ItemStore {}
