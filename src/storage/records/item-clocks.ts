import { compiledQuery } from "#storage/compiled-query.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** An instant that clocks of items of a connector stand at. */
export interface ItemClock {
  connectorId: string;
  checkedAt: number;
}

/** No permissions are believed longer. */
const MAX_AGE_MS = 30 * 24 * 3_600_000;

const MAX_ACL_AGE = compiledQuery((read, workspaceId: string) =>
  read.selectFrom("workspaces").select("maxAclAgeMs").where("workspaceId", "=", workspaceId),
);

/** How long permissions of sources are believed, and the instants that clocks of items stand at. Source: S23. */
export function makeItemClockStore(sql: SqlHandles, workspaceId: string, raiseEpoch: () => Promise<void>) {
  const store = {
    /** How long permissions of sources are believed in this workspace, in milliseconds. */
    async maxAclAgeMs(): Promise<number> {
      const [row] = await MAX_ACL_AGE(sql.read, workspaceId);
      return row?.maxAclAgeMs ?? 0;
    },

    /** The instants that clocks of items stand at, after this one. */
    itemClocks(after: number): Promise<ItemClock[]> {
      return sql.read
        .selectFrom("item_clocks")
        .select(["connectorId", "checkedAt"])
        .where("workspaceId", "=", workspaceId)
        .where("checkedAt", ">", after)
        .execute();
    },

    /** The first instant that clocks of a connector's items may stand at; what stands before was looked at elsewhere. */
    async clocksFrom(connectorId: string): Promise<number> {
      const row = await sql.read
        .selectFrom("connector_bindings")
        .select("clocksFrom")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
      return row?.clocksFrom ?? 0;
    },

    /** Notes that items have this clock; everybody who may hold it holds it from now on. */
    async noteClock(connectorId: string, checkedAt: number): Promise<void> {
      if (checkedAt <= 0 || checkedAt < (await store.clocksFrom(connectorId))) return;
      const [fresh] = await sql.write
        .insertInto("item_clocks")
        .values({ workspaceId, connectorId, checkedAt })
        .onConflict((oc) => oc.columns(["workspaceId", "connectorId", "checkedAt"]).doNothing())
        .returning("checkedAt")
        .execute();
      if (fresh === undefined) return;
      await sql.write
        .deleteFrom("item_clocks")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("checkedAt", "<=", checkedAt - MAX_AGE_MS)
        .execute();
      await raiseEpoch();
    },

    /** Forgets every instant: what has a clock of its own is withheld until it is looked at again. */
    async forgetClocks(connectorId: string): Promise<void> {
      await sql.write
        .deleteFrom("item_clocks")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
      await raiseEpoch();
    },

    /** Forgets instants that no item's clock stands at any more. */
    async dropUnusedClocks(connectorId: string): Promise<void> {
      await sql.write
        .deleteFrom("item_clocks")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("items as i")
                .select("i.kbId")
                .whereRef("i.workspaceId", "=", "item_clocks.workspaceId")
                .whereRef("i.connectorId", "=", "item_clocks.connectorId")
                .whereRef("i.ownClockAt", "=", "item_clocks.checkedAt"),
            ),
          ),
        )
        .execute();
    },
  };
  return store;
}
