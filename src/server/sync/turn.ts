/** A run has its worker at least for so long, and for so many times what it took to begin. */
const TURN_MS = 30_000;
const TURN_PER_START = 10;

/** Says whether the run may keep its worker: until its turn is over and somebody waits. */
export function makeTurn(
  { now, isOtherWaiting }: { now: () => number; isOtherWaiting?(): Promise<boolean> },
  startedAt: number,
): () => Promise<boolean> {
  // What is stored is read again in each turn: large connectors get longer ones.
  const endsAt = now() + Math.max(TURN_MS, TURN_PER_START * (now() - startedAt));
  return async () => now() < endsAt || isOtherWaiting === undefined || !(await isOtherWaiting());
}
