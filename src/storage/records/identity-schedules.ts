import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { IDENTITY_SCHEDULES } from "#storage/tables/connectors.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** How often users and groups may be read outside the schedule. Epoch milliseconds; null = there was no request yet. */
export type IdentityPace = RecordOf<typeof IDENTITY_SCHEDULES>;

/** Reads and writes the schedule by which the users and groups of connectors are read. */
export function makeIdentityScheduleStore(sql: SqlHandles, workspaceId: string) {
  const schedules = inWorkspace(sql, workspaceId, IDENTITY_SCHEDULES);
  return {
    /** Sets when they are read next. */
    set: (connectorId: string, nextRunAt: number) => schedules.insert({ connectorId, nextRunAt }, { nextRunAt }),

    /** Like `set`, unless the connector already has a schedule. */
    setOnce: (connectorId: string, nextRunAt: number) => schedules.insert({ connectorId, nextRunAt }, {}),

    /** Makes every scheduled reading due. */
    async scheduleNow(nextRunAt: number): Promise<void> {
      await schedules.updating({}).set({ nextRunAt }).where("nextRunAt", ">", nextRunAt).execute();
    },

    /** Ends the schedule. */
    remove: (connectorId: string) => schedules.remove({ connectorId }),

    paceOf: async (connectorId: string): Promise<IdentityPace> =>
      (await schedules.find({ connectorId })) ?? { askedAt: null, paidUntil: null },

    /** Changes the pace of a connector that has a schedule. */
    setPace: (connectorId: string, pace: Partial<IdentityPace>) => schedules.update({ connectorId }, pace),
  };
}
