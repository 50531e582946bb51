/**
 * A source's list that doesn't end: the source reported no checkpoint for too long. Thrown inside the run, and stored
 * as its problem.
 */
export class CheckpointTimeout extends Error {
  override readonly name = "CheckpointTimeout";
}

const CHECK_EVERY_MS = 10_000;

/**
 * Passes the events through and stops a source that lists for `mostMs` without a checkpoint. Such a source follows
 * links that never end, and a run gives way to other jobs only at a checkpoint. The time in which no one requests an
 * event isn't counted.
 *
 * @param stop  aborts the run with a `CheckpointTimeout`
 * @param took  called for each event with the milliseconds that the source took to produce it
 */
export async function* withCheckpointTimeout<Event extends { t: string }>(
  events: AsyncGenerator<Event, void>,
  {
    mostMs,
    now,
    stop,
    took,
    checkEveryMs = CHECK_EVERY_MS,
  }: {
    mostMs: number;
    now: () => number;
    stop(reason: CheckpointTimeout): void;
    took?: ((ms: number) => void) | undefined;
    checkEveryMs?: number;
  },
): AsyncGenerator<Event, void> {
  let ms = 0;
  let askedAt: number | undefined;
  const check = () => {
    if (ms + (askedAt === undefined ? 0 : now() - askedAt) < mostMs) return;
    const minutes = Math.round(mostMs / 60_000);
    stop(
      new CheckpointTimeout(
        `The source listed for ${minutes} minutes without reaching a point to resume from. Nothing was removed.`,
      ),
    );
  };
  // A source that waits for a response may never yield another event.
  const timer = setInterval(check, checkEveryMs);
  timer.unref();
  try {
    for (;;) {
      askedAt = now();
      const { done, value } = await events.next();
      const tookMs = Math.max(0, now() - askedAt);
      ms += tookMs;
      took?.(tookMs);
      askedAt = undefined;
      if (done) return;
      if (value.t === "checkpoint") ms = 0;
      check();
      yield value;
    }
  } finally {
    clearInterval(timer);
    await events.return();
  }
}
