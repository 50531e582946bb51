import { isChildId } from "#core/child-ids.ts";
import { NEVER } from "#storage/access/item-clocks.ts";
import { noteAccessIds, setAccessIds } from "./access.ts";
import type { ItemOp, OpOutcome, ClockCause } from "#storage/item-batch.ts";
import { isLiving, type KnownItem } from "./item-rows.ts";
import type { Work } from "./work.ts";

/** Gives these items clocks of their own, or their connector's clock again. Child items follow their file. */
export async function setClocks(
  work: Work,
  { externalIds, at, cause }: Extract<ItemOp, { type: "clock" }>,
): Promise<OpOutcome> {
  for (const externalId of externalIds) {
    const item = work.rows.find(externalId);
    if (!isLiving(item) || isChildId(externalId)) continue;
    // A check of the whole listing proves nothing about an item that this run couldn't check.
    const isExcepted = item.ownClockCause !== null && item.ownClockBy === (work.batch.run?.syncId ?? null);
    if (cause === null && isExcepted) continue;
    if (cause === "refused") await giveClock(work, item, NEVER, cause);
    else if (cause !== null) await except(work, item, at ?? work.batch.mirror?.aclCheckedAt ?? NEVER, cause);
    else if (at === null || item.ownClockCause !== null || (item.ownClockAt ?? at - 1) < at) {
      await giveClock(work, item, at, null);
    }
  }
  return "done";
}

/** Keeps the items that the batch couldn't check at their connector's current clock. */
export async function settleExceptions(work: Work): Promise<void> {
  const { mirror } = work.batch;
  for (const [kbId, cause] of mirror ? work.exceptions : []) {
    const item = work.rows.findByKbId(kbId);
    if (isLiving(item) && !isChildId(item.externalId)) await except(work, item, mirror?.aclCheckedAt ?? NEVER, cause);
  }
  work.exceptions.clear();
}

/** An item with its own clock keeps that clock: it doesn't become newer when it isn't checked. */
function except(work: Work, item: KnownItem, at: number, cause: ClockCause): Promise<void> {
  return giveClock(work, item, item.ownClockAt ?? at, item.ownClockCause === "refused" ? "refused" : cause);
}

async function giveClock(work: Work, item: KnownItem, at: number | null, cause: ClockCause | null): Promise<void> {
  const by = cause === null ? null : (work.batch.run?.syncId ?? null);
  if (item.ownClockAt === at && item.ownClockCause === cause && item.ownClockBy === by) return;
  work.rows.set(item.kbId, { ownClockAt: at, ownClockCause: cause, ownClockBy: by });
  const { externalId, parentExternalId } = item;
  // An item without a parent and an access is open to no one. A clock would be its first list and would open it.
  const isNobodys = item.ownAclId === null && parentExternalId === null;
  const ownAclId = isNobodys ? null : await work.reclock(item.ownAclId, at);
  const { aclId } = work.effective.of({ externalId, parentExternalId, ownAclId });
  noteAccessIds(work, item, item, { ownAclId, aclId });
  setAccessIds(work, item, { ownAclId, aclId });
}
