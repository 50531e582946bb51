import { compiledQuery } from "#storage/compiled-query.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { same } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { WORKSPACES } from "#storage/tables/people.ts";
import { ITEM_CLOCKS, ITEMS } from "#storage/tables/items.ts";
import { CONNECTOR_BINDINGS } from "#storage/tables/connectors.ts";

/** An instant that is the clock of some of a connector's items. */
export interface ItemClock {
  connectorId: string;
  checkedAt: number;
}

/** Limit of how long permissions are trusted. */
const MAX_AGE_MS = 30 * 24 * 3_600_000;

const MAX_ACL_AGE = compiledQuery((read, workspaceId: string) =>
  inWorkspace({ read }, workspaceId, WORKSPACES).select().select("maxAclAgeMs"),
);

/** Reads and writes how long permissions of sources are trusted, and the instants of item clocks. Source: S23. */
export function makeItemClockStore(sql: SqlHandles, workspaceId: string, raiseEpoch: () => Promise<void>) {
  const clocks = inWorkspace(sql, workspaceId, ITEM_CLOCKS);
  const store = {
    /** Returns how long permissions of sources are trusted in this workspace, in milliseconds. */
    async maxAclAgeMs(): Promise<number> {
      const [row] = await MAX_ACL_AGE(sql.read, workspaceId);
      return row?.maxAclAgeMs ?? 0;
    },

    /** Returns the instants of item clocks after this one. */
    itemClocks(after: number): Promise<ItemClock[]> {
      return clocks.select().select(["connectorId", "checkedAt"]).where("checkedAt", ">", after).execute();
    },

    /**
     * Returns the first valid instant for clocks of a connector's items. Earlier clocks were checked at another place.
     */
    async clocksFrom(connectorId: string): Promise<number> {
      const row = await inWorkspace(sql, workspaceId, CONNECTOR_BINDINGS)
        .select({ connectorId })
        .select("clocksFrom")
        .executeTakeFirst();
      return row?.clocksFrom ?? 0;
    },

    /** Records that items have this clock. From now on, everyone who may hold its principal holds it. */
    async noteClock(connectorId: string, checkedAt: number): Promise<void> {
      if (checkedAt <= 0 || checkedAt < (await store.clocksFrom(connectorId))) return;
      if ((await clocks.insert({ connectorId, checkedAt }, {})) === 0) return;
      await clocks
        .deleting({ connectorId })
        .where("checkedAt", "<=", checkedAt - MAX_AGE_MS)
        .execute();
      await raiseEpoch();
    },

    /** Forgets every instant. Items with their own clock are withheld until they are checked again. */
    async forgetClocks(connectorId: string): Promise<void> {
      await clocks.remove({ connectorId });
      await raiseEpoch();
    },

    /** Forgets instants that no item has as its clock any more. */
    async dropUnusedClocks(connectorId: string): Promise<void> {
      await clocks
        .deleting({ connectorId })
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("items")
                .select("items.kbId")
                .where(same(ITEMS, ITEM_CLOCKS, "connectorId"))
                .whereRef("items.ownClockAt", "=", "item_clocks.checkedAt"),
            ),
          ),
        )
        .execute();
    },
  };
  return store;
}
