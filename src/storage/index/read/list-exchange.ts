import { BroadcastChannel } from "node:worker_threads";
import type { PostingCache, SharedList } from "#storage/index/posting-cache.ts";

/** Shares read posting lists between the search threads of a pool, in the same memory. */
export interface ListExchange {
  /** Sends the others the lists made since the last call. Call when no search is waiting. */
  send(): void;
  close(): void;
}

/** @param name known only to the threads of one pool */
export function openListExchange(name: string, cache: PostingCache): ListExchange {
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", (event: Event) => {
    // The searchers of a program send each other exactly this.
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
