import { sql as raw } from "kysely";
import { cut } from "#api/clean.ts";
import type { EntityType } from "#api/common.ts";
import { MOST_NAME_CHARS } from "#core/item-facts.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { onSame } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { readInChunks } from "#storage/results.ts";
import { ENTITIES, ITEM_ENTITIES, ITEMS } from "#storage/tables/items.ts";

/** A name that some item gives an entity. For look-up only, because the item may be hidden from the reader. */
export interface EntityName {
  /** The folded words of name, login and email. */
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

/**
 * Reads entities. Nothing here checks access: `entities/` shows a name only when an item that the reader may see gives
 * it. Every query begins with the workspace. Source: S11.
 */
export function makeEntityStore(sql: SqlHandles, workspaceId: string) {
  const itemEntities = inWorkspace(sql, workspaceId, ITEM_ENTITIES);
  const entities = inWorkspace(sql, workspaceId, ENTITIES);
  return {
    /**
     * Returns the next distinct names after `after`, by name and id, at most `limit`: an index walk that reads no row.
     */
    async walkNames(after: EntityName | undefined, limit: number): Promise<EntityName[]> {
      let query = itemEntities
        .select()
        .select(["nameKey", "entityId"])
        .groupBy(["nameKey", "entityId"])
        .orderBy("nameKey")
        .orderBy("entityId")
        .limit(limit);
      if (after) query = query.where(raw<boolean>`("nameKey", "entityId") > (${after.nameKey}, ${after.entityId})`);
      return query.execute();
    },

    /**
     * Returns the distinct names with which some item shows this address, in any case of ASCII letters, by name and id.
     */
    async namesWithEmail(email: string, limit: number): Promise<EntityName[]> {
      return itemEntities
        .select()
        .select(["nameKey", "entityId"])
        .where(raw<boolean>`lower("email") = lower(${email})`)
        .where("email", "is not", null)
        .groupBy(["nameKey", "entityId"])
        .orderBy("nameKey")
        .orderBy("entityId")
        .limit(limit)
        .execute();
    },

    /** Returns living items that give the entity this name, after `afterKbId`, at most `limit`, with their accesses. */
    async itemsNaming(
      { nameKey, entityId }: EntityName,
      afterKbId: string,
      limit: number,
    ): Promise<{ kbId: string; aclId: number }[]> {
      return itemEntities
        .select({ nameKey, entityId })
        .innerJoin("items", onSame(ITEMS, ITEM_ENTITIES, "kbId"))
        .select(["items.kbId", "items.aclId"])
        .where("item_entities.kbId", ">", afterKbId)
        .where("items.removedAt", "is", null)
        .orderBy("item_entities.kbId")
        .limit(limit)
        .execute();
    },

    /** Returns the types of these entities, without unknown ids. */
    async typesOf(entityIds: readonly string[]): Promise<Map<string, EntityType>> {
      const rows = await readInChunks(entityIds, (chunk) =>
        entities.select().select(["entityId", "type"]).where("entityId", "in", chunk).execute(),
      );
      return new Map(rows.map((row) => [row.entityId, row.type]));
    },

    /** Returns the entity of this principal, container or label; undefined when no item ever named it. */
    async findByIdentity(type: EntityType, identity: string): Promise<string | undefined> {
      const row = await entities.select({ type, identity }).select("entityId").executeTakeFirst();
      return row?.entityId;
    },

    /** Returns every entity that these items show. */
    async shownOn(kbIds: readonly string[]): Promise<ShownEntity[]> {
      const rows = await readInChunks(kbIds, (chunk) =>
        itemEntities
          .select()
          .innerJoin("entities", onSame(ENTITIES, ITEM_ENTITIES, "entityId"))
          .select([
            "item_entities.kbId",
            "item_entities.entityId",
            "entities.type",
            "item_entities.role",
            "item_entities.name",
            "item_entities.nameKey",
          ])
          .select(["item_entities.email", "item_entities.login", "item_entities.claimed"])
          .where("item_entities.kbId", "in", chunk)
          .orderBy("item_entities.kbId")
          .orderBy("item_entities.role")
          .orderBy("item_entities.entityId")
          .execute(),
      );
      return rows.map((row) => ({
        ...row,
        name: cut(row.name, MOST_NAME_CHARS),
        login: row.login && cut(row.login, MOST_NAME_CHARS),
        email: row.email && cut(row.email, MOST_NAME_CHARS),
        claimed: row.claimed === 1,
      }));
    },
  };
}
