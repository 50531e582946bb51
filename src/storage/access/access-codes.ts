import { growing, grown, push } from "#storage/index/growing.ts";
import { eachNumber } from "#storage/index/numbers.ts";
import { isOpen } from "./decision.ts";

/**
 * The lists of every access of a workspace, by access number. Numbers only grow and the lists of a number never change,
 * so the table only grows. A set of lists is one bit per list.
 */
export class AccessCodes {
  /**
   * The code of access `a`: 0 = no list; above 0 = its only list; below 0 = its lists begin at `-code` of `#many`, with
   * their count first. With one list, the access is open if the list's bit is set. No list has the number 0, so its bit
   * is never set.
   */
  readonly #codes = growing(new Int32Array(64), 1);
  readonly #many = growing(new Uint32Array(64), 1);
  /** The number of the access that was added last. */
  lastAcl = 0;

  get bytes(): number {
    return this.#codes.array.byteLength + this.#many.array.byteLength;
  }

  /** Whether the access is open to a viewer who holds a principal of each list in `lists`. */
  isOpen(lists: Uint32Array, aclId: number): boolean {
    const code = aclId > this.lastAcl ? 0 : (this.#codes.array[aclId] ?? 0);
    return openBit(code, this.#many.array, lists) === 1;
  }

  /** Returns one bit per access: whether it is open. A million accesses take some 1.2 ms. */
  openTo(lists: Uint32Array): Uint32Array {
    const codes = this.#codes.array;
    const many = this.#many.array;
    const end = this.lastAcl + 1;
    const bits = new Uint32Array((this.lastAcl >>> 5) + 1);
    for (let first = 0; first < end; first += 32) {
      const until = Math.min(end, first + 32);
      let word = 0;
      let a = first;
      // Handles four accesses at a time without branches, because half of the branch predictions would be wrong.
      for (; a + 4 <= until; a += 4) {
        const [one, two, three, four] = [codes[a] ?? 0, codes[a + 1] ?? 0, codes[a + 2] ?? 0, codes[a + 3] ?? 0];
        if ((one | two | three | four) < 0) {
          for (let k = a; k < a + 4; k++) word |= openBit(codes[k] ?? 0, many, lists) << (k & 31);
        } else {
          const opened =
            bitOf(lists, one) | (bitOf(lists, two) << 1) | (bitOf(lists, three) << 2) | (bitOf(lists, four) << 3);
          word |= opened << (a & 31);
        }
      }
      for (; a < until; a++) word |= openBit(codes[a] ?? 0, many, lists) << (a & 31);
      bits[first >>> 5] = word;
    }
    return bits;
  }

  /**
   * Adds the accesses of a chunk, numbered from `first` on. Positions in its codes are relative to the start of its own
   * lists.
   */
  addChunk(first: number, { codes, many }: { codes: Int32Array; many: Int32Array }): void {
    const target = this.#codes;
    const offset = this.#many.length;
    target.array = grown(target.array, first + codes.length);
    target.array.set(codes, first);
    target.length = first + codes.length;
    this.lastAcl = target.length - 1;
    // Most chunks have no lists: `many` then holds only the number that keeps position 0 free.
    if (many.length < 2) return;
    for (const number of many) push(this.#many, number);
    for (let aclId = first; aclId < target.length; aclId++) {
      const code = target.array[aclId] ?? 0;
      if (code < 0) target.array[aclId] = code - offset;
    }
  }

  /** Adds accesses in the form `number:list,list;…`, in ascending order. Skips those that the table already has. */
  addText(text: string): void {
    let aclId = 0;
    let lists: number[] = [];
    eachNumber(text, (number, terminator) => {
      if (terminator === ":") {
        if (aclId > this.lastAcl) this.#add(aclId, lists);
        aclId = number;
        lists = [];
      } else lists.push(number);
    });
    if (aclId > this.lastAcl) this.#add(aclId, lists);
  }

  /** Adds an access; call in ascending order. Skipped numbers are open to no one. */
  #add(aclId: number, lists: readonly number[]): void {
    const codes = this.#codes;
    while (codes.length < aclId) push(codes, 0);
    if (lists.length < 2) push(codes, lists[0] ?? 0);
    else {
      push(codes, -this.#many.length);
      push(this.#many, lists.length);
      for (const listId of lists) push(this.#many, listId);
    }
    this.lastAcl = aclId;
  }
}

/** Returns 1 if an access with this code is open, else 0. */
function openBit(code: number, many: Uint32Array, lists: Uint32Array): number {
  return code >= 0 ? bitOf(lists, code) : isOpenAt(many, -code, lists) ? 1 : 0;
}

/**
 * Decides on the lists that begin at a position of `many`, with their count first. The callback is defined inline so
 * that V8 inlines it.
 */
function isOpenAt(many: Uint32Array, at: number, lists: Uint32Array): boolean {
  return isOpen(many, (listId) => bitOf(lists, listId) === 1, at + 1, at + 1 + (many[at] ?? 0));
}

function bitOf(lists: Uint32Array, listId: number): number {
  return ((lists[listId >>> 5] ?? 0) >>> (listId & 31)) & 1;
}
