import type { AccessTable } from "./access-table.ts";
import { grown } from "#storage/index/growing.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";

/** What a viewer sees of one segment: a bit per document, and how much that is. Integers only: brought forward or counted again, it is the same. */
export interface SegmentVisibility {
  bits: Uint32Array;
  items: number;
  length: number;
  /** Documents looked at, and how far the segment's log of accesses was followed. */
  docs: number;
  logEpoch: number;
  logLength: number;
  /** A document had an access that was not known yet; looked at again when there are newer ones. */
  hasUnknown: boolean;
  lastAcl: number;
}

/** Nothing seen yet. */
export function makeSegmentVisibility({ columns, accessLog }: SegmentView): SegmentVisibility {
  return {
    bits: new Uint32Array((columns.docs + 31) >>> 5),
    items: 0,
    length: 0,
    docs: 0,
    logEpoch: accessLog.epoch,
    logLength: accessLog.ids.length,
    hasUnknown: false,
    lastAcl: 0,
  };
}

/**
 * Looks at the documents that are new since the last time. `opened` (one bit per access) makes it fast for many; without
 * it each access is looked up by its lists.
 */
export function addDocuments(
  visibility: SegmentVisibility,
  { columns }: SegmentView,
  table: AccessTable,
  lists: Uint32Array,
  opened?: Uint32Array,
): void {
  const { acl, lengths, docs } = columns;
  const { lastAcl } = table;
  visibility.bits = grown(visibility.bits, (docs + 31) >>> 5);
  if (opened !== undefined && visibility.docs === 0) addByBits(visibility, acl, lengths, docs, opened, lastAcl);
  else {
    for (let id = visibility.docs; id < docs; id++) {
      const a = acl[id] ?? 0;
      if (a > lastAcl) visibility.hasUnknown = true;
      else setVisible(visibility, id, lengths[id] ?? 0, a > 0 && table.isOpen(lists, a));
    }
  }
  visibility.docs = docs;
  visibility.lastAcl = lastAcl;
}

/** A word of 32 documents at a time, and without a branch on who is visible: 2 ns a document. */
function addByBits(
  visibility: SegmentVisibility,
  acl: Uint32Array,
  lengths: Uint32Array,
  docs: number,
  opened: Uint32Array,
  lastAcl: number,
): void {
  const { bits } = visibility;
  let items = 0;
  let length = 0;
  let greatest = 0;
  for (let from = 0; from < docs; from += 32) {
    const until = Math.min(docs, from + 32);
    let word = 0;
    let sum = 0;
    for (let id = from; id < until; id++) {
      const a = acl[id] ?? 0;
      const isOpen = ((opened[a >>> 5] ?? 0) >>> (a & 31)) & 1;
      greatest = a > greatest ? a : greatest;
      word |= isOpen << (id & 31);
      items += isOpen;
      sum += isOpen * (lengths[id] ?? 0);
    }
    bits[from >>> 5] = word;
    length += sum;
  }
  visibility.items = items;
  visibility.length = length;
  visibility.hasUnknown = greatest > lastAcl;
}

/** Brings the visibility up to its segment's state; false when it must be computed again. */
export function followSegment(
  visibility: SegmentVisibility,
  segment: SegmentView,
  table: AccessTable,
  lists: Uint32Array,
): boolean {
  const { accessLog, columns } = segment;
  if (visibility.logEpoch !== accessLog.epoch || (visibility.hasUnknown && visibility.lastAcl < table.lastAcl))
    return false;
  for (let i = visibility.logLength; i < accessLog.ids.length; i++) {
    const id = accessLog.ids.array[i] ?? 0;
    // Documents not looked at yet follow below, with their newest access.
    if (id >= visibility.docs) continue;
    const a = columns.acl[id] ?? 0;
    if (a > table.lastAcl) visibility.hasUnknown = true;
    setVisible(visibility, id, columns.lengths[id] ?? 0, a > 0 && table.isOpen(lists, a));
  }
  visibility.logLength = accessLog.ids.length;
  if (visibility.docs < columns.docs) addDocuments(visibility, segment, table, lists);
  visibility.lastAcl = table.lastAcl;
  return true;
}

function setVisible(visibility: SegmentVisibility, id: number, length: number, isOpen: boolean): void {
  const word = visibility.bits[id >>> 5] ?? 0;
  const mask = 1 << (id & 31);
  const wasOpen = (word & mask) !== 0;
  if (wasOpen === isOpen) return;
  visibility.bits[id >>> 5] = isOpen ? word | mask : word & ~mask;
  visibility.items += isOpen ? 1 : -1;
  visibility.length += isOpen ? length : -length;
}
