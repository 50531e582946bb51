export interface Scope {
  include: readonly string[];
  exclude: readonly string[];
}

/** The scope that excludes nothing. */
export const EVERYTHING = { include: [], exclude: [] } as const satisfies Scope;

/**
 * Whether a scope includes nothing that the previous one excluded: each include was there before, unless there were
 * none, and no exclude is removed. A scope without includes includes everything, or (`hasUnnamed`) nearly everything.
 * If an entry negates others (`!…`), the order matters, and no such entry may be removed from the includes or added to
 * the excludes.
 */
export function isNarrowerScope(before: Scope, after: Scope, { hasUnnamed }: { hasUnnamed?: true } = {}): boolean {
  if (!isWithin(before.exclude, after.exclude)) return false;
  if (after.include.length === 0) return before.include.length === 0;
  return before.include.length === 0 ? hasUnnamed !== true : isWithin(after.include, before.include);
}

/** Whether every entry of `less` is in `more`. */
function isWithin(less: readonly string[], more: readonly string[]): boolean {
  const isTakenBack = (entry: string) => entry.startsWith("!");
  if (![...less, ...more].some(isTakenBack)) {
    const all = new Set(more);
    return less.every((entry) => all.has(entry));
  }
  // Requires the order of `more`, with every negating entry of `more`.
  let at = 0;
  for (const entry of more) {
    if (less[at] === entry) at++;
    else if (isTakenBack(entry)) return false;
  }
  return at === less.length;
}
