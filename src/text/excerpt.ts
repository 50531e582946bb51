import { makeMarkFinder, type MarkFinder } from "./mark-finder.ts";
import type { Marks } from "./marks.ts";
import { bestSnippets, type Passage, type SnippetOptions, type TextChunk } from "./snippet.ts";

/** A stored text that is read as far as it is needed. */
export interface StoredText {
  /** UTF-16 code units in all. */
  chars: number;
  /** The chunks that touch the stretch from `start` (inclusive) to `end` (exclusive), in order. */
  read(start: number, end: number): readonly TextChunk[];
}

/** Code units looked at in one go; a long text is read on only while no word of the query has been seen. */
const SPAN = 128 * 1024;
const MAX_SPANS = 8;

/**
 * The passages of a text that answer a query best, in the order of the text; its beginning when no word of the query
 * stands in the first million of code units. Synchronous and up to some 40 ms of work for a long text: not for the
 * main thread.
 *
 * @param find made once for the texts of one query
 * @param isLate asked before each further stretch: true = what was found so far has to do
 */
export function excerptOf(
  text: StoredText,
  marks: Marks,
  options: SnippetOptions,
  isLate: () => boolean = () => false,
  find: MarkFinder = makeMarkFinder(marks),
): Passage[] {
  const hasWords = marks.terms.size + marks.prefixes.length + marks.phrases.length > 0;
  let first: Passage[] = [];
  for (let span = 0; span < MAX_SPANS && span * SPAN < text.chars; span++) {
    const found = snippetsIn(text.read(span * SPAN, (span + 1) * SPAN), marks, options, find);
    if (isMarked(found)) return found;
    if (span === 0) first = found;
    if (!hasWords || isLate()) break;
  }
  return first;
}

/** From the parts that are likely to hold the words; from everything when those hold none after all. */
function snippetsIn(chunks: readonly TextChunk[], marks: Marks, options: SnippetOptions, find: MarkFinder): Passage[] {
  const parts = likelyRanges(chunks, marks);
  const likely = parts && bestSnippets(parts, marks, options, find);
  return likely && isMarked(likely) ? likely : bestSnippets(chunks, marks, options, find);
}

function isMarked(passages: readonly Passage[]): boolean {
  return passages.some(({ highlights }) => highlights.length > 0);
}

/** Parts looked at closely; the best snippet is almost always in the one with most of the words. */
const MAX_RANGES = 8;
const PART_CHARS = 1_500;
/** Kept around a part, so that a sentence at its edge stays whole. */
const MARGIN = 250;

/**
 * The parts of a text that may hold words of the query, the fullest ones, in order. Analyzing a whole document for each
 * of ten hits took 24 ms a search; a look for the beginnings of the words finds where it is worth it.
 *
 * @returns undefined when the words can't be looked for this way (other scripts, irregular forms): look everywhere
 */
export function likelyRanges(chunks: readonly TextChunk[], marks: Marks): TextChunk[] | undefined {
  const needles = needlesOf(marks);
  if (needles === undefined) return undefined;
  const parts = chunks.flatMap((chunk) => partsOf(chunk, needles));
  if (parts.length === 0) return undefined;
  const best = parts.sort((a, b) => b.score - a.score || a.from - b.from).slice(0, MAX_RANGES);
  return merge(best.sort((a, b) => a.from - b.from));
}

interface Part {
  chunk: TextChunk;
  /** Offset in the item's text; orders the parts. */
  from: number;
  until: number;
  score: number;
}

/** Beginnings that survive stemming: all but the last two letters, at least three. */
function needlesOf({ terms, prefixes, phrases }: Marks): string[] | undefined {
  const words = [
    ...terms.keys(),
    ...prefixes.map(({ prefix }) => prefix),
    ...phrases.flatMap(({ words: inside }) => inside.map(({ term }) => term)),
  ].map((word) => word.replace(/^=/, ""));
  if (words.length === 0 || words.some((word) => !/^[a-z0-9]+$/.test(word))) return undefined;
  return [...new Set(words.map((word) => word.slice(0, Math.max(3, word.length - 2))))];
}

function partsOf(chunk: TextChunk, needles: readonly string[]): Part[] {
  const text = chunk.text.toLowerCase();
  // Lower-casing can change the length of a text in rare scripts: its offsets would not be the text's own.
  if (text.length !== chunk.text.length)
    return [{ chunk, from: chunk.start, until: chunk.start + text.length, score: 1 }];
  const scores = new Map<number, number>();
  for (const needle of needles) {
    let last = -1;
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, (last + 1) * PART_CHARS)) {
      last = Math.floor(at / PART_CHARS);
      scores.set(last, (scores.get(last) ?? 0) + 1);
    }
  }
  return [...scores].map(([part, score]) => ({
    chunk,
    from: chunk.start + Math.max(0, part * PART_CHARS - MARGIN),
    until: chunk.start + Math.min(text.length, (part + 1) * PART_CHARS + MARGIN),
    score,
  }));
}

/** Overlapping parts of one chunk become one. */
function merge(parts: readonly Part[]): TextChunk[] {
  const merged: Part[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (last && last.chunk === part.chunk && part.from <= last.until) last.until = Math.max(last.until, part.until);
    else merged.push({ ...part });
  }
  return merged.map(({ chunk, from, until }) => cutWhole(chunk, from - chunk.start, until - chunk.start));
}

/** A stretch of a chunk that splits no surrogate pair. */
function cutWhole(chunk: TextChunk, from: number, until: number): TextChunk {
  const isLow = (at: number) => at > 0 && at < chunk.text.length && (chunk.text.charCodeAt(at) & 0xfc00) === 0xdc00;
  const start = isLow(from) ? from - 1 : from;
  const end = isLow(until) ? until + 1 : until;
  return { start: chunk.start + start, text: chunk.text.slice(start, end) };
}
