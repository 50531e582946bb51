import type { PreparedItem } from "#storage/item-batch.ts";
import type { KnownItem, RowExtras } from "./item-rows.ts";

/** Times that a text cut short by the time limit is read again; after that it stays as it is, marked as cut. */
const RETRIES = 2;
/** The load on the machine may have passed by then. */
const RETRY_AFTER_MS = 3_600_000;

type Cut = Pick<RowExtras, "cutRetries" | "readAgainAt">;

/**
 * Decides when and how often an item is read again because its text was cut by the time limit. Another version, or
 * another reader, gets two retries again.
 *
 * @param version that of its content
 */
export function cutOf(known: KnownItem | undefined, item: PreparedItem, version: string | null, now: number): Cut {
  const { text, reader } = item;
  if (text.state !== "text" || text.isOutOfTime !== true) return { cutRetries: null, readAgainAt: null };
  const isSame = known?.version === version && known.readerVersion === (reader?.version ?? null);
  const before = isSame ? known.cutRetries : null;
  const cutRetries = before === null ? RETRIES : Math.max(0, Math.min(before, RETRIES) - 1);
  return { cutRetries, readAgainAt: cutRetries === 0 ? null : now + RETRY_AFTER_MS };
}
