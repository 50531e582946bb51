import type { EventDelivery, EventTarget } from "#api/events.ts";
import type { DeliveryCode } from "#api/event-types.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import type { DeliveryRecord } from "#storage/records/event-deliveries.ts";
import type { EventTargetRecord } from "#storage/records/event-targets.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

/** Converts targets to the form that admins see. */
export async function toTargets(
  { eventDeliveries, names }: Pick<WorkspaceStore, "eventDeliveries" | "names">,
  records: readonly EventTargetRecord[],
  now: number,
): Promise<EventTarget[]> {
  const named = await names.of(records.flatMap(({ createdBy }) => (createdBy === null ? [] : [createdBy])));
  const shown: EventTarget[] = [];
  for (const { targetId, url, types, state, pausedFor, ...record } of records) {
    const maker = record.createdBy === null ? undefined : named.get(record.createdBy);
    const { previousUntil } = record;
    shown.push({
      id: targetId,
      url,
      types,
      state,
      pausedFor,
      pausedAt: isoOrNull(record.pausedAt),
      secretOverlapEndsAt: previousUntil !== null && previousUntil > now ? isoOf(previousUntil) : null,
      createdBy: record.createdBy === null || maker === undefined ? null : { id: record.createdBy, name: maker },
      createdAt: isoOf(record.createdAt),
      failingSince: isoOrNull(record.failingSince),
      nextTryAt: isoOrNull(record.dueAt),
      lastDeliveredAt: isoOrNull(await eventDeliveries.findLastDelivered(targetId)),
      waiting: await eventDeliveries.countWaiting(targetId),
    });
  }
  return shown;
}

/** Converts a delivery to the form that admins see. */
export function toDelivery({ deliveryId, targetId, event, ...record }: DeliveryRecord): EventDelivery {
  return {
    id: deliveryId,
    targetId,
    eventId: event.eventId,
    type: event.type,
    eventAt: isoOf(event.at),
    data: event.data,
    state: record.state,
    isReplay: record.isReplay,
    tries: record.tries,
    status: record.status,
    // Only values of this union are written.
    code: record.code as DeliveryCode | null,
    createdAt: isoOf(record.createdAt),
    triedAt: isoOrNull(record.triedAt),
    endedAt: isoOrNull(record.endedAt),
  };
}
