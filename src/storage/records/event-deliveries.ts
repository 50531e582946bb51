import { sql as raw, type Selectable } from "kysely";
import type { EventType } from "#api/event-types.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { EventDeliveriesTable } from "#storage/schema.ts";

/** `ping` is sent by a test of a target, and never subscribed to. */
export type StoredEventType = EventType | "ping";

export type DeliveryState = "waiting" | "delivered" | "failed";

/** What happened: ids, counts and codes. Source: S43. */
export interface EventRecord {
  eventId: string;
  type: StoredEventType;
  /** Epoch milliseconds. */
  at: number;
  data: Record<string, unknown>;
}

/** One event on its way to one target. */
export interface DeliveryRecord extends Omit<EventDeliveriesTable, "workspaceId" | "seq" | "state" | "isReplay"> {
  seq: number;
  state: DeliveryState;
  isReplay: boolean;
  event: EventRecord;
}

/** How a try ended. */
export type DeliveryPatch = Partial<
  Pick<DeliveryRecord, "state" | "tries" | "triedAt" | "endedAt" | "status" | "code">
>;

/** A delivery that is put at the end of the line of its target. */
export interface NewDelivery {
  deliveryId: string;
  targetId: string;
  eventId: string;
  createdAt: number;
  isReplay: boolean;
}

/** Which deliveries of a target; times are those of the events. */
export interface DeliverySpan {
  since: number;
  until: number;
  state?: DeliveryState;
}

/** Events, and what became of them at each target. */
export function makeEventDeliveryStore(sql: SqlHandles, workspaceId: string) {
  const ofTarget = (targetId: string) =>
    sql.read
      .selectFrom("event_deliveries as d")
      .innerJoin("events as e", (join) =>
        join.onRef("e.workspaceId", "=", "d.workspaceId").onRef("e.eventId", "=", "d.eventId"),
      )
      .where("d.workspaceId", "=", workspaceId)
      .where("d.targetId", "=", targetId);
  const list = (targetId: string) => ofTarget(targetId).selectAll("d").select(["e.type", "e.at", "e.data"]);

  const add = async (delivery: NewDelivery, state: DeliveryState): Promise<void> => {
    await sql.write
      .insertInto("event_deliveries")
      .values({
        ...delivery,
        workspaceId,
        isReplay: delivery.isReplay ? 1 : 0,
        state,
        tries: 0,
        triedAt: null,
        endedAt: null,
        status: null,
        code: null,
      })
      .execute();
  };

  /** Of an active target the sender is told, unless it knows already; of a paused one the delivery waits. */
  const wake = async (targetId: string, now: number): Promise<void> => {
    await sql.write
      .updateTable("event_targets")
      .set({ dueAt: raw`coalesce("dueAt", ${now})` })
      .where("workspaceId", "=", workspaceId)
      .where("targetId", "=", targetId)
      .where("state", "=", "active")
      .execute();
  };

  return {
    /** Stores what happened. */
    async addEvent({ data, ...event }: EventRecord): Promise<void> {
      await sql.write
        .insertInto("events")
        .values({ workspaceId, ...event, data: JSON.stringify(data) })
        .execute();
    },

    /** Puts a delivery at the end of its target's line. */
    async enqueue(delivery: NewDelivery): Promise<void> {
      await add(delivery, "waiting");
      await wake(delivery.targetId, delivery.createdAt);
    },

    /** Stores a delivery that is sent outside the line; `settle` says how it ended. */
    async addApart(delivery: NewDelivery): Promise<void> {
      await add(delivery, "failed");
    },

    async find(targetId: string, deliveryId: string): Promise<DeliveryRecord | undefined> {
      const row = await list(targetId).where("d.deliveryId", "=", deliveryId).executeTakeFirst();
      return row && toRecord(row);
    },

    /** The first that waits. */
    async findHead(targetId: string): Promise<DeliveryRecord | undefined> {
      const row = await list(targetId).where("d.state", "=", "waiting").orderBy("d.seq").limit(1).executeTakeFirst();
      return row && toRecord(row);
    },

    /** The newest first. */
    async list(
      targetId: string,
      { limit, before, state }: { limit: number; before?: number; state?: DeliveryState },
    ): Promise<DeliveryRecord[]> {
      let query = list(targetId);
      if (before !== undefined) query = query.where("d.seq", "<", before);
      if (state !== undefined) query = query.where("d.state", "=", state);
      return (await query.orderBy("d.seq", "desc").limit(limit).execute()).map(toRecord);
    },

    /** When one was last taken. */
    async findLastDelivered(targetId: string): Promise<number | null> {
      const row = await sql.read
        .selectFrom("event_deliveries")
        .select("endedAt")
        .where("workspaceId", "=", workspaceId)
        .where("targetId", "=", targetId)
        .where("state", "=", "delivered")
        .orderBy("seq", "desc")
        .limit(1)
        .executeTakeFirst();
      return row?.endedAt ?? null;
    },

    async countWaiting(targetId: string): Promise<number> {
      const { count } = await sql.read
        .selectFrom("event_deliveries")
        .select((eb) => eb.fn.countAll().as("count"))
        .where("workspaceId", "=", workspaceId)
        .where("targetId", "=", targetId)
        .where("state", "=", "waiting")
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    /** Events of this span that the target was to get and that don't wait for it now, the oldest first. */
    async listEventsToReplay(
      targetId: string,
      { since, until, state }: DeliverySpan,
      limit: number,
    ): Promise<string[]> {
      let query = ofTarget(targetId)
        .select("d.eventId")
        .where("e.at", ">=", since)
        .where("e.at", "<", until)
        .where("e.type", "!=", "ping")
        .groupBy("d.eventId")
        .having((eb) => eb(eb.fn.sum(raw<number>`"d"."state" = 'waiting'`), "=", 0));
      // What a later replay brought is no failure any more.
      if (state === "failed")
        query = query.having((eb) => eb(eb.fn.sum(raw<number>`"d"."state" = 'delivered'`), "=", 0));
      const rows = await query
        .orderBy((eb) => eb.fn.min("d.seq"))
        .limit(limit)
        .execute();
      return rows.map(({ eventId }) => eventId);
    },

    /** Writes how a try ended. @returns false when the delivery is not there any more */
    async settle(deliveryId: string, patch: DeliveryPatch): Promise<boolean> {
      const { numUpdatedRows } = await sql.write
        .updateTable("event_deliveries")
        .set(patch)
        .where("workspaceId", "=", workspaceId)
        .where("deliveryId", "=", deliveryId)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    /** What waits at the target is tried from the beginning. */
    async restartTries(targetId: string): Promise<void> {
      await sql.write
        .updateTable("event_deliveries")
        .set({ tries: 0 })
        .where("workspaceId", "=", workspaceId)
        .where("targetId", "=", targetId)
        .where("state", "=", "waiting")
        .where("tries", ">", 0)
        .execute();
    },

    /** Deletes what waits longest at the target, as far as more than `most` wait. @returns how many */
    async trimWaiting(targetId: string, most: number): Promise<number> {
      const waiting = (columns: "seq"[]) =>
        sql.read
          .selectFrom("event_deliveries")
          .select(columns)
          .where("workspaceId", "=", workspaceId)
          .where("targetId", "=", targetId)
          .where("state", "=", "waiting");
      const first = await waiting(["seq"]).orderBy("seq", "desc").offset(most).limit(1).executeTakeFirst();
      if (!first) return 0;
      const { numDeletedRows } = await sql.write
        .deleteFrom("event_deliveries")
        .where("workspaceId", "=", workspaceId)
        .where("targetId", "=", targetId)
        .where("state", "=", "waiting")
        .where("seq", "<=", first.seq)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },

    /** What was told of connectors, by `<connectorId> <type>`. */
    async listMarks(): Promise<Map<string, number>> {
      const rows = await sql.read
        .selectFrom("event_marks")
        .select(["connectorId", "type", "value"])
        .where("workspaceId", "=", workspaceId)
        .execute();
      return new Map(rows.map(({ connectorId, type, value }) => [`${connectorId} ${type}`, value]));
    },

    async setMark({ connectorId, type }: { connectorId: string; type: EventType }, value: number): Promise<void> {
      await sql.write
        .insertInto("event_marks")
        .values({ workspaceId, connectorId, type, value })
        .onConflict((oc) => oc.columns(["workspaceId", "connectorId", "type"]).doUpdateSet({ value }))
        .execute();
    },

    async removeMark({ connectorId, type }: { connectorId: string; type: EventType }): Promise<void> {
      await sql.write
        .deleteFrom("event_marks")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("type", "=", type)
        .execute();
    },

    /** How many removals wait for approval, by connector, and since when the newest does. */
    async listHeldCounts(): Promise<{ connectorId: string; held: number; heldAt: number }[]> {
      const rows = await sql.read
        .selectFrom("removals")
        .select(({ fn }) => ["connectorId", fn.countAll().as("held"), fn.max("heldAt").as("heldAt")])
        .where("workspaceId", "=", workspaceId)
        .groupBy("connectorId")
        .execute();
      return rows.map((row) => ({ ...row, held: Number(row.held) }));
    },

    /** Deletes events of before this instant with their deliveries, at most `limit`. @returns how many */
    async sweep(before: number, limit: number): Promise<number> {
      const { numDeletedRows } = await sql.write
        .deleteFrom("events")
        .where("workspaceId", "=", workspaceId)
        .where("eventId", "in", (eb) =>
          eb
            .selectFrom("events")
            .select("eventId")
            .where("workspaceId", "=", workspaceId)
            .where("at", "<", before)
            .limit(limit),
        )
        .executeTakeFirst();
      return Number(numDeletedRows);
    },
  };
}

function toRecord(row: Selectable<EventDeliveriesTable> & { type: string; at: number; data: string }): DeliveryRecord {
  const { workspaceId: _, type, at, data, ...rest } = row;
  return {
    ...rest,
    isReplay: row.isReplay === 1,
    // All three are written from these types only.
    state: row.state as DeliveryState,
    event: {
      eventId: row.eventId,
      type: type as StoredEventType,
      at,
      data: JSON.parse(data) as Record<string, unknown>,
    },
  };
}
