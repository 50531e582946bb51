import { makeMarkFinder, type MarkFinder } from "./mark-finder.ts";
import type { Marks } from "./marks.ts";
import { bestSnippets, type Passage, type SnippetOptions, type TextChunk } from "./snippet.ts";

/** A stored text that is read as far as needed. */
export interface StoredText {
  /** Total UTF-16 code units. */
  chars: number;
  /** Returns the chunks that overlap the range from `start` (inclusive) to `end` (exclusive), in order. */
  read(start: number, end: number): readonly TextChunk[];
}

/** Code units that are searched at once. More of a long text is read only while no word of the query has been found. */
const SPAN = 128 * 1024;
const MAX_SPANS = 8;

/**
 * The passages of a text that match a query best, in the order of the text; the beginning of the text when no word of the query is in the first
 * million code units. The function is synchronous and takes up to some 40 ms for a long text, so don't call it on the main thread.
 *
 * @param find finds the marks; made once for the texts of one query
 * @param isLate called before each further range: returns true to stop and use what was found so far
 */
export function excerptOf(
  text: StoredText,
  marks: Marks,
  options: SnippetOptions,
  isLate: () => boolean = () => false,
  find: MarkFinder = makeMarkFinder(marks),
): Passage[] {
  if (options.count === 0) return [];
  const hasWords = marks.terms.size + marks.prefixes.length + marks.phrases.length > 0;
  let first: Passage[] = [];
  for (let span = 0; span < MAX_SPANS && span * SPAN < text.chars; span++) {
    const found = bestSnippets(text.read(span * SPAN, (span + 1) * SPAN), marks, options, find);
    if (isMarked(found)) return found;
    if (span === 0) first = found;
    if (!hasWords || isLate()) break;
  }
  return first;
}

function isMarked(passages: readonly Passage[]): boolean {
  return passages.some(({ highlights }) => highlights.length > 0);
}
