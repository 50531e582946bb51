/** A growing set of small numbers, one bit each. */
export class NumberSet {
  #words = new Uint32Array(64);

  has(n: number): boolean {
    return ((this.#words[n >>> 5] ?? 0) & (1 << (n & 31))) !== 0;
  }

  add(n: number): void {
    const at = n >>> 5;
    if (at >= this.#words.length) {
      const larger = new Uint32Array(Math.max(at + 1, this.#words.length * 2));
      larger.set(this.#words);
      this.#words = larger;
    }
    this.#words[at] = (this.#words[at] ?? 0) | (1 << (n & 31));
  }
}
