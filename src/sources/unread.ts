import { z } from "zod";
import type { SourceState } from "./contract.ts";

/** So many ids fit into one value of the state. */
const MOST_NOTED = 250;
/** Things that one run asks for again: those that failed for months must not make each run long. */
const MOST_AGAIN = 10;
const KEY = "unread";
const Ids = z.array(z.string().max(250));

export type Unread = ReturnType<typeof makeUnread>;

/**
 * Ids of things that could not be read, which the next increments ask for one by one: so that what changed since is not read
 * again and again for the sake of one.
 */
export function makeUnread(state: SourceState) {
  const noted = async () => Ids.safeParse(await state.get(KEY)).data ?? [];
  const keep = (ids: readonly string[]) => state.put(KEY, ids.length > 0 ? ids : undefined);
  let isFull = false;
  return {
    /** Those to ask for now: what waits longest. */
    due: async (): Promise<string[]> => (await noted()).slice(0, MOST_AGAIN),
    /** One could not be read. It is asked for after all others. */
    async note(id: string): Promise<void> {
      const others = (await noted()).filter((each) => each !== id);
      if (others.length >= MOST_NOTED) isFull = true;
      else keep([...others, id]);
    },
    /** One was read, or is gone. */
    async done(id: string): Promise<void> {
      const before = await noted();
      if (before.includes(id)) keep(before.filter((each) => each !== id));
    },
    /** Everything is read now. */
    async clear(): Promise<void> {
      if ((await noted()).length > 0) keep([]);
    },
    /** More failed in this run than can be noted. */
    isFull: (): boolean => isFull,
  };
}
