import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { makeTokenCounter } from "./token-counter.ts";
import type { CountReply, CountRequest } from "./tokens.ts";

// Without this option, a document that contains `<|endoftext|>` would cause an exception.
const count = makeTokenCounter((text) => countTokens(text, { disallowedSpecial: new Set() }));

parentPort?.on("message", ({ id, texts }: CountRequest) => {
  parentPort?.postMessage({ id, counts: texts.map(count) } satisfies CountReply);
});
