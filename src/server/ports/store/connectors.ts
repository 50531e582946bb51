/** Filled by its feature. */
export interface ConnectorStore {}
