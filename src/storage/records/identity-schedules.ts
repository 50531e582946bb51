import type { SqlHandles } from "#storage/handles.ts";

/** How often users and groups may be read out of turn; epoch milliseconds, null = nobody has asked. */
export interface IdentityPace {
  /** When the reading begins, or began, that a person asked for last. */
  askedAt: number | null;
  /** Until when the readings that notifications asked for are paid for. */
  paidUntil: number | null;
}

/** When the users and groups of connectors are read. */
export function makeIdentityScheduleStore(sql: SqlHandles, workspaceId: string) {
  return {
    /** When they are read next. */
    async set(connectorId: string, nextRunAt: number): Promise<void> {
      await sql.write
        .insertInto("identity_schedules")
        .values({ workspaceId, connectorId, nextRunAt })
        .onConflict((oc) => oc.columns(["workspaceId", "connectorId"]).doUpdateSet({ nextRunAt }))
        .execute();
    },

    /** As `set`, unless the connector has a schedule. */
    async setOnce(connectorId: string, nextRunAt: number): Promise<void> {
      await sql.write
        .insertInto("identity_schedules")
        .values({ workspaceId, connectorId, nextRunAt })
        .onConflict((oc) => oc.columns(["workspaceId", "connectorId"]).doNothing())
        .execute();
    },

    /** All that are read by the clock are due. */
    async hasten(nextRunAt: number): Promise<void> {
      await sql.write
        .updateTable("identity_schedules")
        .set({ nextRunAt })
        .where("workspaceId", "=", workspaceId)
        .where("nextRunAt", ">", nextRunAt)
        .execute();
    },

    /** They are read no more. */
    async remove(connectorId: string): Promise<void> {
      await sql.write
        .deleteFrom("identity_schedules")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },

    async paceOf(connectorId: string): Promise<IdentityPace> {
      const row = await sql.read
        .selectFrom("identity_schedules")
        .select(["askedAt", "paidUntil"])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
      return row ?? { askedAt: null, paidUntil: null };
    },

    /** Changes the pace of a connector that has a schedule. */
    async setPace(connectorId: string, pace: Partial<IdentityPace>): Promise<void> {
      await sql.write
        .updateTable("identity_schedules")
        .set(pace)
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },
  };
}
