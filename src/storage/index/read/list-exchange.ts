import { BroadcastChannel } from "node:worker_threads";
import type { PostingCache, SharedList } from "#storage/index/posting-cache.ts";

/** Between the search threads of a pool: what one has read of the index, the others have too, in the same memory. */
export interface ListExchange {
  /** Tells the others of lists made since the last time. To be called when nobody waits. */
  send(): void;
  close(): void;
}

/** @param name the threads of a pool, and nobody else, know it */
export function openListExchange(name: string, cache: PostingCache): ListExchange {
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", (event: Event) => {
    // Searchers of one program send each other exactly this.
    cache.addShared((event as Event & { data: SharedList[] }).data);
  });
  return {
    send() {
      const lists = cache.takeMade();
      if (lists.length > 0) channel.postMessage(lists);
    },
    close: () => channel.close(),
  };
}
