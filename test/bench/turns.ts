/** Passes over the questions: what else the machine does meets one of them, not all. */
const PASSES = 5;

/** The best time of each question at each peer. Peers are asked in turns, so that all meet the same machine. */
export async function bestInTurns<Question, Peer extends string>(
  questions: readonly Question[],
  peers: Readonly<Record<Peer, (question: Question) => Promise<number>>>,
): Promise<Map<Peer, number[]>> {
  const best = new Map<Peer, number[]>();
  // An object's own keys are those of its type here.
  const named = Object.entries(peers) as [Peer, (question: Question) => Promise<number>][];
  for (let pass = 0; pass < PASSES; pass++) {
    for (const [name, ask] of named) {
      const times = best.get(name) ?? [];
      best.set(name, times);
      for (const [n, question] of questions.entries()) times[n] = Math.min(times[n] ?? Infinity, await ask(question));
    }
  }
  return best;
}
