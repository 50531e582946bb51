import { inChunks } from "#core/in-chunks.ts";

/** This many are checked first; if none of them exists, the rest is gone as well. */
const SAMPLE = 500;
const PIECE = 50;

/**
 * Checks stored items that a listing left out: an index that lags, or is being built, leaves out existing items. Of
 * many, 500 spread over all are checked first, and the others only if one of those exists.
 *
 * @param missing  ids that are stored and were not listed
 * @param ask  returns the events for at most 50 ids, and how many of them exist
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
