import { makeMarks } from "#server/analysis/marks.ts";
import { findPassages as findIn, MAX_FIND_PASSAGES, type Passage } from "#server/analysis/snippet.ts";
import type { Policy } from "#server/access/policy.ts";
import type { Actor } from "#server/ports/actor.ts";
import type { ItemRecord } from "#server/ports/store/items.ts";
import { readItem, requireText } from "./content.ts";

export interface FoundPassages {
  item: ItemRecord;
  /** At most eight of 600 UTF-16 code units, in the order of the text; `at` is an offset in the whole. */
  passages: Passage[];
  /** How many there are in all. */
  total: number;
}

/** UTF-16 code units looked at in one go; a phrase across such a seam is not found. */
const SPAN = 1_000_000;

/**
 * The passages around the places where words or quoted phrases stand in an item's text.
 *
 * @throws ApiError `not_found` when it is not there or not theirs to read, `no_text`
 */
export function findPassages(policy: Policy, actor: Actor, kbId: string, words: string): Promise<FoundPassages> {
  return readItem(policy, actor, kbId, async ({ store }, item) => {
    requireText(item);
    const marks = makeMarks(words);
    const passages: Passage[] = [];
    let total = 0;
    for (let start = 0; start < item.textChars; start += SPAN) {
      const end = start + SPAN;
      const chunks = await store.items.textChunks(kbId, start, end);
      const found = findIn(
        chunks.map((chunk) => within(chunk, start, end)),
        marks,
      );
      passages.push(...found.passages.slice(0, MAX_FIND_PASSAGES - passages.length));
      total += found.total;
    }
    return { item, passages, total };
  });
}

/** The part of a chunk that lies in [start, end). */
function within(chunk: { start: number; text: string }, start: number, end: number) {
  const from = Math.max(0, start - chunk.start);
  return { start: chunk.start + from, text: chunk.text.slice(from, end - chunk.start) };
}
