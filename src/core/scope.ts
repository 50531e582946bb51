export interface Scope {
  include: readonly string[];
  exclude: readonly string[];
}

/** The scope that leaves nothing out. */
export const EVERYTHING = { include: [], exclude: [] } as const satisfies Scope;

/**
 * Whether a scope takes in nothing that the former one left out: each of its includes stood before, unless none did, and no
 * exclude goes. No include at all means everything, or (`hasUnnamed`) nearly everything. Where an entry takes back what others say (`!…`), the order counts, and
 * no such entry may go from the includes or come to the excludes.
 */
export function isNarrowerScope(before: Scope, after: Scope, { hasUnnamed }: { hasUnnamed?: true } = {}): boolean {
  if (!isWithin(before.exclude, after.exclude)) return false;
  if (after.include.length === 0) return before.include.length === 0;
  return before.include.length === 0 ? hasUnnamed !== true : isWithin(after.include, before.include);
}

/** Whether the less names nothing that the more doesn't. */
function isWithin(less: readonly string[], more: readonly string[]): boolean {
  const isTakenBack = (entry: string) => entry.startsWith("!");
  if (![...less, ...more].some(isTakenBack)) {
    const all = new Set(more);
    return less.every((entry) => all.has(entry));
  }
  // In the order of the more, with every entry of it that takes something back.
  let at = 0;
  for (const entry of more) {
    if (less[at] === entry) at++;
    else if (isTakenBack(entry)) return false;
  }
  return at === less.length;
}
