/**
 * Whether `a` comes after `b` in the database's order, which compares UTF-8 bytes. JavaScript compares code units, so
 * it sorts characters beyond U+FFFF before those from U+E000 on.
 */
export function isAfterInBytes(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return rank(x) > rank(y);
  }
  return a.length > b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
