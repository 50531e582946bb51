import { setImmediate } from "node:timers";
import { makeFairQueue } from "#server/search/fair-queue.ts";

/** Starts requests one by one, so that a burst of them leaves time in the event loop for other work. */
export interface Turns {
  /** Starts the work now, or when it is this sender's turn. */
  take<T>(sender: string, work: () => Promise<T> | T): Promise<T>;
}

/**
 * Makes the scheduler. The event loop reads all connections that have data before it accepts new ones. Without this,
 * 500 requests at once were all started before the next connection was accepted. Now one request starts in each turn of
 * the loop, and senders take turns.
 *
 * @param nextTurn calls back in the next turn of the event loop
 */
export function makeTurns(nextTurn: (callback: () => void) => void = setImmediate): Turns {
  const waiting = makeFairQueue<() => void>();
  let isTaken = false;

  const takeNext = () => {
    isTaken = true;
    nextTurn(() => {
      isTaken = false;
      const begin = waiting.take();
      if (begin === undefined) return;
      takeNext();
      begin();
    });
  };

  return {
    async take(sender, work) {
      if (isTaken) await new Promise<void>((begin) => waiting.add({ workspaceId: sender, userId: sender }, begin));
      else takeNext();
      return work();
    },
  };
}
