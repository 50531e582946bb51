import type { ItemRecord } from "#storage/records/items.ts";
import { placeAt } from "#text/sections.ts";
import { urlOfPlace } from "#text/place-url.ts";
import type { SnippetOptions } from "#text/snippet.ts";
import type { SearchPassage } from "./types.ts";
import type { Excerpt, ExcerptRequest, SearchIndex } from "#storage/search-index.ts";

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
        passages.map((passage) => withPlace(item, passage)),
      );
  });
  return { of, isOutdated: of.size < withText.length };
}

function withPlace(item: ItemRecord, passage: Excerpt): SearchPassage {
  const { line, ...plain } = passage;
  // Where the match stands, which may be in a later section than the passage's beginning.
  const place = placeAt(item.sections, passage.at + (passage.highlights[0]?.start ?? 0));
  const section = place?.path ?? (line === undefined ? undefined : `line ${line}`);
  const url = urlOfPlace(item, { section: place?.section, line });
  return { ...plain, ...(section !== undefined && { section }), ...(url !== undefined && { url }) };
}
