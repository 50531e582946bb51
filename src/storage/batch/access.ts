import { isChildId } from "#core/child-ids.ts";
import type { HiddenChild, ItemOp, ListedAccess, OpOutcome, PreparedItem } from "./item-batch.ts";
import { stateUnder, tally, type Work } from "./work.ts";
import type { KnownItem } from "./item-rows.ts";

/** Who may read an item: what it names itself, and what comes of that and its parents. */
export interface Standing {
  ownAclId: number | null;
  aclId: number;
}

/** As it is named now, with the clock of what it names itself. */
export interface NamedStanding extends Standing {
  ownClockAt: number | null;
  ownClockCause: null;
}

type Place = Pick<PreparedItem, "externalId" | "parentExternalId">;
type Named = Place & Pick<PreparedItem, "access">;

/**
 * The standing of an item as it is named now. What is made of a file has the access of the file and none of its own. A part
 * that names none has a clock all the same, where permissions grow old: its source may have given it one since.
 */
export async function standingOf(
  work: Work,
  { externalId, parentExternalId, access }: Named,
  clockAt: number | null = null,
): Promise<NamedStanding> {
  let ownAclId: number | null = null;
  if (access !== null && !isChildId(externalId)) ownAclId = await work.intern(access, clockAt);
  else if (isPartWithClock(work, { externalId, parentExternalId })) ownAclId = await work.reclock(null, clockAt);
  const { aclId } = work.effective.of({ externalId, parentExternalId, ownAclId });
  return { ownAclId, aclId, ownClockAt: ownAclId === null ? null : clockAt, ownClockCause: null };
}

/** Whether an item that names no access has a clock alone. What has no parent is nobody's, and a clock would open it. */
function isPartWithClock({ batch }: Work, { externalId, parentExternalId }: Place): boolean {
  return batch.mirror !== undefined && parentExternalId !== null && !isChildId(externalId);
}

/** Notes that what is below an item may have another access now; with `isMoved` also where the item's own is the same. */
export function touch(work: Work, externalId: string, isMoved = false): void {
  work.effective.forget();
  noteTouched(work, externalId, isMoved);
}

function noteTouched(work: Work, externalId: string, isMoved: boolean): void {
  work.touched.set(externalId, isMoved || work.touched.get(externalId) === true);
}

/** Notes what an item's new place and access mean for what is below it, and for the answer of the op. */
export function noteStanding(
  work: Work,
  item: Place,
  known: KnownItem | undefined,
  { ownAclId, aclId }: Standing,
): void {
  const { externalId, parentExternalId } = item;
  const isMoved = known !== undefined && known.parentExternalId !== parentExternalId;
  // Nothing that was asked about stands below an item that is new, unless it was missed.
  if (known === undefined && !work.effective.wasMissed(externalId)) noteTouched(work, externalId, false);
  else if (!known || isMoved || known.removedAt !== null || known.aclId !== aclId || known.ownAclId !== ownAclId) {
    touch(work, externalId, isMoved);
  }
  // What is in a file is told with the file, and what was withheld with what it stands below.
  const hasChanged = known && (known.aclId !== aclId || known.ownAclId !== ownAclId) && !isChildId(externalId);
  if (hasChanged && (known.ownAclId !== ownAclId || isMoved || !isWithheld(work, known))) {
    work.accessChanges.push({ kbId: known.kbId, aclId: known.aclId, ownAclId: known.ownAclId });
  }
  if (aclId === 0 && ownAclId !== 0 && parentExternalId !== null) work.hidden.push({ op: work.op, externalId });
}

/** Gives an item an access of its own. @returns `absent` unless it lives */
export async function changeAccess(
  work: Work,
  known: KnownItem | undefined,
  { access, clockAt }: Pick<Extract<ItemOp, { type: "access" }>, "access" | "clockAt">,
): Promise<OpOutcome> {
  if (!known || known.removedAt !== null) return "absent";
  const isFormer = known.textReason === "failed" && holdsFormer(work, known);
  const listed = { access, parentExternalId: known.parentExternalId };
  const standing = isFormer
    ? await narrowedStanding(work, known, listed, clockAt)
    : await standingOf(work, { ...known, access }, clockAt);
  const outcome = isSameStanding(known, standing) ? "unchanged" : "upserted";
  tally(work, known, outcome);
  if (known.seenBy !== work.seenBy) work.rows.set(known.kbId, { seenBy: work.seenBy });
  noteStanding(work, known, known, standing);
  setStanding(work, known, standing);
  const { ownClockAt, ownClockCause } = standing;
  if (known.ownClockAt !== ownClockAt || known.ownClockCause !== null) {
    work.rows.set(known.kbId, { ownClockAt, ownClockCause });
  }
  return outcome;
}

/**
 * Leaves an item to those whom both its access and a listing of newer content let in. Below another parent nobody has looked
 * at it.
 */
export async function narrowAccess(
  work: Work,
  externalId: string,
  listed: ListedAccess,
  clockAt: number | null = null,
): Promise<OpOutcome> {
  const known = work.rows.find(externalId);
  if (!known || known.removedAt !== null) return "absent";
  if (known.parentExternalId !== listed.parentExternalId) {
    work.exceptions.set(known.kbId, "not_looked_at");
    return "done";
  }
  const { ownAclId, aclId, ownClockAt, ownClockCause } = await narrowedStanding(work, known, listed, clockAt);
  noteStanding(work, known, known, { ownAclId, aclId });
  setStanding(work, known, { ownAclId, aclId });
  work.rows.set(known.kbId, { ownClockAt, ownClockCause });
  return "done";
}

/**
 * Whether an item whose content could not be read may hold a text that was said to be for others than its source says now.
 * Where access is set in kb, every version is for the same people.
 */
export function holdsFormer({ batch: { run, mirror } }: Work, { textHash }: KnownItem): boolean {
  return textHash !== null && (run === undefined || mirror !== undefined);
}

/**
 * The standing of what is stored of an item, once its source has said who may read something newer: those whom both let in.
 * What is stored was said to be for the ones, and its source shows it to the others. It stands below the same parent.
 */
export async function narrowedStanding(
  work: Work,
  known: KnownItem,
  { access }: Pick<ListedAccess, "access">,
  clockAt: number | null = null,
): Promise<NamedStanding> {
  const { externalId, parentExternalId } = known;
  const hasClock = known.ownAclId !== null || isPartWithClock(work, known);
  const kept = hasClock ? await work.reclock(known.ownAclId, clockAt) : null;
  const named = access === null || isChildId(externalId) ? null : await work.intern(access, clockAt);
  // What names no access and has no parent is nobody's.
  const isNobodys = kept === null && parentExternalId === null;
  const ownAclId = isNobodys || named === null ? kept : kept === null ? named : work.conjoin(kept, named);
  const { aclId } = work.effective.of({ externalId, parentExternalId, ownAclId });
  return { ownAclId, aclId, ownClockAt: ownAclId === null ? null : clockAt, ownClockCause: null };
}

/** An item that nobody may read is never "unchanged": the source that names it again is to know that it was looked at. */
export function isSameStanding(known: KnownItem, { ownAclId, aclId }: Standing): boolean {
  return aclId !== 0 && known.aclId === aclId && known.ownAclId === ownAclId;
}

/** The index follows, but for an item that it is given whole. */
export function setIndexAccess(work: Work, known: KnownItem, aclId: number): void {
  if (aclId !== known.aclId) work.changes.push({ type: "access", kbId: known.kbId, aclId });
}

/**
 * Gives what the batch touched, and everything below it, the access that it has now, level by level. What was touched is
 * judged again itself: its op saw parents that a later one may have changed back, of which nothing is to be seen in what
 * stands between. What keeps its access ends the way down, unless something above it has moved: then it may have come too
 * deep; or unless it was withheld: then nobody knows what access is kept, and what is below it may have one already.
 *
 * @returns the items below which everything is to be withheld: there is more than `atOnce`
 */
export function settleAccesses(work: Work, atOnce: number): string[] {
  work.effective.forget();
  const met = new Set<string>();
  const touched = [...work.touched.keys()];
  // None of them changes what another one is given: that comes of what each and its parents name themselves.
  for (const item of work.rows.findAll(touched)) if (item.removedAt === null) settleOne(work, item);
  const parents = work.rows.parentsAmong(touched);
  // What moved comes first: it goes deeper, and nothing is looked at twice.
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

/** Nobody may read it, whatever access it has, and it waits for that. */
function isWithheld({ rows }: Work, { aclId, kbId }: KnownItem): boolean {
  return aclId === 0 && rows.isWithheld(kbId);
}

/** @returns true when the item has another access now */
function settleOne(work: Work, item: KnownItem): boolean {
  const { aclId } = work.effective.of(item);
  setStanding(work, item, { aclId, ownAclId: item.ownAclId });
  return aclId !== item.aclId;
}

/** What of the batch nobody may read for its parents' sake, once everything is settled. */
export function listHidden(work: Work): HiddenChild[] {
  return work.hidden.flatMap(({ op, externalId }) => {
    const item = work.rows.find(externalId);
    if (!item || item.removedAt !== null || item.parentExternalId === null) return [];
    const { failure } = work.effective.of(item);
    return failure === undefined ? [] : [{ op, parentId: item.parentExternalId, failure }];
  });
}

export function setStanding(work: Work, known: KnownItem, { ownAclId, aclId }: Standing): void {
  if (known.aclId === aclId && known.ownAclId === ownAclId) return;
  work.rows.set(known.kbId, { aclId, ownAclId, indexState: stateUnder(aclId, known) });
  setIndexAccess(work, known, aclId);
}
