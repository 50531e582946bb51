import { sql as raw } from "kysely";
import { cut } from "#api/clean.ts";
import type { EntityType } from "#api/common.ts";
import { MOST_NAME_CHARS } from "#core/item-facts.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** A name that some item gives an entity. Look-up only: the item may be hidden from who asks. */
export interface EntityName {
  /** Folded words of name, login and email. */
  nameKey: string;
  entityId: string;
}

/** An entity as one item shows it. */
export interface ShownEntity {
  kbId: string;
  entityId: string;
  type: EntityType;
  role: string;
  name: string;
  nameKey: string;
  email: string | null;
  login: string | null;
  claimed: boolean;
}

/** Parameters per statement stay below SQLite's limit. */
const CHUNK = 500;

/**
 * The reading side of entities. Nothing here asks who reads: `entities/` shows a name only when an item that the reader
 * may see gives it. Every query begins with the workspace. Source: S11.
 */
export function makeEntityStore(sql: SqlHandles, workspaceId: string) {
  return {
    /** The next distinct names after `after`, by name and id, at most `limit`: an index walk that reads no row. */
    async walkNames(after: EntityName | undefined, limit: number): Promise<EntityName[]> {
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

    /** Distinct names under which some item shows this address, in any case of ASCII letters, by name and id. */
    async namesWithEmail(email: string, limit: number): Promise<EntityName[]> {
      return sql.read
        .selectFrom("item_entities")
        .select(["nameKey", "entityId"])
        .where("workspaceId", "=", workspaceId)
        .where(raw<boolean>`lower("email") = lower(${email})`)
        .where("email", "is not", null)
        .groupBy(["nameKey", "entityId"])
        .orderBy("nameKey")
        .orderBy("entityId")
        .limit(limit)
        .execute();
    },

    /** Living items that give the entity this name, after `afterKbId`, at most `limit`, with their accesses. */
    async itemsNaming(
      { nameKey, entityId }: EntityName,
      afterKbId: string,
      limit: number,
    ): Promise<{ kbId: string; aclId: number }[]> {
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

    /** The types of these entities; unknown ids are left out. */
    async typesOf(entityIds: readonly string[]): Promise<Map<string, EntityType>> {
      const rows = await inChunks(entityIds, (chunk) =>
        sql.read
          .selectFrom("entities")
          .select(["entityId", "type"])
          .where("workspaceId", "=", workspaceId)
          .where("entityId", "in", chunk)
          .execute(),
      );
      // Written by the sync engine from the same union.
      return new Map(rows.map((row) => [row.entityId, row.type as EntityType]));
    },

    /** The entity that is the same as this principal, container or label; undefined when no item ever named it. */
    async findByIdentity(type: EntityType, identity: string): Promise<string | undefined> {
      const row = await sql.read
        .selectFrom("entities")
        .select("entityId")
        .where("workspaceId", "=", workspaceId)
        .where("type", "=", type)
        .where("identity", "=", identity)
        .executeTakeFirst();
      return row?.entityId;
    },

    /** Every entity that these items show. */
    async shownOn(kbIds: readonly string[]): Promise<ShownEntity[]> {
      const rows = await inChunks(kbIds, (chunk) =>
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
          .where("shown.kbId", "in", chunk)
          .orderBy("shown.kbId")
          .orderBy("shown.role")
          .orderBy("shown.entityId")
          .execute(),
      );
      return rows.map((row) => ({
        ...row,
        name: cut(row.name, MOST_NAME_CHARS),
        login: row.login && cut(row.login, MOST_NAME_CHARS),
        email: row.email && cut(row.email, MOST_NAME_CHARS),
        // Written by the sync engine from the same union.
        type: row.type as EntityType,
        claimed: row.claimed === 1,
      }));
    },
  };
}

async function inChunks<T>(ids: readonly string[], read: (chunk: string[]) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < ids.length; i += CHUNK) found.push(...(await read(ids.slice(i, i + CHUNK))));
  return found;
}
