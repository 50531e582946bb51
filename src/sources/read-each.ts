import { isApiError } from "#api/errors.ts";
import type { SyncContext } from "./context.ts";
import type { Result } from "./outcomes.ts";
import type { Failures } from "./failures.ts";

interface Reading {
  ctx: Pick<SyncContext<unknown>, "signal">;
  failures: Failures;
}

/**
 * Reads the requested ids of a run of mode `items`. Each id ends as an item, as gone, as refused or as failed, and the
 * failure of one id doesn't affect the others.
 *
 * @param readOne  returns the events for one id. No events = the item is gone; `later` = the caller reports the item.
 * An error that it throws concerns this id
 * @throws errors that concern more than one id, and errors of the failures' probe
 */
export async function* readEach<Event extends { t: string }>(
  { ctx, failures }: Reading,
  externalIds: readonly string[] = [],
  readOne: (externalId: string) => Promise<readonly Event[] | "later">,
): AsyncGenerator<Event | Result, void> {
  for (const externalId of externalIds) {
    ctx.signal.throwIfAborted();
    try {
      const events = await readOne(externalId);
      failures.well();
      if (events === "later") continue;
      if (events.length > 0) yield* events;
      else yield { t: "delete", externalId };
    } catch (error) {
      yield await failures.outcomeOf(externalId, error, isApiError(error) ? error.message : "It can't be read now.");
    }
  }
}
