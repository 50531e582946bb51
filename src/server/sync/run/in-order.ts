/** Limits on how far reading runs ahead of storing. */
export interface Ahead<Event> {
  /** The number of tasks at once. */
  parallel: number;
  /** The maximum number of events that were read and not yet consumed. */
  window: number;
  /** True = no other event is read until this event's work is done, because such events need much memory. */
  isLarge?(event: Event): boolean;
  /** Called once when iteration ends for any reason. Pending waiters must then abort. */
  release(): void;
}

/**
 * Runs `work` for each event, several at once, and yields the results in the order of the events. Reading stops while
 * the window is full. The first failure, of an event or of the work, is thrown at its position in the order. After a
 * failure, and when the consumer ends early, the event source is closed and pending work is awaited.
 */
export async function* inOrder<Event, Result>(
  events: AsyncGenerator<Event, void>,
  work: (event: Event) => Promise<Result> | Result,
  { parallel, window, isLarge, release }: Ahead<Event>,
): AsyncGenerator<Result, void> {
  const line: { result: Promise<Result> | Result }[] = [];
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  let failure: { error: unknown } | undefined;
  const turn = makeSignal();

  let large = 0;
  const mustWait = () => !isOver && (line.length >= window || running.size >= parallel || large > 0);

  const reading = (async () => {
    try {
      for (;;) {
        while (mustWait()) await turn.next();
        if (isOver) return;
        const { done, value } = await events.next();
        if (done) return;
        const result = work(value);
        line.push({ result });
        // A result that is available at once uses none of the parallel slots.
        if (result instanceof Promise) track(result, isLarge?.(value) === true ? 1 : 0);
        turn.fire();
      }
    } catch (error) {
      failure = { error };
    } finally {
      isOver = true;
      turn.fire();
    }
  })();

  function track(result: Promise<unknown>, weight: number): void {
    running.add(result);
    large += weight;
    const free = () => {
      running.delete(result);
      large -= weight;
      turn.fire();
    };
    // A failure is thrown when its result is consumed. Until then it must not count as an unhandled rejection.
    result.then(free, free);
  }

  try {
    for (;;) {
      const next = line.shift();
      if (next) {
        turn.fire();
        yield await next.result;
      } else if (isOver) {
        break;
      } else {
        await turn.next();
      }
    }
    if (failure) throw failure.error;
  } finally {
    isOver = true;
    release();
    turn.fire();
    await reading;
    await Promise.allSettled(running);
    await events.return();
  }
}

/** Makes a signal that wakes everyone who waits for the next time it fires. */
function makeSignal(): { fire(): void; next(): Promise<void> } {
  let wake: () => void = () => undefined;
  let waiting = new Promise<void>((resolve) => (wake = resolve));
  return {
    fire() {
      wake();
      waiting = new Promise<void>((resolve) => (wake = resolve));
    },
    next: () => waiting,
  };
}
