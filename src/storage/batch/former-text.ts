import {
  holdsFormer,
  type NamedAccessIds,
  narrowedAccessIds,
  noteAccessIds,
  setIndexAccess,
  accessIdsOf,
  type AccessIds,
} from "./access.ts";
import { childrenBeside } from "./child-rows.ts";
import {
  FORMER_TEXT_MS,
  isFormer,
  type ItemOp,
  type ItemText,
  type OpOutcome,
  type PreparedItem,
} from "#storage/item-batch.ts";
import { isLiving, type KnownItem } from "./item-rows.ts";
import { endHold, removeChildrenBeside } from "./removals.ts";
import { stateOf, stateUnder, type Work } from "./work.ts";

type Failed = Extract<ItemText, { state: "failed" }>;

/** Whether any content of an item is stored: its text, or files that were inside it. */
export function hasFormer({ rows }: Work, { textHash, externalId }: KnownItem): boolean {
  return textHash !== null || childrenBeside(rows, externalId, []).length > 0;
}

/**
 * Keeps the stored content and title of an item whose last reading failed. The access listed now is that of the
 * source's current content. A former text keeps only the readers who are also listed now; if those can't be determined
 * for its new parent, its access stays unchanged.
 */
export async function keepFormer(
  work: Work,
  known: KnownItem,
  item: PreparedItem,
  text: Failed,
  clockAt: number | null,
): Promise<OpOutcome> {
  const isSame = known.textReason !== "failed" && known.version !== null && known.version === item.version;
  const isFormer = !isSame && holdsFormer(work, known);
  const place = isFormer ? known : item;
  const isMoved = known.parentExternalId !== item.parentExternalId;
  const { ownAclId, aclId } = known;
  let standing: Partial<NamedAccessIds> & AccessIds = { ownAclId, aclId };
  if (!isFormer) standing = await accessIdsOf(work, item, clockAt);
  else if (!isMoved) standing = await narrowedAccessIds(work, known, item, clockAt);
  else work.exceptions.set(known.kbId, "failed");
  noteAccessIds(work, place, known, standing);
  work.rows.set(known.kbId, {
    ...standing,
    parentExternalId: place.parentExternalId,
    // Without another try, this version is finished: the item isn't read again until it changes.
    version: text.retryAt === null ? item.version : known.version,
    ...failure(work, text.message, text.retryAt),
    ...readerOf(known, item),
    ...(text.retryAt === null && { cutRetries: null }),
    indexState: stateOf(standing.aclId, { textHash: known.textHash, textReason: "failed" }),
  });
  // If the stored text is of this version, it isn't a former text: only this program failed to read it.
  if (known.version === null || known.version !== item.version || text.isUnread) age(work, known);
  setIndexAccess(work, known, standing.aclId);
  return "failed";
}

/**
 * Returns the reader to record from now on. While another try is pending, the recorded reader is the one that read the
 * stored content.
 */
export function readerOf(
  known: KnownItem | undefined,
  { reader, text }: PreparedItem,
): Pick<KnownItem, "reader" | "readerVersion"> {
  const isTried = text.state === "failed" && text.retryAt !== null;
  if (known && isTried) return { reader: known.reader, readerVersion: known.readerVersion };
  return { reader: reader?.name ?? null, readerVersion: reader?.version ?? null };
}

/** Records an item that was skipped; with `failed`, the item's stored content stays. */
export function skip(work: Work, op: Extract<ItemOp, { type: "skip" }>): OpOutcome {
  work.addSkip(op.externalId, op.reason, op.message, op.retryable);
  const known = work.rows.find(op.externalId);
  if (op.reason !== "failed") {
    // The next complete listing removes the item. Until then, its permissions are treated as unchecked.
    if (isLiving(known)) work.exceptions.set(known.kbId, "not_looked_at");
    return "skipped";
  }
  if (!isLiving(known)) return "failed";
  if (known.indexState === "held") endHold(work, known);
  if (known.seenBy !== work.seenBy) work.isFurther = true;
  work.rows.set(known.kbId, {
    ...failure(work, op.message, op.retryable ? work.batch.now : null),
    indexState: stateOf(known.aclId, { textHash: known.textHash, textReason: "failed" }),
  });
  if (op.isUnread) age(work, known);
  work.exceptions.set(known.kbId, "failed");
  return "failed";
}

/** Removes the former text and its child items from those of these items whose content couldn't be read since then. */
export function endFormer(work: Work, { kbIds, since }: Extract<ItemOp, { type: "end_former" }>): OpOutcome {
  for (const kbId of kbIds) {
    const known = work.rows.findByKbId(kbId);
    if (!isLiving(known) || known.formerSince === null) continue;
    if (isFormer(known.formerSince, since + FORMER_TEXT_MS)) continue;
    endOne(work, known);
  }
  return "done";
}

function endOne(work: Work, known: KnownItem): void {
  const { kbId, aclId, textMessage } = known;
  work.rows.removeText(kbId);
  work.rows.set(kbId, {
    textHash: null,
    textChars: 0,
    sections: "[]",
    formerSince: null,
    // The item is read again as soon as its source lists it, and it is reindexed in any case.
    version: null,
    indexHash: null,
    textReason: "failed",
    textMessage: textMessage === null ? ENDED : `${ENDED} ${textMessage}`,
    indexState: stateUnder(aclId, { ...known, textHash: null, textReason: "failed" }),
  });
  work.indexedAgain.add(kbId);
  removeChildrenBeside(work, known.externalId, []);
}

const ENDED = "kb removed the text from before, because it couldn't read the content again for 7 days.";

function failure({ seenBy }: Work, message: string, retryAt: number | null) {
  return { textReason: "failed", textMessage: message, retryAt, seenBy };
}

/** Marks the text and its child items as former, from the first failed reading on. */
function age({ rows, batch }: Work, { kbId, externalId, formerSince }: KnownItem): void {
  if (formerSince !== null) return;
  rows.set(kbId, { formerSince: batch.now });
  rows.setFormerInside(externalId, batch.now);
}
