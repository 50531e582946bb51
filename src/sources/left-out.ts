import { inChunks } from "#core/in-chunks.ts";

/** The number of missing items that are checked first. If none of them exists, the rest is treated as gone too. */
const SAMPLE = 500;
const PIECE = 50;

/**
 * Checks stored items that a listing left out, since an index that lags or is being built can leave out existing items.
 * If there are many, 500 of them, spread over all, are checked first, and the others only if one of the 500 exists.
 *
 * @param missing  ids that are stored and were not listed
 * @param ask  returns the events for at most 50 ids, and the number of these ids that exist
 */
export async function* askAgain<E>(
  missing: readonly string[],
  ask: (ids: readonly string[]) => Promise<{ events: E[]; count: number }>,
): AsyncGenerator<{ events: E[]; count: number }, void> {
  const step = Math.ceil(missing.length / SAMPLE);
  const sample = missing.filter((_id, at) => at % step === 0);
  const rest = missing.filter((_id, at) => at % step !== 0);
  let isLeavingOut = false;
  for (const ids of [sample, rest]) {
    if (ids === rest && !isLeavingOut) return;
    for (const some of inChunks(ids, PIECE)) {
      const answer = await ask(some);
      isLeavingOut ||= answer.count > 0;
      yield answer;
    }
  }
}
