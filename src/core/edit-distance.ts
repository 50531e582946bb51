/**
 * Returns the choice that is nearest to a mistyped word, ignoring case; undefined when every choice is more than `most`
 * letters away.
 */
export function closest(word: string, choices: readonly string[], most: number): string | undefined {
  // The difference in length is a lower bound of the distance, so a long word costs nothing.
  const [best] = choices
    .filter((choice) => Math.abs(choice.length - word.length) <= most)
    .map((choice) => ({ choice, distance: editDistance(word.toLowerCase(), choice.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= most ? best.choice : undefined;
}

/**
 * Returns how many letters must be inserted, dropped, replaced or swapped with their neighbor to turn one word into the
 * other.
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substituted, swapped));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
