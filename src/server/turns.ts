import { setImmediate } from "node:timers";
import { makeFairQueue } from "#server/search/fair-queue.ts";

/** Begins requests one by one, so that a crowd of them leaves the thread's turns between to everybody else. */
export interface Turns {
  /** Begins the work now, or when it is this sender's turn. */
  take<T>(sender: string, work: () => Promise<T> | T): Promise<T>;
}

/**
 * Makes the turns: the event loop reads all connections that have data before it looks at new ones, so without them
 * 500 requests at once were all begun before the next connection was seen. One request begins in each turn of the loop; senders
 * have their turns one after the other.
 *
 * @param nextTurn  calls back in the next turn of the event loop
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
