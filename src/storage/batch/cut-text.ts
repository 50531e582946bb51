import type { PreparedItem } from "./item-batch.ts";
import type { KnownItem, RowExtras } from "./item-rows.ts";

/** So often a text that was cut for time is read again; then it stays as it is, and says so. */
const RETRIES = 2;
/** Whatever kept the machine busy may be over by then. */
const RETRY_AFTER_MS = 3_600_000;

type Cut = Pick<RowExtras, "cutRetries" | "readAgainAt">;

/**
 * When and how often an item is read again because its time was over before its end; another version, or another reader,
 * is read twice again.
 *
 * @param version  that of its content
 */
export function cutOf(known: KnownItem | undefined, item: PreparedItem, version: string | null, now: number): Cut {
  const { text, reader } = item;
  if (text.state !== "text" || text.isOutOfTime !== true) return { cutRetries: null, readAgainAt: null };
  const isSame = known?.version === version && known.readerVersion === (reader?.version ?? null);
  const before = isSame ? known.cutRetries : null;
  const cutRetries = before === null ? RETRIES : Math.max(0, Math.min(before, RETRIES) - 1);
  return { cutRetries, readAgainAt: cutRetries === 0 ? null : now + RETRY_AFTER_MS };
}
