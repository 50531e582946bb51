/** The longest name of an entry of a scope, in UTF-16 code units. */
export const MAX_SCOPE_TITLE_CHARS = 1_000;
