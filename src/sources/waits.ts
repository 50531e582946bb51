import { z } from "zod";
import type { SourceState } from "./context.ts";
import { stateKeyOf } from "./state-key.ts";

/** The number of failures in a row after which retries are delayed. */
const FREE_TRIES = 3;
const FIRST_WAIT_MS = 30 * 60_000;
const MOST_WAIT_MS = 3 * 3_600_000;

const Tries = z.object({ count: z.number(), until: z.number() });

/**
 * Decides when increments retry a project, channel or repository that has to be read in full. A few retries are
 * immediate; after that, the delay doubles up to three hours, so that a container that can never be read doesn't make
 * each run long. Full runs don't wait.
 */
export function makeWaits({ state, now }: { state: SourceState; now(): number }) {
  const keyOf = (id: string) => stateKeyOf("tries", id);
  const triesOf = async (id: string) => Tries.safeParse(await state.get(keyOf(id))).data;
  return {
    async isWaiting(id: string): Promise<boolean> {
      const { until = 0 } = (await triesOf(id)) ?? {};
      // A wait longer than the maximum was set by a wrong clock.
      return now() < until && until - now() <= MOST_WAIT_MS;
    },
    async failed(id: string): Promise<void> {
      const count = ((await triesOf(id))?.count ?? 0) + 1;
      const wait = Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(count - FREE_TRIES, 10));
      state.put(keyOf(id), { count, until: count < FREE_TRIES ? 0 : now() + wait });
    },
    /** Records that the container was read. */
    async done(id: string): Promise<void> {
      if (await triesOf(id)) state.put(keyOf(id), undefined);
    },
  };
}
