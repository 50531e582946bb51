import { BroadcastChannel } from "node:worker_threads";
import type { PostingCache, SharedList } from "#storage/index/posting-cache.ts";

/** @param name known only to the threads of one pool */
export function openListExchange(name: string, cache: PostingCache) {
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", (event: Event) => {
    // The searchers of a program send each other exactly this.
    cache.addShared((event as Event & { data: SharedList[] }).data);
  });
  return {
    /** Sends the others the lists made since the last call. Call when no search is waiting. */
    send(): void {
      const lists = cache.takeMade();
      if (lists.length > 0) channel.postMessage(lists);
    },
    close: (): void => channel.close(),
  };
}
