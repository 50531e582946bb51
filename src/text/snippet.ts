import { makeMarkFinder, type MarkFinder } from "./mark-finder.ts";
import type { Mark, Marks } from "./marks.ts";

/** A piece of stored text; `start` is its offset in the whole, in UTF-16 code units. */
export interface TextChunk {
  start: number;
  text: string;
}

/** A part of a text as it is shown. */
export interface Passage {
  /** Offset of the part in the whole text, in UTF-16 code units; never inside a surrogate pair. */
  at: number;
  text: string;
  /** Pieces of `text` that match, without overlaps. */
  highlights: { start: number; end: number }[];
}

export interface SnippetOptions {
  /** Longest passage in UTF-16 code units. */
  maxChars: number;
  /** Most passages; 1 by default. */
  count?: number;
}

export const MAX_FIND_PASSAGES = 8;
export const MAX_FIND_CHARS = 600;

/** Part of a chunk that is searched again with the next one, so that nothing is lost at the seam. */
const OVERLAP = 600;

/**
 * The passages of a text that match a query best: most of its words, rare ones first, near each other; cut at sentences
 * if that fits. Passages come in the order of the text and do not overlap. Without a match, the beginning of the text.
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

/** The first of the windows with the highest value. */
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
  /** At most eight of 600 UTF-16 code units, in the order of the text. */
  passages: Passage[];
  /** The total number, as far as they were counted. */
  total: number;
  /** False when there may be more than `total`. */
  isTotalExact: boolean;
}

/** Counted at most: no one reads past the thousandth, and a common word of a long text has tens of thousands. */
export const MAX_FIND_TOTAL = 1_000;

/**
 * The passages around every occurrence of the words or phrases (literally, by the analyzer's words; never a pattern),
 * at most eight of 600 characters. `total` counts such passages up to a thousand. Source: B12, S24.
 *
 * @param isLate called before each further chunk: true = use what was found so far
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

/** A chunk with the end of the one before it; marks that end within `seen` were already counted. */
interface View {
  start: number;
  text: string;
  seen: number;
  isLast: boolean;
}

/** The marks of a view from one to another, with how much of the query they cover. */
interface Window {
  view: View;
  marks: readonly Mark[];
  first: number;
  last: number;
  value: number;
}

/** The core of a passage. Offsets are of the view. */
interface Stretch {
  view: View;
  marks: readonly Mark[];
  from: number;
  to: number;
}

function* overlapping(chunks: Iterable<TextChunk>): Generator<View> {
  let before: TextChunk | undefined;
  let held: TextChunk | undefined;
  // One chunk is held back, so that the last is known to be the last.
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
 * Marks not found in the chunk before. One that touches the seam is left to the next view, which has its whole word.
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

/** A window from each mark on. They overlap, so each starts from the state of the one before. */
function windowsIn(view: View, found: readonly Mark[], counts: readonly number[], maxChars: number): Window[] {
  const windows: Window[] = [];
  // How often each unit occurs in the window, and the total worth of those that do.
  const inside = new Uint32Array(counts.length);
  let [last, worth] = [-1, 0];
  for (const [first, mark] of found.entries()) {
    let isOther = false;
    const reach = lastWithin(found, first, maxChars, last);
    for (const next of found.slice(last + 1, reach + 1)) isOther = enter(inside, next) || isOther;
    last = reach;
    if (isOther) worth = worthOf(inside, counts);
    // Repetition only breaks ties.
    const value = Math.min(last - first + 1, 20) / 1000 + worth;
    windows.push({ view, marks: found, first, last, value });
    if (leave(inside, mark)) worth = worthOf(inside, counts);
  }
  return windows;
}

/** True when it is the first of its unit. */
function enter(inside: Uint32Array, { unit }: Mark): boolean {
  const before = inside[unit] ?? 0;
  inside[unit] = before + 1;
  return before === 0;
}

/** True when it was the last of its unit. */
function leave(inside: Uint32Array, { unit }: Mark): boolean {
  const left = (inside[unit] ?? 1) - 1;
  inside[unit] = left;
  return left === 0;
}

/** Each unit once, a rare one (in this text) up to twice as much. */
function worthOf(inside: Uint32Array, counts: readonly number[]): number {
  let worth = 0;
  for (let unit = 0; unit < inside.length; unit++) if (inside[unit] !== 0) worth += 1 + 1 / (counts[unit] ?? 1);
  return worth;
}

/** Where a window begins in the whole text. */
function placeOf({ view, marks, first }: Window): number {
  return view.start + (marks[first]?.start ?? 0);
}

function stretchOf({ view, marks, first, last }: Window): Stretch {
  const inside = marks.slice(first, last + 1);
  return { view, marks, from: inside[0]?.start ?? 0, to: inside.reduce((end, mark) => Math.max(end, mark.end), 0) };
}

/** The last mark that ends near enough to the start of `first`; it is known to be `from` or later. */
function lastWithin(marks: readonly Mark[], first: number, maxChars: number, from = first): number {
  const start = marks[first]?.start ?? 0;
  let last = Math.max(first, from);
  while (last + 1 < marks.length && (marks[last + 1]?.end ?? Infinity) - start <= maxChars) last++;
  return last;
}

/** Cuts the passage around its core: whole sentences if they fit, never before `after` (an offset in the whole). */
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

/**
 * Ends of sentences: a full stop, question or exclamation mark before a space, an unspaced script's stop, a line break.
 */
const SENTENCE_END = /[.!?\u2026]["')\]]*\s|[\u3002\uff01\uff1f]|\n/;

/** The best place at or after `floor` to begin a passage whose first word starts at `at`. */
function alignStart(text: string, at: number, floor: number): number {
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

/** Moves an offset that would split a surrogate pair to before the pair. */
function avoidPairs(text: string, offset: number): number {
  const before = text.charCodeAt(offset - 1);
  const here = text.charCodeAt(offset);
  const isInside = before >= 0xd800 && before <= 0xdbff && here >= 0xdc00 && here <= 0xdfff;
  return isInside ? offset - 1 : offset;
}
