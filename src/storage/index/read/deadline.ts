import { ApiError } from "#api/errors.ts";

/** Throws `search_timeout` when its time is over. Source: S24. */
export interface Deadline {
  check(): void;
  /** True once half of the time is used: what can be left out is left out. */
  isHalfOver(): boolean;
}

export function makeDeadline(now: () => number, ms: number): Deadline {
  const end = now() + ms;
  return {
    isHalfOver: () => now() > end - ms / 2,
    check() {
      if (now() <= end) return;
      throw new ApiError("search_timeout", {
        message: `The search took longer than ${ms} ms and was stopped. Use fewer or rarer words, or a filter.`,
        retryAfterMs: 1_000,
      });
    },
  };
}
