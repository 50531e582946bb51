import { LRUCache } from "lru-cache";

/** Maximum number of distinct items tracked at once: about 20 MB. */
const MAX_ITEMS = 200_000;
/** Maximum bytes of the marks of all readers, at one bit per item. */
const MAX_MARK_BYTES = 8 * 2 ** 20;
/** Memory per reader in addition to its marks. */
const READER_BYTES = 200;
/** Initial bytes of a reader's marks. They start at 2,048 items and double. */
const FIRST_BYTES = 256;

/** Makes the marks of all readers, in bounded memory. The reader that was idle longest is dropped first. */
export function makeSeenItems() {
  const numbers = new Map<string, number>();
  const marks = new LRUCache<string, Uint8Array>({
    maxSize: MAX_MARK_BYTES,
    sizeCalculation: (bits) => bits.length + READER_BYTES,
  });

  // The marks are cleared together with the item numbers, since a number then means another item.
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
    /** Returns those of `items` that aren't marked for this reader. */
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
