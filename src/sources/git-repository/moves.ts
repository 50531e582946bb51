import type { TreeChange } from "./tree.ts";

/**
 * The changes in an order in which each rename finds its place free: of `b → c` and `a → b` the first comes first.
 * Renames in a circle have no such order and lose their former paths: each path then simply has another content.
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
    // Down the chain to the rename whose place nobody leaves, then back up.
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

/** The chain leads into a circle at `end`: what lies before it is no part of the circle. */
function isOnCircle(former: string, chain: readonly string[], end: string): boolean {
  return chain.indexOf(former) >= chain.indexOf(end);
}
