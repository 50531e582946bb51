import { findMarks, type Mark, type Marks } from "./marks.ts";
import { foldWord } from "./fold.ts";
import { writtenByHand } from "./stem-english.ts";

/** Finds the marks of a text, as `findMarks` does. */
export type MarkFinder = (text: string) => Mark[];

/** Pieces longer than this aren't cached, because they rarely occur twice. */
const KEPT_CHARS = 48;
const KEPT = 2_000;

/**
 * Makes a finder of the marks of one query for several texts. It analyzes only pieces that may contain a mark, and analyzes repeated pieces, such as
 * a query's words, once.
 */
export function makeMarkFinder(marks: Marks): MarkFinder {
  const narrow = makeNarrow(marks);
  const known = new Map<string, readonly Mark[]>();
  const findIn = (stretch: string): readonly Mark[] => {
    const kept = known.get(stretch);
    if (kept !== undefined) return kept;
    const found = findMarks(stretch, marks);
    if (stretch.length <= KEPT_CHARS && known.size < KEPT) known.set(stretch, found);
    return found;
  };
  return (text) => {
    const all: Mark[] = [];
    for (const { start: offset, end: until } of narrow(text)) {
      for (const { start, end, unit } of findIn(text.slice(offset, until))) {
        all.push({ start: start + offset, end: end + offset, unit });
      }
    }
    return all;
  };
}

/** A piece of a text whose start and end don't split a word. */
export interface Stretch {
  start: number;
  end: number;
}

/**
 * Returns where in a text the marks may be. Every mark of the text is in one of the pieces, and the analyzer returns the same forms for a piece alone
 * as within the text. The pieces are in order and don't overlap.
 */
export type Narrow = (text: string) => Stretch[];

/**
 * Makes the search for candidate places. Analyzing 20 MB takes most of a second; searching for the letters that are common to all forms of a word
 * takes a hundredth of that.
 */
export function makeNarrow(marks: Marks): Narrow {
  const terms = [...marks.terms.keys()].flatMap(lettersOfTerm);
  const prefixes = marks.prefixes.map(({ prefix }) => prefix);
  // For a phrase, the longest word is searched for: it is usually the rarest, and the other words are next to it.
  const phrases = marks.phrases.map(({ words }) => {
    const exact = words.map(({ exactTerm }) => exactTerm.replace(/^=/, ""));
    return exact.reduce((longest, word) => (word.length > longest.length ? word : longest), "");
  });
  const needles = [...new Set([...terms, ...prefixes, ...phrases])];
  if (needles.length === 0) return () => [];
  const margin = marks.phrases.reduce((most, { words }) => Math.max(most, words.length - 1), 0);
  // Jamo combine with their neighbours into other syllables, so no search text is safe for them.
  if (needles.some((needle) => needle === "" || /\p{Script=Hangul}/u.test(needle))) return whole;
  return needles.every(isAscii) ? narrowAscii(needles, margin) : narrowByFold(needles);
}

const whole: Narrow = (text) => (text === "" ? [] : [{ start: 0, end: text.length }]);

/**
 * Returns consecutive letters that every word with this index term contains. Snowball's rules change at most a stem's last letter, and only to one of
 * three: "flies" is `fli`, "hoping" is `hope`, "ability" is `abl`.
 */
function lettersOfTerm(term: string): string[] {
  if (!/^[a-z]{3,}$/.test(term)) return [term];
  return [/[eil]$/.test(term) ? term.slice(0, -1) : term, ...writtenByHand(term)];
}

/** Characters that can normalize to ASCII letters, or vanish between them. Characters of the scripts that aren't listed normalize to themselves. */
const ODD =
  /[^\0-\x7f\u0391-\u03a9\u03b1-\u03c9\u0400-\u0482\u048a-\u052f\u05d0-\u05ea\u0621-\u063f\u0641-\u064a\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\u2010-\u2018\u201a-\u2026]/g;
const BEYOND_ASCII = /[^\0-\x7f]/;

function narrowAscii(needles: readonly string[], margin: number): Narrow {
  const shortest = needles.filter((one) => !needles.some((other) => other !== one && one.includes(other)));
  const isHeldFolded = holdsFolded(shortest);
  return (text) => {
    // U+0130 is the only letter that is longer in lower case; it normalizes to a plain i.
    const lower = text.replaceAll("\u0130", "i").toLowerCase();
    if (lower.length !== text.length) return whole(text);
    const found: Stretch[] = [];
    const takeFolded = (stretch: Stretch) => {
      if (isHeldFolded(text.slice(stretch.start, stretch.end))) found.push(stretch);
    };
    for (const needle of shortest) eachPlace(lower, needle, found);
    eachApostrophe(text, takeFolded);
    if (BEYOND_ASCII.test(text)) eachMatch(text, ODD, takeFolded);
    return merge(margin === 0 ? found : found.map((stretch) => widen(text, stretch, margin)));
  };
}

/** Adds the piece between spaces around each occurrence of the letters; the search continues after it. */
function eachPlace(lower: string, needle: string, found: Stretch[]): void {
  for (let at = lower.indexOf(needle); at >= 0;) {
    const stretch = { start: startOfStretch(lower, at), end: endOfStretch(lower, at + needle.length) };
    found.push(stretch);
    at = lower.indexOf(needle, stretch.end);
  }
}

function narrowByFold(needles: readonly string[]): Narrow {
  const isHeldFolded = holdsFolded(needles);
  return (text) => (isHeldFolded(text) ? whole(text) : []);
}

function holdsFolded(needles: readonly string[]): (text: string) => boolean {
  return (text) => {
    const folded = foldWord(text);
    const bare = folded.replace(/['\u2019]/g, "");
    return needles.some((needle) => folded.includes(needle) || bare.includes(needle));
  };
}

/** Calls `use` with the piece between spaces around each apostrophe inside a word: words are compared without it. */
function eachApostrophe(text: string, use: (stretch: Stretch) => void): void {
  for (let at = text.indexOf("'"); at >= 0; at = text.indexOf("'", at + 1)) {
    if (isSpace(text, at - 1) || isSpace(text, at + 1)) continue;
    const stretch = { start: startOfStretch(text, at), end: endOfStretch(text, at) };
    use(stretch);
    at = stretch.end;
  }
}

/** Calls `use` with the piece between spaces around each match; the search continues after it. */
function eachMatch(text: string, pattern: RegExp, use: (stretch: Stretch) => void): void {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const stretch = {
      start: startOfStretch(text, match.index),
      end: endOfStretch(text, match.index + match[0].length),
    };
    use(stretch);
    pattern.lastIndex = stretch.end;
  }
}

/** Extends a stretch by `many` pieces with words on both sides. */
function widen(text: string, { start, end }: Stretch, margin: number): Stretch {
  let [from, until] = [start, end];
  for (let left = margin; left > 0 && from > 0;) {
    const before = startOfStretch(text, skipSpaces(text, from - 1, -1));
    if (hasWord(text.slice(before, from))) left--;
    from = before;
  }
  for (let left = margin; left > 0 && until < text.length;) {
    const after = endOfStretch(text, skipSpaces(text, until, 1));
    if (hasWord(text.slice(until, after))) left--;
    until = after;
  }
  return { start: from, end: until };
}

function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Whether the character is at most a space: such characters don't belong to a word in any script. */
function isSpace(text: string, at: number): boolean {
  return text.charCodeAt(at) <= 32;
}

function skipSpaces(text: string, at: number, step: 1 | -1): number {
  let i = at;
  while (i > 0 && i < text.length && isSpace(text, i)) i += step;
  return i;
}

function startOfStretch(text: string, at: number): number {
  let start = at;
  while (start > 0 && !isSpace(text, start - 1)) start--;
  return start;
}

function endOfStretch(text: string, at: number): number {
  let end = at;
  while (end < text.length && !isSpace(text, end)) end++;
  return end;
}

function merge(found: Stretch[]): Stretch[] {
  const merged: Stretch[] = [];
  for (const { start, end } of found.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}
