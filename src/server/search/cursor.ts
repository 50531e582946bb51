import type { HitPosition, Matching, SearchOrder } from "#storage/search-index.ts";
import type { CursorPosition } from "#server/http/cursor.ts";

/** The position from which a search continues. */
export interface SearchPosition {
  position: HitPosition;
  match: Matching;
  hasFeedback: boolean;
  order: SearchOrder;
}

const ORDERS: readonly SearchOrder[] = ["relevance", "recency", "due"];
const FLAG = { all: 1, any: 2, negative: 16, undated: 32, one: 64, feedback: 128 } as const;
/** The largest value that fits a cursor's six bytes. */
const MAX_VALUE = 2 ** 47;

/**
 * Converts a position to a cursor's. Dates fit completely. Of a score's 64 bits, only the upper 48 fit, and `show` of
 * the index finds the others.
 */
export function toCursorPosition({ position, match, hasFeedback, order }: SearchPosition): CursorPosition {
  const { group, value, kbId } = position;
  const isScore = order === "relevance";
  const isUndated = !isScore && Math.abs(value) > MAX_VALUE;
  const flags =
    (group === 1 ? FLAG.all : 0) +
    (match === "all" ? 0 : FLAG[match]) +
    (hasFeedback ? FLAG.feedback : 0) +
    ORDERS.indexOf(order) * 4 +
    (value < 0 ? FLAG.negative : 0) +
    (isUndated ? FLAG.undated : 0);
  const stored = isUndated ? 0 : isScore ? upperBits(value) : Math.abs(Math.trunc(value));
  return { flags, value: stored, id: kbId.slice(kbId.indexOf("_") + 1) };
}

export function fromCursorPosition({ flags, value, id }: CursorPosition): SearchPosition {
  const order = ORDERS[(flags >> 2) & 3] ?? "relevance";
  const size = (flags & FLAG.undated) !== 0 ? 8.64e15 : order === "relevance" ? fromUpperBits(value) : value;
  return {
    position: {
      group: (flags & FLAG.all) !== 0 ? 1 : 0,
      value: (flags & FLAG.negative) !== 0 ? -size : size,
      kbId: `kbi_${id}`,
    },
    match: (flags & FLAG.one) !== 0 ? "one" : (flags & FLAG.any) !== 0 ? "any" : "all",
    hasFeedback: (flags & FLAG.feedback) !== 0,
    order,
  };
}

function upperBits(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.max(0, value));
  return Number(view.getBigUint64(0) >> 16n);
}

function fromUpperBits(bits: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(bits) << 16n);
  return view.getFloat64(0);
}
