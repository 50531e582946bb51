import { sql as raw } from "kysely";
import type { EntityType } from "#api/common.ts";
import type { EntityStore } from "#storage/records-types/entities.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** Parameters per statement stay below SQLite's limit. */
const CHUNK = 500;

/** The reading side of entities, on SQL. Every query begins with the workspace. */
export function makeEntityStore(sql: SqlHandles, workspaceId: string): EntityStore {
  return {
    async walkNames(after, limit) {
      let query = sql.read
        .selectFrom("item_entities")
        .select(["nameKey", "entityId"])
        .where("workspaceId", "=", workspaceId)
        .groupBy(["nameKey", "entityId"])
        .orderBy("nameKey")
        .orderBy("entityId")
        .limit(limit);
      if (after) query = query.where(raw<boolean>`("nameKey", "entityId") > (${after.nameKey}, ${after.entityId})`);
      return query.execute();
    },

    async itemsNaming({ nameKey, entityId }, afterKbId, limit) {
      return sql.read
        .selectFrom("item_entities as shown")
        .innerJoin("items", (join) =>
          join.onRef("items.workspaceId", "=", "shown.workspaceId").onRef("items.kbId", "=", "shown.kbId"),
        )
        .select(["items.kbId", "items.aclId"])
        .where("shown.workspaceId", "=", workspaceId)
        .where("shown.nameKey", "=", nameKey)
        .where("shown.entityId", "=", entityId)
        .where("shown.kbId", ">", afterKbId)
        .where("items.removedAt", "is", null)
        .orderBy("shown.kbId")
        .limit(limit)
        .execute();
    },

    async typesOf(entityIds) {
      const rows = await inChunks(entityIds, (part) =>
        sql.read
          .selectFrom("entities")
          .select(["entityId", "type"])
          .where("workspaceId", "=", workspaceId)
          .where("entityId", "in", part)
          .execute(),
      );
      // Written by the sync engine from the same union.
      return new Map(rows.map((row) => [row.entityId, row.type as EntityType]));
    },

    async findByIdentity(type, identity) {
      const row = await sql.read
        .selectFrom("entities")
        .select("entityId")
        .where("workspaceId", "=", workspaceId)
        .where("type", "=", type)
        .where("identity", "=", identity)
        .executeTakeFirst();
      return row?.entityId;
    },

    async shownOn(kbIds) {
      const rows = await inChunks(kbIds, (part) =>
        sql.read
          .selectFrom("item_entities as shown")
          .innerJoin("entities", (join) =>
            join
              .onRef("entities.workspaceId", "=", "shown.workspaceId")
              .onRef("entities.entityId", "=", "shown.entityId"),
          )
          .select(["shown.kbId", "shown.entityId", "entities.type", "shown.role", "shown.name", "shown.nameKey"])
          .select(["shown.email", "shown.login", "shown.claimed"])
          .where("shown.workspaceId", "=", workspaceId)
          .where("shown.kbId", "in", part)
          .orderBy("shown.kbId")
          .orderBy("shown.role")
          .orderBy("shown.entityId")
          .execute(),
      );
      return rows.map((row) => ({
        ...row,
        // Written by the sync engine from the same union.
        type: row.type as EntityType,
        claimed: row.claimed === 1,
      }));
    },
  };
}

async function inChunks<T>(ids: readonly string[], read: (part: string[]) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < ids.length; i += CHUNK) found.push(...(await read(ids.slice(i, i + CHUNK))));
  return found;
}
