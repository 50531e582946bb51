import type { PreparedItem } from "#storage/item-batch.ts";
import type { KnownItem, RowExtras } from "./item-rows.ts";

/**
 * How often a text that was cut short by the time limit is read again. After that the text stays as it is, marked as
 * cut.
 */
const RETRIES = 2;
/** Delay before another try. The machine may be less busy by then. */
const RETRY_AFTER_MS = 3_600_000;

type Cut = Pick<RowExtras, "cutRetries" | "readAgainAt">;

/**
 * Decides when and how often an item is read again because the time limit cut its text. A new version, or another
 * reader, gets two retries again.
 *
 * @param version of the item's content
 */
export function cutOf(known: KnownItem | undefined, item: PreparedItem, version: string | null, now: number): Cut {
  const { text, reader } = item;
  if (text.state !== "text" || text.isOutOfTime !== true) return { cutRetries: null, readAgainAt: null };
  const isSame = known?.version === version && known.readerVersion === (reader?.version ?? null);
  const before = isSame ? known.cutRetries : null;
  const cutRetries = before === null ? RETRIES : Math.max(0, Math.min(before, RETRIES) - 1);
  return { cutRetries, readAgainAt: cutRetries === 0 ? null : now + RETRY_AFTER_MS };
}
