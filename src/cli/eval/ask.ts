/** Sends queries to the live search and looks up judged names, a few at a time. It waits when the server requests a pause. */
import type { Api } from "#cli/calls/api.ts";
import type { Deps } from "#cli/host/deps.ts";
import { CliFailure, interrupted } from "#cli/host/failure.ts";

export type Asking = Pick<Deps, "clock" | "signal">;

/** The number of searches that the server runs at a time. */
const AT_ONCE = 4;
const MAX_TRIES = 8;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const PASSING = new Set(["rate_limited", "search_overloaded", "unavailable"]);

/** Runs `work` for each item, four at a time. The first failure ends it. */
export async function forEachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  let isOver = false;
  const worker = async (): Promise<void> => {
    while (!isOver && next < items.length) {
      const item = items[next++] as T;
      try {
        await work(item);
      } catch (error) {
        isOver = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Returns the kbIds that the search finds for a query, best first. */
export async function askSearch(api: Api, deps: Asking, question: string, limit: number): Promise<string[]> {
  const answer = await patiently(deps, () =>
    api.get("/api/connectors/search", { params: { query: { query: question, limit } } }),
  );
  return answer.results.map(({ kbId }) => kbId);
}

/** Why a name matches no item. Hidden and missing items can't be distinguished. */
export type Missing = "not_found" | "ambiguous";

/** Returns the kbId of the item that a name means to the caller, or why there is none. */
export async function findJudged(api: Api, deps: Asking, name: string): Promise<{ kbId: string } | Missing> {
  try {
    const params = { path: { fileId: name } };
    const { file } = await patiently(deps, () => api.get("/api/connectors/files/{fileId}", { params }));
    return { kbId: file.kbId };
  } catch (error) {
    if (error instanceof CliFailure && error.code === "not_found") return "not_found";
    if (error instanceof CliFailure && error.code === "invalid_argument") return "ambiguous";
    throw error;
  }
}

async function patiently<T>({ clock, signal }: Asking, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CliFailure) || !PASSING.has(error.code) || tries >= MAX_TRIES) throw error;
      const waitMs = error.retryAfterMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
      await clock.sleep(waitMs, signal).catch(() => {
        // Sleep ends early only when the command was interrupted.
        throw interrupted();
      });
    }
  }
}
