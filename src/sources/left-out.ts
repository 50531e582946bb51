import { inChunks } from "#core/in-chunks.ts";

/** So many are asked for one by one; where none of them is there, the rest is gone as well. */
const SAMPLE = 500;
const PIECE = 50;

/**
 * Asks for what is stored and was not in a listing: an index that lags, or is being built, leaves out what is there. Of many,
 * 500 that are spread over all are asked for first, and the others only when one of those is there.
 *
 * @param missing  ids that are stored and were not listed
 * @param ask  gives what to say of at most 50 ids, and how many of them are there
 */
export async function* lookAgain<E>(
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
