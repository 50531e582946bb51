import type { Parts } from "#storage/records/parts.ts";
import { makeId } from "#api/common.ts";
import { EVENT_DATA, type OutgoingEvent } from "#api/events.ts";
import type { Store } from "#storage/records/store.ts";

/**
 * Records an event for every target of the workspace that subscribes to it. Call it in the transaction of the change.
 * Nothing is then sent for a change that was rolled back, and nothing is lost if the process ends after the commit. If
 * no target subscribes, nothing is written.
 *
 * @throws ZodError for data that has anything but the ids, counts and codes of its event type
 */
export type Emit = (tx: Store, workspaceId: string, event: OutgoingEvent) => Promise<void>;

/** Makes the `Emit` that writes to the outbox. */
export function makeOutbox({ clock, randomBytes }: Pick<Parts, "clock" | "randomBytes">): Emit {
  return async (tx, workspaceId, { type, data }) => {
    const parsed = EVENT_DATA[type].parse(data);
    const { eventTargets, eventDeliveries } = tx.in(workspaceId);
    const wanting = (await eventTargets.list()).filter(({ types }) => types.includes(type));
    if (wanting.length === 0) return;
    const now = clock.now();
    const eventId = makeId("event", randomBytes);
    await eventDeliveries.addEvent({ eventId, type, at: now, data: parsed });
    for (const { targetId } of wanting) {
      const deliveryId = makeId("delivery", randomBytes);
      await eventDeliveries.enqueue({ deliveryId, targetId, eventId, createdAt: now, isReplay: false });
    }
  };
}
