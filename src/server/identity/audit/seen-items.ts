import { LRUCache } from "lru-cache";

/** Distinct items tracked at once: about 20 MB. */
const MAX_ITEMS = 200_000;
/** Limit for the marks of all readers, one bit per item. */
const MAX_MARK_BYTES = 8 * 2 ** 20;
/** Memory per reader besides its marks. */
const READER_BYTES = 200;
/** Marks start at 2,048 items and double. */
const FIRST_BYTES = 256;

/** Makes the marks of all readers: in memory and bounded; the reader that was idle longest is dropped first. */
export function makeSeenItems() {
  const numbers = new Map<string, number>();
  const marks = new LRUCache<string, Uint8Array>({
    maxSize: MAX_MARK_BYTES,
    sizeCalculation: (bits) => bits.length + READER_BYTES,
  });

  // Marks are cleared with the numbers: afterwards a number means another item.
  function clear(): void {
    numbers.clear();
    marks.clear();
  }

  function numberOf(item: string): number {
    const number = numbers.get(item) ?? numbers.size;
    numbers.set(item, number);
    return number;
  }

  return {
    /** Returns those of `items` that are not marked for this reader. */
    findNew(reader: string, items: readonly string[]): string[] {
      const bits = marks.get(reader);
      return items.filter((item) => {
        const number = numbers.get(item);
        return bits === undefined || number === undefined || !isMarked(bits, number);
      });
    },
    mark(reader: string, items: readonly string[]): void {
      if (numbers.size + items.length > MAX_ITEMS) clear();
      let bits = marks.get(reader) ?? new Uint8Array(FIRST_BYTES);
      for (const number of items.map(numberOf)) {
        while (number >> 3 >= bits.length) bits = doubled(bits);
        bits[number >> 3] = (bits[number >> 3] ?? 0) | (1 << (number & 7));
      }
      marks.set(reader, bits);
    },
    clear,
  };
}

function isMarked(bits: Uint8Array, number: number): boolean {
  return ((bits[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
}

function doubled(bits: Uint8Array): Uint8Array {
  const larger = new Uint8Array(bits.length * 2);
  larger.set(bits);
  return larger;
}
