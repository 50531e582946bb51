/** First characters of a text that are compared as one number; what follows them takes bits of its place among the texts. */
const PREFIX_CHARS = 5;
const CHAR_BITS = 7;
const MOST_TEXTS = 2 ** 18;

/**
 * The places of texts in the order of their UTF-16 code units: `["b", "a"]` gives `[1, 0]`.
 *
 * The words of a document differ early: their first five ASCII characters and their place make one number of 53 bits, and
 * numbers are sorted without a call for each comparison. Measured at a third of what `sort` takes for the texts.
 */
export function orderOf(texts: readonly string[]): number[] {
  if (texts.length > MOST_TEXTS) return sortedBy(texts, [...texts.keys()]);
  const keys = new Float64Array(texts.length);
  for (let at = 0; at < texts.length; at++) keys[at] = prefixOf(texts[at] ?? "") * MOST_TEXTS + at;
  keys.sort();
  const order: number[] = [];
  let equal: number[] = [];
  let last = -1;
  const flush = () => {
    if (equal.length > 1) sortedBy(texts, equal);
    for (const at of equal) order.push(at);
    equal = [];
  };
  for (const key of keys) {
    const prefix = Math.floor(key / MOST_TEXTS);
    if (prefix !== last) flush();
    last = prefix;
    equal.push(key - prefix * MOST_TEXTS);
  }
  flush();
  return order;
}

/** In the order of the texts as far as it tells them apart: it ends at the first character that is not ASCII. */
function prefixOf(text: string): number {
  let prefix = 0;
  let isOver = false;
  for (let at = 0; at < PREFIX_CHARS; at++) {
    const unit = isOver || at >= text.length ? 0 : text.charCodeAt(at);
    if (unit >= LAST_UNIT) isOver = true;
    prefix = prefix * 2 ** CHAR_BITS + Math.min(unit, LAST_UNIT);
  }
  return prefix;
}

const LAST_UNIT = 2 ** CHAR_BITS - 1;

function sortedBy(texts: readonly string[], places: number[]): number[] {
  return places.sort((a, b) => {
    const [first = "", second = ""] = [texts[a], texts[b]];
    return first < second ? -1 : first > second ? 1 : 0;
  });
}
