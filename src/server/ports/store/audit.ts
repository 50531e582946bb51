/** Filled by its feature. */
export interface AuditStore {}
