import { z } from "zod";
import type { SourceState } from "./context.ts";
import { failedSkip } from "./failures.ts";
import { NOT_UNDERSTOOD } from "./listed.ts";

/** The most ids that fit into one value of the state. */
const MOST_NOTED = 250;
/** The most things that one run retries. Things that have failed for months must not make every run long. */
const MOST_AGAIN = 10;
const KEY = "unread";
/** The state key of the ids that the current complete listing could not read. */
const LISTED_KEY = "unread:listed";
const Ids = z.array(z.string().max(250));

export type Unread = ReturnType<typeof makeUnread>;

/**
 * Keeps the ids of things that could not be read. The next increments request these ids one by one, so that one failure
 * doesn't make the increments read everything since then again and again.
 */
export function makeUnread(state: SourceState) {
  const noted = async (key = KEY) => Ids.safeParse(await state.get(key)).data ?? [];
  const keep = (ids: readonly string[], key = KEY) => state.put(key, ids.length > 0 ? ids : undefined);
  let isFull = false;
  let isListing = false;
  /** Adds an id, and returns whether there was room for it. */
  async function add(id: string, key: string): Promise<boolean> {
    const others = (await noted(key)).filter((each) => each !== id);
    if (others.length < MOST_NOTED) keep([...others, id], key);
    return others.length < MOST_NOTED;
  }
  return {
    /** Returns the ids to retry now: those that have waited longest. */
    due: async (): Promise<string[]> => (await noted()).slice(0, MOST_AGAIN),
    /** Records that a thing could not be read. It is retried after all other recorded things. */
    async note(id: string): Promise<void> {
      if (!(await add(id, KEY))) isFull = true;
      if (isListing) await add(id, LISTED_KEY);
    },
    /** Records that a thing was read, or that it no longer exists. */
    async done(id: string): Promise<void> {
      const before = await noted();
      if (before.includes(id)) keep(before.filter((each) => each !== id));
    },
    /**
     * Deletes the recorded ids when a listing begins that continues until it is complete, and therefore reads
     * everything.
     */
    async clear(): Promise<void> {
      if ((await noted()).length > 0) keep([]);
    },
    /**
     * Records that a complete listing begins or resumes. Ids that were recorded before are kept until the listing is
     * complete.
     */
    async beginListing({ isResumed }: { isResumed: boolean }): Promise<void> {
      isListing = true;
      if (!isResumed && (await noted(LISTED_KEY)).length > 0) keep([], LISTED_KEY);
    },
    /** Records that everything was read, except the ids that the listing itself recorded. */
    async endListing(): Promise<void> {
      const [before, listed] = [await noted(), await noted(LISTED_KEY)];
      if (before.length > 0 || listed.length > 0) keep(listed);
      if (listed.length > 0) keep([], LISTED_KEY);
    },
    /** Records that something failed that has no id. */
    missed(): void {
      isFull = true;
    },
    /** Whether more things failed in this run than can be recorded. */
    isFull: (): boolean => isFull,
  };
}

/**
 * Handles a thing that was listed but could not be parsed. Its stored item stays unchanged, and the thing is requested
 * individually.
 */
export async function notUnderstood(
  { unread }: { unread: Pick<Unread, "note"> },
  externalId: string,
): Promise<ReturnType<typeof failedSkip>> {
  await unread.note(externalId);
  return failedSkip(externalId, NOT_UNDERSTOOD);
}
