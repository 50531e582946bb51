import { z } from "zod";
import type { SyncContext } from "#sources/contract.ts";

/** How far a run has listed a repository, so that its next attempt asks for the rest alone. */
const Place = z.object({
  /** Only an attempt of the same run goes on: what another named may be gone by now. */
  runId: z.string(),
  /** What its items are made with: another name, and all are made again. */
  shape: z.string(),
  part: z.enum(["threads", "comments"]),
  /** Absent: that part was not begun. */
  from: z.string().max(200).optional(),
  /** By the forge's clock: what changed before the listing began is in it. */
  since: z.number(),
  /** The highest number of a thread that was told. */
  last: z.number(),
  /** Some of it was not understood, and has no id that could be told. */
  isHalf: z.boolean().optional(),
});
export type Place = z.infer<typeof Place>;

type State = SyncContext<unknown>["state"];

/** The place of this run in a repository; kept with the next checkpoint, as what was told before it. */
export function makePlaces(state: State, id: string, of: { runId: string | undefined; shape: string }) {
  const { runId, shape } = of;
  const key = placeKey(id);
  return {
    async find(): Promise<Place | undefined> {
      const place = Place.safeParse(await state.get(key)).data;
      return place !== undefined && place.runId === runId && place.shape === shape ? place : undefined;
    },
    put(place: Omit<Place, "runId" | "shape">): void {
      if (runId !== undefined) state.put(key, { ...place, runId, shape });
    },
    end: (): void => state.put(key, undefined),
  };
}

function placeKey(id: string): string {
  return `place:${id}`;
}
