import { append } from "#core/append.ts";
import { isInside, isChildId, outermostId } from "#core/child-ids.ts";
import { touch } from "./access.ts";
import type { ItemOp, OpOutcome } from "#storage/item-batch.ts";
import { stateOf, type Work } from "./work.ts";
import { isLiving, type ItemRows, type KnownItem } from "./item-rows.ts";
import { childrenBeside } from "./child-rows.ts";

/**
 * Removes an item and its child items; with `subtree`, also everything below it. Holds all of them when the guard
 * allows no more removals.
 */
export function deleteItem(work: Work, { externalId, subtree }: { externalId: string; subtree: boolean }): OpOutcome {
  const items = targetsOf(work.rows, externalId, subtree);
  if (items.length === 0) return "absent";
  const judged = items.filter((item) => !isFormer(item)).length;
  return removeOrHold(work, items, work.guarded + judged > work.allowance);
}

/** Removes these items with their child items, bypassing the guard. */
export function removeAll(work: Work, kbIds: readonly string[], ifElsewhere = false): OpOutcome {
  const found = living(work, kbIds)
    .filter((item) => !ifElsewhere || isFormer(item))
    .flatMap((item) => targetsOf(work.rows, item.externalId, false));
  removeEach(work, [...new Map(found.map((each) => [each.kbId, each])).values()]);
  return "removed";
}

/** Removes these items with their child items, or holds them. */
export function drop(work: Work, kbIds: readonly string[], isHeld: boolean): OpOutcome {
  const found = living(work, kbIds).flatMap((item) => targetsOf(work.rows, item.externalId, false));
  return removeOrHold(work, [...new Map(found.map((each) => [each.kbId, each])).values()], isHeld);
}

/**
 * Restores a removed item. No one can read it until its source was asked again, and its next version is read in any
 * case.
 */
export function restore(work: Work, kbId: string): OpOutcome {
  const { rows } = work;
  const item = rows.findByKbId(kbId);
  if (!item || item.removedAt === null) return "absent";
  rows.set(kbId, { removedAt: null, ownAclId: 0, aclId: 0, version: null, indexState: stateOf(0, item) });
  rows.relist(item.externalId);
  work.indexedAgain.add(kbId);
  return "done";
}

/** Ends the hold on these items. */
export function releaseAll(work: Work, kbIds: readonly string[]): OpOutcome {
  for (const item of living(work, kbIds)) release(work, item);
  return "done";
}

/** Removes child items that are no longer in an item's content, with everything inside them. */
export function keepChildren(
  work: Work,
  { externalId, keep, version }: Extract<ItemOp, { type: "children" }>,
): OpOutcome {
  const item = work.rows.find(externalId);
  if (!isLiving(item)) return "absent";
  removeChildrenBeside(work, externalId, keep);
  if (item.version !== version) work.rows.set(item.kbId, { version });
  return "done";
}

/**
 * Removes the child items that were made from an item's content, without these, and everything inside them. Bypasses
 * the guard.
 */
export function removeChildrenBeside(work: Work, externalId: string, keep: readonly string[]): void {
  const gone = childrenBeside(work.rows, externalId, keep);
  if (gone.length === 0) return;
  removeEach(
    work,
    gone.flatMap((id) => targetsOf(work.rows, id, false)),
  );
}

/** Removes, or holds, those of these items that the run or set hasn't listed since. */
export function sweep(work: Work, kbIds: readonly string[], isHeld: boolean): OpOutcome {
  const gone = living(work, kbIds).filter((item) => item.seenBy !== work.seenBy && !isInsideNamed(work, item));
  return removeOrHold(work, gone, isHeld);
}

/** Records that these items still exist, and ends their hold. */
export function markSeen(work: Work, { externalIds, isCounted }: Extract<ItemOp, { type: "seen" }>): OpOutcome {
  for (const item of work.rows.heldAmong(externalIds)) release(work, item);
  const marked = work.rows.markSeen(externalIds, work.seenBy);
  if (marked > 0) work.isFurther = true;
  if (isCounted) work.marked += marked;
  return "done";
}

/** Ends the hold on an item and the items inside it, which are held no longer than the item itself. */
export function endHold(work: Work, { kbId, externalId }: KnownItem): void {
  work.rows.unhold(kbId);
  for (const child of work.rows.childrenOf(externalId)) {
    if (child.indexState === "held" && isInside(externalId, child.externalId)) release(work, child);
  }
}

/**
 * Removes these items, or holds them. Items that were read at another place or for a former owner are removed either
 * way and aren't counted by the guard, because a person decided to move the connector.
 */
function removeOrHold(work: Work, items: readonly KnownItem[], isHeld: boolean): OpOutcome {
  const judged = items.filter((item) => !isFormer(item));
  if (isHeld) for (const item of judged) hold(work, item);
  else work.guarded += judged.length;
  removeEach(work, isHeld ? items.filter((item) => isFormer(item)) : items);
  return isHeld && judged.length > 0 ? "held" : "removed";
}

function isFormer({ readElsewhere }: KnownItem): boolean {
  return readElsewhere === 1;
}

/**
 * Whether an item is inside a source item that was listed. A child item exists as long as that source item, which may
 * be listed without being read.
 */
function isInsideNamed({ rows, seenBy }: Work, { externalId }: KnownItem): boolean {
  if (seenBy === null || !isChildId(externalId)) return false;
  const outermost = rows.find(outermostId(externalId));
  return isLiving(outermost) && outermost.seenBy === seenBy;
}

function targetsOf(rows: ItemRows, externalId: string, subtree: boolean): KnownItem[] {
  const found = new Map<string, KnownItem>();
  const item = rows.find(externalId);
  // Files inside a file are removed and kept with it, wherever the separator between their ids is.
  const below = subtree ? rows.below(externalId).filter((each) => !isChildId(each.externalId)) : [];
  const waiting = [...below.toReversed(), ...(item ? [item] : [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!isLiving(next) || found.has(next.kbId)) continue;
    found.set(next.kbId, next);
    append(waiting, rows.childrenOf(next.externalId));
  }
  return [...found.values()];
}

function living({ rows }: Work, kbIds: readonly string[]): KnownItem[] {
  return kbIds.flatMap((kbId) => {
    const item = rows.findByKbId(kbId);
    return isLiving(item) ? [item] : [];
  });
}

/**
 * Removes these items. A removed item keeps the access that it had, which may not be in its row yet: accesses changed
 * by a batch are settled at its end, and only for living items. The items' parents may be among the removed ones, so
 * all accesses are computed first.
 */
function removeEach(work: Work, items: readonly KnownItem[]): void {
  const accesses = items.map((item) => work.effective.of(item).aclId);
  for (const [at, item] of items.entries()) removeOne(work, item, accesses[at] ?? 0);
}

function removeOne(work: Work, item: KnownItem, aclId: number): void {
  work.counts.deleted++;
  work.isFurther = true;
  if (item.indexState === "held") work.rows.unhold(item.kbId);
  touch(work, item.externalId);
  work.rows.set(item.kbId, { removedAt: work.batch.now, aclId, indexState: stateOf(aclId, item) });
  work.changes.push({ type: "remove", kbId: item.kbId });
}

function hold(work: Work, item: KnownItem): void {
  if (item.indexState === "held") return;
  work.rows.hold(item.kbId, work.batch.run?.syncId ?? null, work.batch.now);
  work.rows.set(item.kbId, { indexState: "held" });
  work.exceptions.set(item.kbId, "held");
}

function release(work: Work, item: KnownItem): void {
  endHold(work, item);
  work.rows.set(item.kbId, { indexState: stateOf(item.aclId, item) });
}
