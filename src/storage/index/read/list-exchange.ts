import { BroadcastChannel } from "node:worker_threads";
import type { PostingCache, SharedList } from "#storage/index/posting-cache.ts";

/**
 * Opens an exchange of posting lists between threads.
 *
 * @param name known only to the threads of one pool
 */
export function openListExchange(name: string, cache: PostingCache) {
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", (event: Event) => {
    // The searchers of a program send each other exactly this message.
    cache.addShared((event as Event & { data: SharedList[] }).data);
  });
  return {
    /** Sends other threads the lists that were made since the last call. Call it when no search is waiting. */
    send(): void {
      const lists = cache.takeMade();
      if (lists.length > 0) channel.postMessage(lists);
    },
    close: (): void => channel.close(),
  };
}
