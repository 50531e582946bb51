/** Filled by its feature. */
export interface InstallationStore {}
