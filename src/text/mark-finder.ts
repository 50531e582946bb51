import { findMarks, type Mark, type Marks } from "./marks.ts";
import { makeNarrow } from "./narrow.ts";

/** Gives the marks of a text, as `findMarks` does. */
export type MarkFinder = (text: string) => Mark[];

/** Longer stretches are seldom met twice. */
const KEPT_CHARS = 48;
const KEPT = 2_000;

/**
 * Makes a finder of the marks of one query for several texts. It analyzes only stretches that may hold one, and those that
 * come again, as a query's words do, once.
 */
export function makeMarkFinder(marks: Marks): MarkFinder {
  const narrow = makeNarrow(marks);
  const known = new Map<string, readonly Mark[]>();
  const look = (stretch: string): readonly Mark[] => {
    const kept = known.get(stretch);
    if (kept !== undefined) return kept;
    const found = findMarks(stretch, marks);
    if (stretch.length <= KEPT_CHARS && known.size < KEPT) known.set(stretch, found);
    return found;
  };
  return (text) => {
    const all: Mark[] = [];
    for (const { start: offset, end: until } of narrow(text)) {
      for (const { start, end, unit } of look(text.slice(offset, until))) {
        all.push({ start: start + offset, end: end + offset, unit });
      }
    }
    return all;
  };
}
