import { z } from "zod";
import type { SourceState } from "./context.ts";
import { failedSkip } from "./failures.ts";
import { NOT_UNDERSTOOD } from "./listed.ts";

/** So many ids fit into one value of the state. */
const MOST_NOTED = 250;
/** Things that one run asks for again: those that failed for months must not make each run long. */
const MOST_AGAIN = 10;
const KEY = "unread";
/** Of them, those that the listing of everything that is going on could not read. */
const LISTED_KEY = "unread:listed";
const Ids = z.array(z.string().max(250));

export type Unread = ReturnType<typeof makeUnread>;

/**
 * Ids of things that could not be read, which the next increments ask for one by one: so that what changed since is not read
 * again and again for the sake of one.
 */
export function makeUnread(state: SourceState) {
  const noted = async (key = KEY) => Ids.safeParse(await state.get(key)).data ?? [];
  const keep = (ids: readonly string[], key = KEY) => state.put(key, ids.length > 0 ? ids : undefined);
  let isFull = false;
  let isListing = false;
  /** Gives whether there was room for it. */
  async function add(id: string, key: string): Promise<boolean> {
    const others = (await noted(key)).filter((each) => each !== id);
    if (others.length < MOST_NOTED) keep([...others, id], key);
    return others.length < MOST_NOTED;
  }
  return {
    /** Those to ask for now: what waits longest. */
    due: async (): Promise<string[]> => (await noted()).slice(0, MOST_AGAIN),
    /** One could not be read. It is asked for after all others. */
    async note(id: string): Promise<void> {
      if (!(await add(id, KEY))) isFull = true;
      if (isListing) await add(id, LISTED_KEY);
    },
    /** One was read, or is gone. */
    async done(id: string): Promise<void> {
      const before = await noted();
      if (before.includes(id)) keep(before.filter((each) => each !== id));
    },
    /** Everything is read now: by a listing that goes on until it has come to its end. */
    async clear(): Promise<void> {
      if ((await noted()).length > 0) keep([]);
    },
    /** A listing of everything begins, or goes on. What was noted before is kept until it has come to its end. */
    async beginListing({ isResumed }: { isResumed: boolean }): Promise<void> {
      isListing = true;
      if (!isResumed && (await noted(LISTED_KEY)).length > 0) keep([], LISTED_KEY);
    },
    /** Everything was read, but for what it noted itself. */
    async endListing(): Promise<void> {
      const [before, listed] = [await noted(), await noted(LISTED_KEY)];
      if (before.length > 0 || listed.length > 0) keep(listed);
      if (listed.length > 0) keep([], LISTED_KEY);
    },
    /** More failed in this run than can be noted. */
    isFull: (): boolean => isFull,
  };
}

/** A thing that was listed and isn't understood: it stays as it is, and is asked for by itself. */
export async function notUnderstood(
  { unread }: { unread: Pick<Unread, "note"> },
  externalId: string,
): Promise<ReturnType<typeof failedSkip>> {
  await unread.note(externalId);
  return failedSkip(externalId, NOT_UNDERSTOOD);
}
