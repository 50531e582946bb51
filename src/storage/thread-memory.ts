import type { ResourceLimits } from "node:worker_threads";

/**
 * What a thread has of memory for objects that live shortly, in MiB. Node lets each thread take 48, and one keeps what it
 * once had for as long as it has work. Source: docs/decisions/0041.
 */
export const THREAD_MEMORY: ResourceLimits = { maxYoungGenerationSizeMb: 12 };
