import { Worker } from "node:worker_threads";
import { checkBuild } from "#core/build.ts";
import { findSpawnEntry } from "#core/spawn.ts";

/** Counts each text's o200k tokens as an upper bound: long runs are counted in pieces, never below their true count. */
export type CountTokens = (texts: readonly string[]) => Promise<number[]>;

/** A request to the counting thread. */
export interface CountRequest {
  id: number;
  texts: readonly string[];
}

export interface CountReply {
  id: number;
  counts: number[];
}

/**
 * Counts tokens in a separate thread, which starts with the first text. The tokenizer takes 25 MB and about 200 ms to
 * load, and some 10 ms for the largest answer, during which all other requests would be blocked. Use it only if the
 * number of bytes in a text doesn't already show that it fits. Source: docs/decisions/0050.
 */
export const countTokens: CountTokens = (texts) => {
  counter ??= startCounter(() => (counter = undefined));
  return counter(texts);
};

let counter: CountTokens | undefined;

interface Waiting {
  resolve(counts: number[]): void;
  reject(error: unknown): void;
}

/**
 * @param onEnd  called when the thread has ended, which happens only after an error; the next text starts another
 *   thread
 */
function startCounter(onEnd: () => void): CountTokens {
  checkBuild();
  const thread = new Worker(findSpawnEntry("counter"), { resourceLimits: { maxYoungGenerationSizeMb: 12 } });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  // The thread must not keep the process alive when there is nothing else to do.
  thread.unref();
  thread.on("message", ({ id, counts }: CountReply) => {
    waiting.get(id)?.resolve(counts);
    waiting.delete(id);
    if (waiting.size === 0) thread.unref();
  });
  const end = (cause: unknown) => {
    onEnd();
    for (const { reject } of waiting.values()) reject(new Error("The thread that counts tokens has ended.", { cause }));
    waiting.clear();
  };
  thread.once("error", end);
  thread.once("exit", end);
  return (texts) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      thread.ref();
      thread.postMessage({ id, texts } satisfies CountRequest);
    });
}
