import { z } from "zod";
import type { SourceState } from "./context.ts";
import { failedSkip } from "./failures.ts";
import { NOT_UNDERSTOOD } from "./listed.ts";

/** The most ids that fit into one value of the state. */
const MOST_NOTED = 250;
/** The most things that one run retries: those that have failed for months must not make each run long. */
const MOST_AGAIN = 10;
const KEY = "unread";
/** Those that the current listing of everything could not read. */
const LISTED_KEY = "unread:listed";
const Ids = z.array(z.string().max(250));

export type Unread = ReturnType<typeof makeUnread>;

/**
 * Keeps ids of things that could not be read, which the next increments request one by one, so that one failure doesn't
 * make them read everything since then again and again.
 */
export function makeUnread(state: SourceState) {
  const noted = async (key = KEY) => Ids.safeParse(await state.get(key)).data ?? [];
  const keep = (ids: readonly string[], key = KEY) => state.put(key, ids.length > 0 ? ids : undefined);
  let isFull = false;
  let isListing = false;
  /** Returns whether there was room for it. */
  async function add(id: string, key: string): Promise<boolean> {
    const others = (await noted(key)).filter((each) => each !== id);
    if (others.length < MOST_NOTED) keep([...others, id], key);
    return others.length < MOST_NOTED;
  }
  return {
    /** The ids to retry now: those that wait longest. */
    due: async (): Promise<string[]> => (await noted()).slice(0, MOST_AGAIN),
    /** One could not be read. It is retried after all others. */
    async note(id: string): Promise<void> {
      if (!(await add(id, KEY))) isFull = true;
      if (isListing) await add(id, LISTED_KEY);
    },
    /** One was read, or is gone. */
    async done(id: string): Promise<void> {
      const before = await noted();
      if (before.includes(id)) keep(before.filter((each) => each !== id));
    },
    /** A listing that continues until it is complete reads everything, so the noted ids can go. */
    async clear(): Promise<void> {
      if ((await noted()).length > 0) keep([]);
    },
    /** A listing of everything begins, or resumes. Ids noted before are kept until it is complete. */
    async beginListing({ isResumed }: { isResumed: boolean }): Promise<void> {
      isListing = true;
      if (!isResumed && (await noted(LISTED_KEY)).length > 0) keep([], LISTED_KEY);
    },
    /** Everything was read, except what the listing itself noted. */
    async endListing(): Promise<void> {
      const [before, listed] = [await noted(), await noted(LISTED_KEY)];
      if (before.length > 0 || listed.length > 0) keep(listed);
      if (listed.length > 0) keep([], LISTED_KEY);
    },
    /** Something failed that can't be noted by an id. */
    missed(): void {
      isFull = true;
    },
    /** More failed in this run than can be noted. */
    isFull: (): boolean => isFull,
  };
}

/** Handles a thing that was listed and isn't understood: it stays as it is, and is requested on its own. */
export async function notUnderstood(
  { unread }: { unread: Pick<Unread, "note"> },
  externalId: string,
): Promise<ReturnType<typeof failedSkip>> {
  await unread.note(externalId);
  return failedSkip(externalId, NOT_UNDERSTOOD);
}
