/** Ends of sentences: a full stop, question or exclamation mark before a space, an unspaced script's stop, a line break. */
const SENTENCE_END = /[.!?\u2026]["')\]]*\s|[\u3002\uff01\uff1f]|\n/;

/** The best place at or after `floor` to begin a passage whose first word starts at `at`. */
export function alignStart(text: string, at: number, floor: number): number {
  const before = text.slice(floor, at);
  let start = floor === 0 ? 0 : -1;
  for (const match of before.matchAll(new RegExp(SENTENCE_END, "g"))) start = floor + match.index + match[0].length;
  if (start < 0) {
    // No sentence begins here: at least a whole word.
    const space = before.search(/\s/);
    start = space < 0 ? floor : floor + space + 1;
  }
  while (start < at && /\s/.test(text[start] ?? "")) start++;
  return avoidPairs(text, start);
}

/** The best place at or before `ceiling` to end a passage whose last word ends at `at`. */
export function alignEnd(text: string, at: number, ceiling: number): number {
  if (ceiling >= text.length) return text.length;
  const after = text.slice(at, ceiling);
  let end = -1;
  for (const match of after.matchAll(new RegExp(SENTENCE_END, "g"))) end = at + match.index + match[0].trimEnd().length;
  if (end < 0) {
    const space = after.search(/\s\S*$/);
    end = space < 0 ? ceiling : at + space;
  }
  return avoidPairs(text, end);
}

/** Moves an offset that would cut a surrogate pair to before the pair. */
export function avoidPairs(text: string, offset: number): number {
  const before = text.charCodeAt(offset - 1);
  const here = text.charCodeAt(offset);
  const isInside = before >= 0xd800 && before <= 0xdbff && here >= 0xdc00 && here <= 0xdfff;
  return isInside ? offset - 1 : offset;
}
