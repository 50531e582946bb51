import { isChildId } from "#core/child-ids.ts";
import type { HiddenChild, ItemOp, ListedAccess, OpOutcome, PreparedItem } from "#storage/item-batch.ts";
import { stateUnder, tally, type Work } from "./work.ts";
import { isLiving, type KnownItem } from "./item-rows.ts";

/** The numbers of an item's accesses: the item's own, and the effective one, which includes its parents. */
export interface AccessIds {
  ownAclId: number | null;
  aclId: number;
}

/** The accesses that the item has according to the latest report, with the clock of its own access. */
export interface NamedAccessIds extends AccessIds {
  ownClockAt: number | null;
  ownClockCause: null;
}

type Place = Pick<PreparedItem, "externalId" | "parentExternalId">;
type Named = Place & Pick<PreparedItem, "access">;

/**
 * Computes an item's accesses from the latest report. A child item has the access of its file and no access of its own.
 * Where permissions expire, an item below a parent has a clock even when it names no access, because its source may
 * have set an access since.
 */
export async function accessIdsOf(
  work: Work,
  { externalId, parentExternalId, access }: Named,
  clockAt: number | null = null,
): Promise<NamedAccessIds> {
  let ownAclId: number | null = null;
  if (access !== null && !isChildId(externalId)) ownAclId = await work.intern(access, clockAt);
  else if (isPartWithClock(work, { externalId, parentExternalId })) ownAclId = await work.reclock(null, clockAt);
  const { aclId } = work.effective.of({ externalId, parentExternalId, ownAclId });
  return { ownAclId, aclId, ownClockAt: ownAclId === null ? null : clockAt, ownClockCause: null };
}

/**
 * Whether an item that names no access gets a clock as its only list. An item without a parent doesn't: it is open to
 * no one, and a clock would open it.
 */
function isPartWithClock({ batch }: Work, { externalId, parentExternalId }: Place): boolean {
  return batch.mirror !== undefined && parentExternalId !== null && !isChildId(externalId);
}

/**
 * Marks that the accesses of the items below this one may have changed; with `isMoved`, also when the item's own access
 * is unchanged.
 */
export function touch(work: Work, externalId: string, isMoved = false): void {
  work.effective.forget();
  noteTouched(work, externalId, isMoved);
}

function noteTouched(work: Work, externalId: string, isMoved: boolean): void {
  work.touched.set(externalId, isMoved || work.touched.get(externalId) === true);
}

/** Records how an item's new place and access affect the items below it and the op's result. */
export function noteAccessIds(
  work: Work,
  item: Place,
  known: KnownItem | undefined,
  { ownAclId, aclId }: AccessIds,
): void {
  const { externalId, parentExternalId } = item;
  const isMoved = known !== undefined && known.parentExternalId !== parentExternalId;
  // The items below a new item weren't looked up, unless a look-up missed it.
  if (known === undefined && !work.effective.wasMissed(externalId)) noteTouched(work, externalId, false);
  else if (!known || isMoved || known.removedAt !== null || known.aclId !== aclId || known.ownAclId !== ownAclId) {
    touch(work, externalId, isMoved);
  }
  // Child items are reported with their file; withheld items, with the ancestor that they wait for.
  const hasChanged = known && (known.aclId !== aclId || known.ownAclId !== ownAclId) && !isChildId(externalId);
  if (hasChanged && (known.ownAclId !== ownAclId || isMoved || !isWithheld(work, known))) {
    work.accessChanges.push({ kbId: known.kbId, aclId: known.aclId, ownAclId: known.ownAclId });
  }
  if (aclId === 0 && ownAclId !== 0 && parentExternalId !== null) work.hidden.push({ op: work.op, externalId });
}

/** Sets an item's own access. @returns `absent` if the item doesn't exist or was removed */
export async function changeAccess(
  work: Work,
  known: KnownItem | undefined,
  { access, clockAt }: Pick<Extract<ItemOp, { type: "access" }>, "access" | "clockAt">,
): Promise<OpOutcome> {
  if (!isLiving(known)) return "absent";
  const isFormer = known.textReason === "failed" && holdsFormer(work, known);
  const listed = { access, parentExternalId: known.parentExternalId };
  const standing = isFormer
    ? await narrowedAccessIds(work, known, listed, clockAt)
    : await accessIdsOf(work, { ...known, access }, clockAt);
  const outcome = areSameAccessIds(known, standing) ? "unchanged" : "upserted";
  tally(work, known, outcome);
  if (known.seenBy !== work.seenBy) work.rows.set(known.kbId, { seenBy: work.seenBy });
  noteAccessIds(work, known, known, standing);
  setAccessIds(work, known, standing);
  const { ownClockAt, ownClockCause } = standing;
  if (known.ownClockAt !== ownClockAt || known.ownClockCause !== null) {
    work.rows.set(known.kbId, { ownClockAt, ownClockCause });
  }
  return outcome;
}

/**
 * Restricts an item to the people who are in both its access and a listing of newer content. If the parent differs, the
 * item's permissions are treated as unchecked.
 */
export async function narrowAccess(
  work: Work,
  externalId: string,
  listed: ListedAccess,
  clockAt: number | null = null,
): Promise<OpOutcome> {
  const known = work.rows.find(externalId);
  if (!isLiving(known)) return "absent";
  if (known.parentExternalId !== listed.parentExternalId) {
    work.exceptions.set(known.kbId, "not_looked_at");
    return "done";
  }
  const { ownAclId, aclId, ownClockAt, ownClockCause } = await narrowedAccessIds(work, known, listed, clockAt);
  noteAccessIds(work, known, known, { ownAclId, aclId });
  setAccessIds(work, known, { ownAclId, aclId });
  work.rows.set(known.kbId, { ownClockAt, ownClockCause });
  return "done";
}

/**
 * Whether an item whose content couldn't be read may hold a text that had other readers than its source reports now.
 * Where access is set in kb, every version has the same readers.
 */
export function holdsFormer({ batch: { run, mirror } }: Work, { textHash }: KnownItem): boolean {
  return textHash !== null && (run === undefined || mirror !== undefined);
}

/**
 * Computes the access of an item's stored content after its source reported the readers of a newer version: only people
 * in both accesses may read it. The stored content was listed for the former readers, and the source now shows the item
 * to the new ones. The parent stays the same.
 */
export async function narrowedAccessIds(
  work: Work,
  known: KnownItem,
  { access }: Pick<ListedAccess, "access">,
  clockAt: number | null = null,
): Promise<NamedAccessIds> {
  const { externalId, parentExternalId } = known;
  const hasClock = known.ownAclId !== null || isPartWithClock(work, known);
  const kept = hasClock ? await work.reclock(known.ownAclId, clockAt) : null;
  const named = access === null || isChildId(externalId) ? null : await work.intern(access, clockAt);
  // An item with no access and no parent is open to no one.
  const isNobodys = kept === null && parentExternalId === null;
  const ownAclId = isNobodys || named === null ? kept : kept === null ? named : work.conjoin(kept, named);
  const { aclId } = work.effective.of({ externalId, parentExternalId, ownAclId });
  return { ownAclId, aclId, ownClockAt: ownAclId === null ? null : clockAt, ownClockCause: null };
}

/**
 * An item that no one may read is never "unchanged": when the source reports it again, the result must show that it was
 * checked.
 */
export function areSameAccessIds(known: KnownItem, { ownAclId, aclId }: AccessIds): boolean {
  return aclId !== 0 && known.aclId === aclId && known.ownAclId === ownAclId;
}

/** Updates the item's access in the index, unless the item is fully reindexed. */
export function setIndexAccess(work: Work, known: KnownItem, aclId: number): void {
  if (aclId !== known.aclId) work.changes.push({ type: "access", kbId: known.kbId, aclId });
}

/**
 * Computes the current access of the batch's touched items and of everything below them, level by level. Touched items
 * are recomputed too: a later op may have changed back the parents that their own op used, and the items in between
 * don't show that. An item whose access stays the same ends the descent, except in two cases: something above it has
 * moved (the item may now be too deep), or it was withheld (its former access is unknown, and the items below may
 * already have one).
 *
 * @returns the items below which everything must be withheld, because there are more than `atOnce` items below them
 */
export function settleAccesses(work: Work, atOnce: number): string[] {
  work.effective.forget();
  const met = new Set<string>();
  const touched = [...work.touched.keys()];
  // The order doesn't matter: each result depends only on the accesses that the item and its parents name.
  for (const item of work.rows.findAll(touched)) if (isLiving(item)) settleOne(work, item);
  const parents = work.rows.parentsAmong(touched);
  // Moved items come first, because their descent goes deeper. Nothing is then visited twice.
  const waiting = [...work.touched].filter(([id]) => parents.has(id)).sort(([, a], [, b]) => Number(a) - Number(b));
  work.touched.clear();
  let left = atOnce;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [parentId, isMoved] = next;
    const children = work.rows.childrenOf(parentId, left + 1);
    if (children.length > left) return [parentId, ...waiting.map(([externalId]) => externalId)];
    left -= children.length;
    for (const child of children) {
      if (met.has(child.kbId)) continue;
      met.add(child.kbId);
      const goesOn = settleOne(work, child) || isMoved || isWithheld(work, child);
      if (goesOn) waiting.push([child.externalId, isMoved]);
    }
  }
  return [];
}

/** Whether no one may read the item until its access is recomputed, whatever its stored access is. */
function isWithheld({ rows }: Work, { aclId, kbId }: KnownItem): boolean {
  return aclId === 0 && rows.isWithheld(kbId);
}

/** Recomputes an item's access. @returns true when it has changed */
function settleOne(work: Work, item: KnownItem): boolean {
  const { aclId } = work.effective.of(item);
  setAccessIds(work, item, { aclId, ownAclId: item.ownAclId });
  return aclId !== item.aclId;
}

/** Lists the batch's items that no one may read because of their parents. Call it after everything is settled. */
export function listHidden(work: Work): HiddenChild[] {
  return work.hidden.flatMap(({ op, externalId }) => {
    const item = work.rows.find(externalId);
    if (!isLiving(item) || item.parentExternalId === null) return [];
    const { failure } = work.effective.of(item);
    return failure === undefined ? [] : [{ op, parentId: item.parentExternalId, failure }];
  });
}

export function setAccessIds(work: Work, known: KnownItem, { ownAclId, aclId }: AccessIds): void {
  if (known.aclId === aclId && known.ownAclId === ownAclId) return;
  work.rows.set(known.kbId, { aclId, ownAclId, indexState: stateUnder(aclId, known) });
  setIndexAccess(work, known, aclId);
}
