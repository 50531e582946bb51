import type { AccessTable } from "./access-table.ts";
import { bitAt } from "#storage/index/bits.ts";
import { grown } from "#storage/index/growing.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";

/**
 * The documents of one segment that a viewer can see: one bit each, with their count and length. All numbers are
 * integers, so that updating and recounting give the same result.
 */
export interface SegmentVisibility {
  bits: Uint32Array;
  items: number;
  length: number;
  /** The number of documents that were checked, and how far the segment's access log was followed. */
  docs: number;
  logEpoch: number;
  logLength: number;
  /** True if a document had an access that wasn't known yet. It is checked again when there are newer accesses. */
  hasUnknown: boolean;
  lastAcl: number;
}

/** Makes the visibility of a segment in which nothing is visible yet. */
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

/** Precomputed data that speeds up checking many documents. */
export interface Opened {
  /** One bit per access: whether it is open. */
  accesses: Uint32Array;
  /** The visibility for a person whose lists are all also the viewer's, in any state. */
  part: SegmentVisibility | undefined;
}

/** Checks the documents added since the last call. Without `opened`, each access is looked up by its lists. */
export function addDocuments(
  visibility: SegmentVisibility,
  segment: SegmentView,
  table: AccessTable,
  lists: Uint32Array,
  opened?: Opened,
): void {
  const { acl, lengths, docs } = segment.columns;
  const { lastAcl } = table;
  visibility.bits = grown(visibility.bits, (docs + 31) >>> 5);
  if (opened !== undefined && visibility.docs === 0) {
    const { part } = opened;
    const isPart = part !== undefined && isCurrent(part, segment);
    addByBits(visibility, isPart ? part : NOTHING, segment, opened.accesses);
    visibility.hasUnknown = (!isPart || part.hasUnknown) && greatestOf(acl, docs) > lastAcl;
  } else {
    for (let id = visibility.docs; id < docs; id++) {
      const a = acl[id] ?? 0;
      if (a > lastAcl) visibility.hasUnknown = true;
      else setVisible(visibility, id, lengths[id] ?? 0, a > 0 && table.isOpen(lists, a));
    }
  }
  visibility.docs = docs;
  visibility.lastAcl = lastAcl;
}

const NOTHING = { bits: new Uint32Array(0), items: 0, length: 0 };

function isCurrent({ docs, logEpoch, logLength }: SegmentVisibility, { columns, accessLog }: SegmentView): boolean {
  return docs === columns.docs && logEpoch === accessLog.epoch && logLength === accessLog.ids.length;
}

/**
 * Checks a word of 32 documents at a time, without branches on visibility: 1 ns per document. Counts only documents
 * that aren't in `part`.
 */
function addByBits(
  visibility: SegmentVisibility,
  part: Pick<SegmentVisibility, "bits" | "items" | "length">,
  { columns: { acl, lengths, docs } }: SegmentView,
  accesses: Uint32Array,
): void {
  const { bits } = visibility;
  let { items, length } = part;
  for (let from = 0; from < docs; from += 32) {
    const word = wordAt(acl, from, Math.min(docs, from + 32), accesses);
    bits[from >>> 5] = word;
    for (let more = word & ~(part.bits[from >>> 5] ?? 0); more !== 0; more &= more - 1) {
      length += lengths[from + 31 - Math.clz32(more & -more)] ?? 0;
      items++;
    }
  }
  visibility.items = items;
  visibility.length = length;
}

function wordAt(acl: Uint32Array, from: number, until: number, accesses: Uint32Array): number {
  let word = 0;
  let id = from;
  for (; id + 4 <= until; id += 4) {
    const opened =
      bitAt(accesses, acl[id] ?? 0) |
      (bitAt(accesses, acl[id + 1] ?? 0) << 1) |
      (bitAt(accesses, acl[id + 2] ?? 0) << 2) |
      (bitAt(accesses, acl[id + 3] ?? 0) << 3);
    word |= opened << (id & 31);
  }
  for (; id < until; id++) word |= bitAt(accesses, acl[id] ?? 0) << (id & 31);
  return word;
}

function greatestOf(acl: Uint32Array, docs: number): number {
  let greatest = 0;
  for (let id = 0; id < docs; id++) greatest = Math.max(greatest, acl[id] ?? 0);
  return greatest;
}

/** Brings the visibility up to its segment's state; false when it must be recomputed. */
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
    // Documents that weren't checked yet follow below, with their newest access.
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
