import { makeMarkFinder, type MarkFinder } from "./mark-finder.ts";
import type { Mark, Marks } from "./marks.ts";

/** A piece of stored text; `start` is its offset in the whole text, in UTF-16 code units. */
export interface TextChunk {
  start: number;
  text: string;
}

/** A part of a text that is shown. */
export interface Passage {
  /** Offset of the part in the whole text, in UTF-16 code units; never inside a surrogate pair. */
  at: number;
  text: string;
  /** Matching ranges of `text`, without overlaps. */
  highlights: { start: number; end: number }[];
}

export interface SnippetOptions {
  /** Maximum length of a passage in UTF-16 code units. */
  maxChars: number;
  /** Maximum number of passages; 1 by default. */
  count?: number;
}

export const MAX_FIND_PASSAGES = 8;
export const MAX_FIND_CHARS = 600;

/** The length of the part of a chunk that is searched again together with the next chunk, so that nothing is missed at the boundary. */
const OVERLAP = 600;

/**
 * Returns the passages of a text that match a query best: those with most of its words near each other, where rare words weigh more. Passages end at
 * sentences if that fits. Passages come in the order of the text and do not overlap. Without a match, it returns the beginning of the text.
 *
 * @param chunks the text in ascending chunks; only these are searched
 * @param find finds the marks; made once for the texts of one query
 */
export function bestSnippets(
  chunks: readonly TextChunk[],
  marks: Marks,
  options: SnippetOptions,
  find: MarkFinder = makeMarkFinder(marks),
): Passage[] {
  const { maxChars, count = 1 } = options;
  const windows = collectWindows(chunks, find, maxChars);
  const chosen: Window[] = [];
  while (chosen.length < count) {
    // A passage extends at most this far from the start of its window.
    const isFree = (one: Window) => chosen.every((other) => Math.abs(placeOf(one) - placeOf(other)) > maxChars * 1.5);
    const best = bestOf(windows, isFree);
    if (best === undefined) break;
    chosen.push(best);
  }
  if (chosen.length === 0) return beginning(chunks, maxChars);
  return chosen.sort((a, b) => placeOf(a) - placeOf(b)).map((window) => cut(stretchOf(window), maxChars));
}

/** Returns the first of the windows with the highest value. */
function bestOf(windows: readonly Window[], isFree: (one: Window) => boolean): Window | undefined {
  let best: Window | undefined;
  for (const one of windows) {
    if (best !== undefined && one.value <= best.value) continue;
    if (isFree(one)) best = one;
  }
  return best;
}

/** The result of `findPassages`. */
export interface FoundPassages {
  /** At most eight passages of 600 UTF-16 code units each, in the order of the text. */
  passages: Passage[];
  /** The number of passages that were counted. */
  total: number;
  /** False when the text may contain more passages than `total`. */
  isTotalExact: boolean;
}

/**
 * Maximum number of passages that are counted: no one reads more than a thousand, and a common word occurs tens of thousands of times in a long text.
 */
export const MAX_FIND_TOTAL = 1_000;

/**
 * Returns the passages around the occurrences of the words or phrases, at most eight of 600 characters each. The words are compared literally, as the
 * analyzer splits them; they are never a pattern. `total` counts such passages up to a thousand. Source: B12, S24.
 *
 * @param isLate called before each further chunk: returns true to stop and use what was found so far
 */
export function findPassages(
  chunks: Iterable<TextChunk>,
  marks: Marks,
  isLate: () => boolean = () => false,
): FoundPassages {
  const find = makeMarkFinder(marks);
  const passages: Passage[] = [];
  let total = 0;
  let end = -1;
  for (const view of overlapping(chunks)) {
    if (view.start > 0 && isLate()) return { passages, total, isTotalExact: false };
    const found = newMarks(view, find);
    for (const [i, mark] of found.entries()) {
      if (view.start + mark.start < end) continue;
      if (total === MAX_FIND_TOTAL) return { passages, total, isTotalExact: false };
      total++;
      const to = found[lastWithin(found, i, MAX_FIND_CHARS / 2)]?.end ?? mark.end;
      const passage = cut({ view, marks: found, from: mark.start, to }, MAX_FIND_CHARS, end);
      end = passage.at + passage.text.length;
      if (passages.length < MAX_FIND_PASSAGES) passages.push(passage);
    }
  }
  return { passages, total, isTotalExact: true };
}

/** A chunk together with the end of the chunk before it. Marks that end within the first `seen` characters were already counted. */
interface View {
  start: number;
  text: string;
  seen: number;
  isLast: boolean;
}

/** The marks of a view from the first to the last of a window, and how much of the query they cover. */
interface Window {
  view: View;
  marks: readonly Mark[];
  first: number;
  last: number;
  value: number;
}

/** The core of a passage. Its offsets are relative to the view. */
interface Stretch {
  view: View;
  marks: readonly Mark[];
  from: number;
  to: number;
}

function* overlapping(chunks: Iterable<TextChunk>): Generator<View> {
  let before: TextChunk | undefined;
  let held: TextChunk | undefined;
  // One chunk is held back, so that the last one can be recognized.
  for (const chunk of chunks) {
    if (held !== undefined) yield viewOf(held, before, false);
    [before, held] = [held, chunk];
  }
  if (held !== undefined) yield viewOf(held, before, true);
}

function viewOf(chunk: TextChunk, before: TextChunk | undefined, isLast: boolean): View {
  const isAdjacent = before !== undefined && before.start + before.text.length === chunk.start;
  const tail = isAdjacent ? before.text.slice(avoidPairs(before.text, Math.max(0, before.text.length - OVERLAP))) : "";
  return { start: chunk.start - tail.length, text: tail + chunk.text, seen: tail.length, isLast };
}

/**
 * Returns the marks that weren't found in the chunk before. A mark that touches the boundary is left to the next view, which contains its whole word.
 */
function newMarks(view: View, find: MarkFinder): Mark[] {
  const { text, seen, isLast } = view;
  return find(text).filter(({ end }) => (seen === 0 || end >= seen) && (isLast || end < text.length));
}

function collectWindows(chunks: readonly TextChunk[], find: MarkFinder, maxChars: number): Window[] {
  const views = [...overlapping(chunks)].map((view) => ({ view, found: newMarks(view, find) }));
  const counts: number[] = [];
  for (const { found } of views) for (const { unit } of found) counts[unit] = (counts[unit] ?? 0) + 1;
  return views.flatMap(({ view, found }) => windowsIn(view, found, counts, maxChars));
}

/** Returns a window that starts at each mark. The windows overlap, so each starts from the state of the one before. */
function windowsIn(view: View, found: readonly Mark[], counts: readonly number[], maxChars: number): Window[] {
  const windows: Window[] = [];
  // The number of occurrences of each unit in the window, and the total worth of the units that occur.
  const inside = new Uint32Array(counts.length);
  let [last, worth] = [-1, 0];
  for (const [first, mark] of found.entries()) {
    let isOther = false;
    const reach = lastWithin(found, first, maxChars, last);
    for (const next of found.slice(last + 1, reach + 1)) isOther = enter(inside, next) || isOther;
    last = reach;
    if (isOther) worth = worthOf(inside, counts);
    // The number of marks only breaks ties.
    const value = Math.min(last - first + 1, 20) / 1000 + worth;
    windows.push({ view, marks: found, first, last, value });
    if (leave(inside, mark)) worth = worthOf(inside, counts);
  }
  return windows;
}

/** Adds a mark to the window; returns true if it is the first of its unit. */
function enter(inside: Uint32Array, { unit }: Mark): boolean {
  const before = inside[unit] ?? 0;
  inside[unit] = before + 1;
  return before === 0;
}

/** Removes a mark from the window; returns true if it was the last of its unit. */
function leave(inside: Uint32Array, { unit }: Mark): boolean {
  const left = (inside[unit] ?? 1) - 1;
  inside[unit] = left;
  return left === 0;
}

/** Adds up the worth of the units in the window. Each unit counts once; a unit that is rare in this text is worth up to twice as much. */
function worthOf(inside: Uint32Array, counts: readonly number[]): number {
  let worth = 0;
  for (let unit = 0; unit < inside.length; unit++) if (inside[unit] !== 0) worth += 1 + 1 / (counts[unit] ?? 1);
  return worth;
}

/** Returns the start of a window as an offset in the whole text. */
function placeOf({ view, marks, first }: Window): number {
  return view.start + (marks[first]?.start ?? 0);
}

function stretchOf({ view, marks, first, last }: Window): Stretch {
  const inside = marks.slice(first, last + 1);
  return { view, marks, from: inside[0]?.start ?? 0, to: inside.reduce((end, mark) => Math.max(end, mark.end), 0) };
}

/** Returns the last mark that ends near enough to the start of `first`; the mark is known to be `from` or a later one. */
function lastWithin(marks: readonly Mark[], first: number, maxChars: number, from = first): number {
  const start = marks[first]?.start ?? 0;
  let last = Math.max(first, from);
  while (last + 1 < marks.length && (marks[last + 1]?.end ?? Infinity) - start <= maxChars) last++;
  return last;
}

/** Cuts the passage around its core. It contains whole sentences if they fit, and never begins before `after`, an offset in the whole text. */
function cut({ view, marks, from, to }: Stretch, maxChars: number, after = 0): Passage {
  const last = Math.min(to, from + maxChars);
  const spare = maxChars - (last - from);
  const floor = Math.max(0, after - view.start, from - Math.floor(spare / 2));
  const start = alignStart(view.text, from, floor);
  const end = alignEnd(view.text, last, Math.min(view.text.length, start + maxChars));
  return passageOf(view, start, end, marks);
}

function passageOf(view: View, start: number, end: number, marks: readonly Mark[]): Passage {
  const highlights: Passage["highlights"] = [];
  for (const mark of marks) {
    if (mark.start < start || mark.end > end) continue;
    const last = highlights.at(-1);
    if (last !== undefined && mark.start - start < last.end) last.end = Math.max(last.end, mark.end - start);
    else highlights.push({ start: mark.start - start, end: mark.end - start });
  }
  return { at: view.start + start, text: view.text.slice(start, end), highlights };
}

function beginning(chunks: readonly TextChunk[], maxChars: number): Passage[] {
  const first = chunks[0];
  if (first === undefined || first.text.trim() === "") return [];
  const start = first.text.length - first.text.trimStart().length;
  const end = alignEnd(first.text, Math.min(first.text.length, start + maxChars / 2), start + maxChars);
  return [{ at: first.start + start, text: first.text.slice(start, end), highlights: [] }];
}

/** The end of a sentence: a full stop, question mark or exclamation mark before a space, a full stop of a script without spaces, or a line break. */
const SENTENCE_END = /[.!?\u2026]["')\]]*\s|[\u3002\uff01\uff1f]|\n/;

/** Returns the best position at or after `floor` to begin a passage whose first word starts at `at`. */
function alignStart(text: string, at: number, floor: number): number {
  const before = text.slice(floor, at);
  let start = floor === 0 ? 0 : -1;
  for (const match of before.matchAll(new RegExp(SENTENCE_END, "g"))) start = floor + match.index + match[0].length;
  if (start < 0) {
    // No sentence begins here, so the passage begins at a whole word at least.
    const space = before.search(/\s/);
    start = space < 0 ? floor : floor + space + 1;
  }
  while (start < at && /\s/.test(text[start] ?? "")) start++;
  return avoidPairs(text, start);
}

/** Returns the best position at or before `ceiling` to end a passage whose last word ends at `at`. */
function alignEnd(text: string, at: number, ceiling: number): number {
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

/** Moves an offset that would split a surrogate pair to the start of the pair. */
function avoidPairs(text: string, offset: number): number {
  const before = text.charCodeAt(offset - 1);
  const here = text.charCodeAt(offset);
  const isInside = before >= 0xd800 && before <= 0xdbff && here >= 0xdc00 && here <= 0xdfff;
  return isInside ? offset - 1 : offset;
}
