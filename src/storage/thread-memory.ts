import type { ResourceLimits } from "node:worker_threads";

/**
 * A thread's memory for short-lived objects, in MiB. Node's default is 48 per thread, and a thread keeps the memory
 * that it once used for as long as it has work. Source: docs/decisions/0041.
 */
export const THREAD_MEMORY: ResourceLimits = { maxYoungGenerationSizeMb: 12 };
