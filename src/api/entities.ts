import { Count, EntityType, ItemKind, nextCursor, TaskStatus, Timestamp } from "./common.ts";
import { answer, get, z } from "./route.ts";
import { TOOL_LIMITS } from "./tools.ts";

/**
 * An entity, as it appears in items that the caller may read. Its names, counts and dates come only from those items (S11). Email and login
 * distinguish people of the same name and can be searched, so both REST and the tools return them; a person known only from documents is marked
 * `claimed` everywhere (S47).
 */
export const Entity = z
  .object({
    entityId: z.string(),
    type: EntityType,
    name: z.string(),
    aliases: z.array(z.string()),
    email: z.string().nullable(),
    login: z.string().nullable(),
    /** True when only documents name the entity (git, front matter, properties). */
    claimed: z.boolean(),
    /** Kinds of app with items of the entity, in descending order of the number of items. */
    providers: z.array(z.string()),
    itemCount: Count,
    /** When one of its items was last changed. */
    lastSeenAt: Timestamp.nullable(),
  })
  .openapi("Entity");
export type Entity = z.infer<typeof Entity>;

/** An item in an overview. */
export const ContextItem = z
  .object({
    kbId: z.string(),
    title: z.string(),
    kind: ItemKind,
    status: TaskStatus.nullable(),
    url: z.string().nullable(),
    dueAt: Timestamp.nullable(),
    updatedAt: Timestamp.nullable(),
  })
  .openapi("ContextItem");
export type ContextItem = z.infer<typeof ContextItem>;

/** Another entity of the same items, and the newest visible item that shows the relation. */
export const EntityRelation = z
  .object({
    role: z.string(),
    entityId: z.string(),
    type: EntityType,
    name: z.string(),
    claimed: z.boolean(),
    itemCount: Count,
    kbId: z.string(),
  })
  .openapi("EntityRelation");

export const EntityContext = z
  .object({
    entity: Entity,
    counts: z.object({
      items: Count,
      /** Number of items changed within the last 90 days. */
      recent: Count,
      openTasks: Count,
      byKind: z.record(z.string(), Count),
    }),
    openTasks: z.array(ContextItem),
    newest: z.array(ContextItem),
    relations: z.array(EntityRelation),
    notes: z.array(z.string()),
  })
  .openapi("EntityContext");
export type EntityContext = z.infer<typeof EntityContext>;

export const EntitiesQuery = z.strictObject({
  q: z.string().max(TOOL_LIMITS.valueChars).default(""),
  type: EntityType.optional(),
  limit: z.coerce.number<number>().int().min(1).max(200).default(50),
  cursor: z.string().max(64).optional(),
});

export const entitiesRoute = get("/api/entities", "Search people, projects, labels and other entities", {
  operationId: "listEntities",
  tags: ["entities"],
  query: EntitiesQuery,
  200: answer("Entities in items that the caller can see", { entities: z.array(Entity), nextCursor, total: Count }),
  problems: ["invalid_argument"],
});

export const entityContextRoute = get("/api/entities/{id}", "Get the overview of an entity", {
  operationId: "getEntityContext",
  tags: ["entities"],
  params: { id: z.string().max(200) },
  query: z.strictObject({ kind: ItemKind.optional(), after: z.string().max(60).optional() }),
  200: answer("What the items that you can see say about the entity", EntityContext),
  problems: ["invalid_argument", "no_such_person"],
});
