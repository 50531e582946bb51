import type { TreeChange } from "./tree.ts";

/**
 * Sorts the changes so that the new path of each rename is already free: of `b → c` and `a → b`, the first comes first.
 * Renames in a cycle have no such order, and lose their former paths. Each path of the cycle then simply has other
 * content.
 */
export function inMoveOrder(changes: readonly TreeChange[]): TreeChange[] {
  const renames = new Map<string, Extract<TreeChange, { type: "present" }>>();
  const others: TreeChange[] = [];
  for (const change of changes) {
    if (change.type === "present" && change.formerPath !== undefined) renames.set(change.formerPath, change);
    else others.push(change);
  }
  const ordered: TreeChange[] = [];
  const state = new Map<string, "open" | "done">();
  for (const start of renames.keys()) {
    // Follows the chain to the rename whose new path is already free, and then goes back.
    const chain: string[] = [];
    for (let at: string | undefined = start; at !== undefined && renames.has(at) && !state.has(at);) {
      state.set(at, "open");
      chain.push(at);
      at = renames.get(at)?.entry.path;
    }
    const last = chain.at(-1);
    const end = last === undefined ? undefined : renames.get(last)?.entry.path;
    const isCircle = end !== undefined && state.get(end) === "open";
    for (const former of chain.toReversed()) {
      const rename = renames.get(former);
      state.set(former, "done");
      if (rename)
        ordered.push(isCircle && isOnCircle(former, chain, end) ? { type: "present", entry: rename.entry } : rename);
    }
  }
  return [...ordered, ...others];
}

/**
 * Whether a rename is part of the cycle that the chain reaches at `end`. Renames before the cycle aren't part of it.
 */
function isOnCircle(former: string, chain: readonly string[], end: string): boolean {
  return chain.indexOf(former) >= chain.indexOf(end);
}
