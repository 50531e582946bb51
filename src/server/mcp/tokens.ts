import { Worker } from "node:worker_threads";
import { checkBuild } from "#core/build.ts";
import { findSpawnEntry } from "#core/spawn.ts";

/**
 * Counts each text's o200k tokens, as an upper bound: long runs are counted in pieces and never below their true count.
 */
export type CountTokens = (texts: readonly string[]) => Promise<number[]>;

/** The request to the counting thread. */
export interface CountRequest {
  id: number;
  texts: readonly string[];
}

export interface CountReply {
  id: number;
  counts: number[];
}

/**
 * Counts in a thread of its own, which the first text starts: the tokenizer takes 25 MB and about 200 ms to load, and
 * some 10 ms for the largest answer, which would block all other requests. Use it only if the bytes of a text don't say
 * enough. Source: docs/decisions/0050.
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

/** @param onEnd  called when the thread has ended, which happens only by a fault: the next text starts another one */
function startCounter(onEnd: () => void): CountTokens {
  checkBuild();
  const thread = new Worker(findSpawnEntry("counter"), { resourceLimits: { maxYoungGenerationSizeMb: 12 } });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  // A process that has nothing else to do may end.
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
