import { type Selectable, sql as raw } from "kysely";
import type { EventType } from "#api/event-types.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { onSame } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { changesOf, countOf } from "#storage/results.ts";
import type { Tables } from "#storage/schema.ts";
import { EVENT_DELIVERIES, EVENT_MARKS, EVENT_TARGETS, EVENTS } from "#storage/tables/events.ts";
import { REMOVALS } from "#storage/tables/items.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** Events of the workspace: ids, counts and codes. Source: S43. */
export type EventRecord = RecordOf<typeof EVENTS>;

/** The delivery of one event to one target. */
export type DeliveryRecord = RecordOf<typeof EVENT_DELIVERIES> & { event: EventRecord };
export type DeliveryState = DeliveryRecord["state"];

/** The result of a delivery attempt. */
export type DeliveryPatch = Partial<
  Pick<DeliveryRecord, "state" | "tries" | "triedAt" | "endedAt" | "status" | "code">
>;

/** A delivery to add at the end of its target's queue. */
export interface NewDelivery {
  deliveryId: string;
  targetId: string;
  eventId: string;
  createdAt: number;
  isReplay: boolean;
}

/** Which deliveries of a target to use. Times are those of the events. */
export interface DeliverySpan {
  since: number;
  until: number;
  state?: DeliveryState;
}

/** Reads and writes events, and their deliveries to each target. */
export function makeEventDeliveryStore(sql: SqlHandles, workspaceId: string) {
  const events = inWorkspace(sql, workspaceId, EVENTS);
  const deliveries = inWorkspace(sql, workspaceId, EVENT_DELIVERIES);
  const marks = inWorkspace(sql, workspaceId, EVENT_MARKS);
  const ofTarget = (targetId: string) =>
    deliveries.select({ targetId }).innerJoin("events", onSame(EVENTS, EVENT_DELIVERIES, "eventId"));
  const list = (targetId: string) =>
    ofTarget(targetId).selectAll("event_deliveries").select(["events.type", "events.at", "events.data"]);

  const add = (delivery: NewDelivery, state: DeliveryState) =>
    deliveries.insert({
      ...delivery,
      workspaceId,
      state,
      tries: 0,
      triedAt: null,
      endedAt: null,
      status: null,
      code: null,
    });

  /** Makes an active target due, unless it already is. At a paused target, the delivery waits. */
  const wake = async (targetId: string, now: number): Promise<void> => {
    await inWorkspace(sql, workspaceId, EVENT_TARGETS)
      .updating({ targetId, state: "active" })
      .set({ dueAt: raw`coalesce("dueAt", ${now})` })
      .execute();
  };

  return {
    /** Stores an event. */
    addEvent: events.insert,

    /** Adds a delivery at the end of its target's queue. */
    async enqueue(delivery: NewDelivery): Promise<void> {
      await add(delivery, "waiting");
      await wake(delivery.targetId, delivery.createdAt);
    },

    /** Stores a delivery that is sent outside the queue. `settle` records its result. */
    addApart: (delivery: NewDelivery) => add(delivery, "failed"),

    async find(targetId: string, deliveryId: string): Promise<DeliveryRecord | undefined> {
      const row = await list(targetId).where("event_deliveries.deliveryId", "=", deliveryId).executeTakeFirst();
      return row && toRecord(row);
    },

    /** Returns the first waiting delivery. */
    async findHead(targetId: string): Promise<DeliveryRecord | undefined> {
      const row = await list(targetId)
        .where("event_deliveries.state", "=", "waiting")
        .orderBy("event_deliveries.seq")
        .limit(1)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    /** Returns deliveries, the newest first. */
    async list(
      targetId: string,
      { limit, before, state }: { limit: number; before?: number; state?: DeliveryState },
    ): Promise<DeliveryRecord[]> {
      let query = list(targetId);
      if (before !== undefined) query = query.where("event_deliveries.seq", "<", before);
      if (state !== undefined) query = query.where("event_deliveries.state", "=", state);
      return (await query.orderBy("event_deliveries.seq", "desc").limit(limit).execute()).map(toRecord);
    },

    /** Returns when a delivery was last accepted. */
    async findLastDelivered(targetId: string): Promise<number | null> {
      const row = await deliveries
        .select({ targetId, state: "delivered" })
        .select("endedAt")
        .orderBy("seq", "desc")
        .limit(1)
        .executeTakeFirst();
      return row?.endedAt ?? null;
    },

    countWaiting: (targetId: string): Promise<number> => countOf(deliveries.select({ targetId, state: "waiting" })),

    /**
     * Returns the events of this span that the target should have received and that aren't waiting for it now, the
     * oldest first.
     */
    async listEventsToReplay(
      targetId: string,
      { since, until, state }: DeliverySpan,
      limit: number,
    ): Promise<string[]> {
      let query = ofTarget(targetId)
        .select("event_deliveries.eventId")
        .where("events.at", ">=", since)
        .where("events.at", "<", until)
        .where("events.type", "!=", "ping")
        .groupBy("event_deliveries.eventId")
        .having((eb) => eb(eb.fn.sum(raw<number>`"event_deliveries"."state" = 'waiting'`), "=", 0));
      // An event that a later replay delivered is no longer a failure.
      if (state === "failed")
        query = query.having((eb) => eb(eb.fn.sum(raw<number>`"event_deliveries"."state" = 'delivered'`), "=", 0));
      const rows = await query
        .orderBy((eb) => eb.fn.min("event_deliveries.seq"))
        .limit(limit)
        .execute();
      return rows.map(({ eventId }) => eventId);
    },

    /** Records the result of a delivery attempt. @returns false when the delivery no longer exists */
    settle: async (deliveryId: string, patch: DeliveryPatch): Promise<boolean> =>
      (await deliveries.update({ deliveryId }, patch)) === 1,

    /** Resets the number of tries of the target's waiting deliveries. */
    async restartTries(targetId: string): Promise<void> {
      await deliveries.updating({ targetId, state: "waiting" }).set({ tries: 0 }).where("tries", ">", 0).execute();
    },

    /** Deletes the target's longest waiting deliveries beyond `most`. @returns how many */
    async trimWaiting(targetId: string, most: number): Promise<number> {
      const waiting = { targetId, state: "waiting" } as const;
      const newest = deliveries.select(waiting).select("seq").orderBy("seq", "desc");
      const first = await newest.offset(most).limit(1).executeTakeFirst();
      if (!first) return 0;
      return changesOf(deliveries.deleting(waiting).where("seq", "<=", first.seq));
    },

    /** Returns the connector states that were already sent, by `<connectorId> <type>`. */
    async listMarks(): Promise<Map<string, number>> {
      const rows = await marks.select().selectAll().execute();
      return new Map(rows.map(({ connectorId, type, value }) => [`${connectorId} ${type}`, value]));
    },

    setMark: (mark: { connectorId: string; type: EventType }, value: number) =>
      marks.insert({ ...mark, value }, { value }),

    removeMark: ({ connectorId, type }: { connectorId: string; type: EventType }) =>
      marks.remove({ connectorId, type }),

    /** Returns for each connector how many removals wait for approval, and when the newest began to wait. */
    async listHeldCounts(): Promise<{ connectorId: string; held: number; heldAt: number }[]> {
      const rows = await inWorkspace(sql, workspaceId, REMOVALS)
        .select()
        .select(({ fn }) => ["connectorId", fn.countAll().as("held"), fn.max("heldAt").as("heldAt")])
        .groupBy("connectorId")
        .execute();
      return rows.map((row) => ({ ...row, held: Number(row.held) }));
    },

    /** Deletes events from before this instant with their deliveries, at most `limit`. @returns how many */
    sweep(before: number, limit: number): Promise<number> {
      const old = events.select().select("eventId").where("at", "<", before).limit(limit);
      return changesOf(events.deleting().where("eventId", "in", old));
    },
  };
}

type DeliveryRow = Selectable<Tables["event_deliveries"]> & Pick<Selectable<Tables["events"]>, "type" | "at" | "data">;

function toRecord(row: DeliveryRow): DeliveryRecord {
  return { ...EVENT_DELIVERIES.read(row), event: EVENTS.read(row) };
}
