/**
 * 16-bit hashes of terms, which are stored in files. For a query of some hundred terms, one in some hundred documents
 * has a collision.
 */

/** Calls `visit` with the hash of each of `count` lines. */
export function eachHash(lines: string, count: number, visit: (hash: number) => void): void {
  let at = 0;
  for (let line = 0; line < count; line++) {
    let hash = SEED;
    for (; at < lines.length; at++) {
      const unit = lines.charCodeAt(at);
      if (unit === NEWLINE) break;
      hash = Math.imul(hash ^ unit, PRIME);
    }
    at++;
    visit(shortened(hash));
  }
}

export function hashOf(term: string): number {
  let hash = SEED;
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash ^ term.charCodeAt(at), PRIME);
  return shortened(hash);
}

const NEWLINE = 10;
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** Reduces an FNV-1a hash to half its bits. */
function shortened(hash: number): number {
  return (hash ^ (hash >>> 16)) & 0xffff;
}
