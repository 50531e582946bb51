import type { Passage, SnippetOptions } from "#server/analysis/snippet.ts";
import type { SearchPassage } from "#server/ports/answers.ts";
import type { ExcerptRequest, SearchIndex } from "#server/ports/search-index.ts";
import type { ItemRecord } from "#server/ports/store/items.ts";

export interface PassagesOf {
  /** By kbId; an item without text has no entry. */
  of: Map<string, SearchPassage[]>;
  /** Some item is not as it was judged any more: its passages are missing. */
  isOutdated: boolean;
}

const CONCISE: SnippetOptions = { maxChars: 240, count: 1 };
const DETAILED: SnippetOptions = { maxChars: 600, count: 3 };

/** The passages of judged items that answer the query best, each with the section that holds it. */
export async function passagesOf(
  index: Pick<SearchIndex, "excerpts">,
  items: readonly ItemRecord[],
  { isDetailed, ...about }: Pick<ExcerptRequest, "workspaceId" | "viewer" | "query"> & { isDetailed: boolean },
): Promise<PassagesOf> {
  const withText = items.flatMap((item) => (item.textHash === null ? [] : [{ item, textHash: item.textHash }]));
  if (withText.length === 0) return { of: new Map(), isOutdated: false };
  const found = await index.excerpts({
    ...about,
    items: withText.map(({ item: { kbId }, textHash }) => ({ kbId, textHash })),
    options: isDetailed ? DETAILED : CONCISE,
  });
  const of = new Map<string, SearchPassage[]>();
  withText.forEach(({ item }, at) => {
    const passages = found[at];
    if (passages)
      of.set(
        item.kbId,
        passages.map((passage) => withSection(item, passage)),
      );
  });
  return { of, isOutdated: of.size < withText.length };
}

function withSection(item: ItemRecord, passage: Passage): SearchPassage {
  const section = item.sections.findLast(({ start }) => start <= passage.at);
  return { ...passage, ...(section !== undefined && { section: section.name }) };
}
