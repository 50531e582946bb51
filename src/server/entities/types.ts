import type { EntityType, ItemKind } from "#api/common.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ItemRecord } from "#storage/item-record.ts";

/** An entity built only from items that the reader may see (S11). Times are epoch milliseconds. */
export interface EntityRecord {
  entityId: string;
  type: EntityType;
  name: string;
  /** Other names that visible items use for the entity. */
  aliases: readonly string[];
  email: string | null;
  login: string | null;
  claimed: boolean;
  /** Kinds of app that have items of the entity, and the places in them. Those with the most items come first. */
  providers: readonly string[];
  sources: readonly string[];
  itemCount: number;
  /** The latest change of an item of the entity. */
  lastSeenAt: number | null;
}

export interface EntityPage {
  entities: readonly EntityRecord[];
  total: number;
  nextCursor: string | null;
}

export interface EntityRelationRecord {
  role: string;
  entityId: string;
  type: EntityType;
  name: string;
  claimed: boolean;
  itemCount: number;
  /** The newest visible item that shows the entity. */
  kbId: string;
}

export interface EntityOverview {
  entity: EntityRecord;
  counts: { items: number; recent: number; openTasks: number; byKind: Readonly<Record<string, number>> };
  openTasks: readonly ItemRecord[];
  newest: readonly ItemRecord[];
  relations: readonly EntityRelationRecord[];
  notes: readonly string[];
}

export interface EntityQuery {
  query: string;
  type?: EntityType;
  limit: number;
  cursor?: string;
}

/** The result of resolving a text: one entity, several candidates, or the current person if they have no account. */
export type EntityAnswer =
  | { type: "overview"; overview: EntityOverview }
  | { type: "candidates"; candidates: readonly EntityRecord[]; notes: readonly string[] };

export interface EntityService {
  /** @throws ApiError `invalid_cursor` */
  search(actor: Actor, query: EntityQuery): Promise<EntityPage>;
  /**
   * Returns the overview of the entity that `entity` names (entityId, email address, URL, name, `me`), or candidates if
   * it is ambiguous.
   *
   * @throws ApiError `not_found`, `invalid_argument` for a bad date
   */
  context(
    actor: Actor,
    request: { entity: string; kinds?: readonly ItemKind[]; after?: string },
  ): Promise<EntityAnswer>;
}

export interface NamedEntity {
  entityId: string;
  type: EntityType;
  name: string;
  email: string | null;
}

/** Resolves a text to entities that the reader may see. */
export interface EntityFinder {
  /**
   * Returns the current person's entities: `found` by proven links, `claims` by their verified email address, which
   * anyone can write into a document. `unlinked`: sources in which they have no linked account.
   */
  me(actor: Actor): Promise<{ found: NamedEntity[]; claims: NamedEntity[]; unlinked: string[] }>;
  /**
   * Returns the entities with exactly this name, login or email address, else those whose names contain all the words,
   * else those with similar names.
   */
  byName(
    actor: Actor,
    text: string,
    types: "person" | "container",
  ): Promise<{ found: NamedEntity[]; close: NamedEntity[] }>;
  /** Returns names of entities as visible items show them. Entities that no visible item names are left out. */
  named(actor: Actor, entityIds: readonly string[]): Promise<NamedEntity[]>;
}
