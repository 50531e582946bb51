import type { ParentFailure } from "#storage/item-batch.ts";
import { isLiving, type KnownItem } from "./item-rows.ts";

/** Limit of an item's ancestors that are taken into account. No one can read an item that is deeper. */
export const MAX_PARENTS = 16;

/** The fields that decide, together with the item's parents, who may read it. */
export type Relative = Pick<KnownItem, "externalId" | "parentExternalId" | "ownAclId">;

export interface Effective {
  /** The number of the effective access; 0 = no one. */
  aclId: number;
  /** The number of ancestors. */
  parents: number;
  /** Why no one may read the item, if its parents are the cause. */
  failure?: ParentFailure;
}

export type EffectiveAccess = ReturnType<typeof makeEffectiveAccess>;

/**
 * Computes the effective access of an item: its own access AND its parent's effective access. It is computed from what
 * each ancestor names itself, so stored effective accesses don't have to be correct yet. Results are cached until
 * `forget` is called.
 */
export function makeEffectiveAccess(
  find: (externalId: string) => (Relative & Pick<KnownItem, "removedAt">) | undefined,
  conjoin: (a: number, b: number) => number,
) {
  const known = new Map<string, Effective>();
  const missing = new Set<string>();

  /** Collects the item and its ancestors up to the last one that isn't cached; `top` is the cached result above it. */
  function climb(item: Relative): { chain: Relative[]; top: Effective | undefined } {
    const chain = [item];
    const met = new Set([item.externalId]);
    for (let at = item; at.parentExternalId !== null;) {
      const found = known.get(at.parentExternalId);
      if (found) return { chain, top: found };
      if (met.has(at.parentExternalId)) return { chain, top: nobodys("circle") };
      if (chain.length > MAX_PARENTS) return { chain: [item], top: nobodys("too_deep") };
      const parent = find(at.parentExternalId);
      if (!isLiving(parent)) {
        missing.add(at.parentExternalId);
        return { chain, top: nobodys("missing") };
      }
      met.add(parent.externalId);
      chain.push(parent);
      at = parent;
    }
    return { chain, top: undefined };
  }

  function of(item: Relative): Effective {
    const { chain, top } = climb(item);
    let above = top;
    for (const each of chain.toReversed()) {
      above = above === undefined ? first(each) : below(above, each.ownAclId, conjoin);
      known.set(each.externalId, above);
    }
    return above ?? first(item);
  }

  function forget(): void {
    known.clear();
    missing.clear();
  }

  return {
    of,
    /** Forgets the cached results. Call it after an item that was looked up, or an ancestor of one, has changed. */
    forget,
    /** True when an item below the missing item with this id was looked up. */
    wasMissed: (externalId: string): boolean => missing.has(externalId),
  };
}

function first({ ownAclId }: Relative): Effective {
  return { aclId: Math.max(0, ownAclId ?? 0), parents: 0 };
}

function below(above: Effective, ownAclId: number | null, conjoin: (a: number, b: number) => number): Effective {
  const parents = above.parents + 1;
  if (above.failure === "circle" || above.failure === "too_deep") return { ...above, parents };
  if (above.parents < 0) return { aclId: 0, parents: 0, failure: "missing" };
  if (above.aclId === 0) return { aclId: 0, parents, failure: "nobody" };
  if (parents > MAX_PARENTS) return { aclId: 0, parents, failure: "too_deep" };
  if (ownAclId === null) return { aclId: above.aclId, parents };
  const aclId = conjoin(ownAclId, above.aclId);
  // A conjunction of two non-empty accesses is empty only if it has too many lists.
  return aclId === 0 && ownAclId > 0 ? { aclId, parents, failure: "too_deep" } : { aclId, parents };
}

/** The access that an item without a usable parent passes on. Its children get the same failure. */
function nobodys(failure: ParentFailure): Effective {
  return { aclId: 0, parents: -1, failure };
}
