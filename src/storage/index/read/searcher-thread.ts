import { parentPort, workerData } from "node:worker_threads";
import {
  openSearcher,
  type SearcherOptions,
  type SearcherMessage,
  type SearcherReply,
  toReplyError,
} from "./searcher.ts";

main();

/** Performs tasks one after the other. The pool sends the next task after the answer, and may close the thread. */
function main(): void {
  const port = parentPort;
  if (!port) throw new Error("The searcher runs as a worker thread only.");
  // The pool passes exactly this shape; both sides are our own modules.
  const searcher = openSearcher(workerData as SearcherOptions);
  port.on("message", (message: SearcherMessage) => {
    if ("close" in message) {
      searcher.close();
      port.close();
      return;
    }
    let reply: SearcherReply;
    try {
      reply = { id: message.id, ok: true, value: searcher.perform(message.task) };
    } catch (error) {
      reply = { id: message.id, ok: false, error: toReplyError(error) };
    }
    port.postMessage(reply);
  });
}
