/** Filled by its feature. */
export interface TokenLookup {}
export interface TokenStore {}
