import type { EntityType } from "#api/common.ts";

/** A name that some item gives an entity. Look-up only: the item may be hidden from who asks. */
export interface EntityName {
  /** Folded words of name, login and e-mail. */
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
 * The reading side of entities. Nothing here asks who reads: `entities/` shows a name only when an item that the reader
 * may see gives it. Source: S11.
 */
export interface EntityStore {
  /** The next distinct names after `after`, by name and id, at most `limit`: an index walk that reads no row. */
  walkNames(after: EntityName | undefined, limit: number): Promise<EntityName[]>;
  /** Living items that give the entity this name, after `afterKbId`, at most `limit`, with their accesses. */
  itemsNaming(name: EntityName, afterKbId: string, limit: number): Promise<{ kbId: string; aclId: number }[]>;
  /** The types of these entities; unknown ids are left out. */
  typesOf(entityIds: readonly string[]): Promise<Map<string, EntityType>>;
  /** The entity that is the same as this principal, container or label; undefined when no item ever named it. */
  findByIdentity(type: EntityType, identity: string): Promise<string | undefined>;
  /** Every entity that these items show. */
  shownOn(kbIds: readonly string[]): Promise<ShownEntity[]>;
}
