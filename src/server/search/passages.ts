import { bestSnippets, type Passage, type SnippetOptions, type TextChunk } from "#server/analysis/snippet.ts";
import { makeMarks, type Marks } from "#server/analysis/marks.ts";
import type { SearchPassage } from "#server/ports/answers.ts";
import type { ItemRecord, ItemStore } from "#server/ports/store/items.ts";
import { likelyParts } from "./likely-parts.ts";

/** Code units looked at in one go; a long text is read on only while no word of the query has been seen. */
const SPAN = 128 * 1024;
const MAX_SPANS = 8;

/** The passages of an item that answer the query best, from the text of the state that was judged. */
export async function passagesOf(
  items: Pick<ItemStore, "textChunks">,
  item: ItemRecord,
  query: string,
  isDetailed: boolean,
): Promise<SearchPassage[]> {
  const marks = makeMarks(query);
  const options = isDetailed ? { maxChars: 600, count: 3 } : { maxChars: 240, count: 1 };
  let first: SearchPassage[] = [];
  for (let span = 0; span < MAX_SPANS && span * SPAN < item.textChars; span++) {
    const chunks = await items.textChunks(item.kbId, span * SPAN, (span + 1) * SPAN);
    const found = snippetsIn(chunks, marks, options).map((passage) => withSection(item, passage));
    if (found.some(({ highlights }) => highlights.length > 0)) return found;
    if (span === 0) first = found;
    if (query.trim() === "") break;
  }
  return first;
}

/** From the parts that are likely to hold the words; from everything when those hold none after all. */
function snippetsIn(chunks: readonly TextChunk[], marks: Marks, options: SnippetOptions): Passage[] {
  const parts = likelyParts(chunks, marks);
  const likely = parts && bestSnippets(parts, marks, options);
  if (likely?.some(({ highlights }) => highlights.length > 0)) return likely;
  return bestSnippets(chunks, marks, options);
}

function withSection(item: ItemRecord, passage: Omit<SearchPassage, "section">): SearchPassage {
  const section = item.sections.findLast(({ start }) => start <= passage.at);
  return { ...passage, ...(section !== undefined && { section: section.name }) };
}
