import type { EntityType, ItemKind, TaskStatus } from "#api/common.ts";
import type { DATE_FIELDS, DETAILS, GROUPINGS, SORT_ORDERS } from "#api/tools.ts";
import type { Actor } from "./actor.ts";
import type { FieldFilter } from "./search-index.ts";
import type { ItemRecord } from "./store/items.ts";

/** What `search` and `entities` answer, as the tools and the REST routes render it. */

/** The arguments of a search as they were given, checked for their shape only. */
export interface SearchArguments {
  query: string;
  kinds?: readonly ItemKind[];
  status?: TaskStatus;
  /** `me`, name, e-mail or entityId. */
  assignee?: string;
  people?: string;
  /** As its source calls it: `high`, `P1`. */
  priority?: string;
  /** Provider, place, entityId, kbId or URL. */
  source?: string;
  /** Pairs that an item's fields must fit, all of them; at most 8. */
  fields?: readonly FieldFilter[];
  /** As people write days: `2026-11-01`, `7d`, `last month`. */
  after?: string;
  before?: string;
  dateField?: (typeof DATE_FIELDS)[number];
  sortBy?: (typeof SORT_ORDERS)[number];
  groupBy?: (typeof GROUPINGS)[number];
  /** 1–50. */
  limit: number;
  detail?: (typeof DETAILS)[number];
  cursor?: string;
}

/** A stretch of an item's text. */
export interface SearchPassage {
  /** Where the passage starts in the item's text, in UTF-16 code units. */
  at: number;
  /** The section that holds its match, after those it is part of, or its line: `Install › Linux`, `Page 3`, `line 12`. */
  section?: string;
  /** Address of that very place, where the source has one. */
  url?: string;
  text: string;
  /** What matches, in code units of `text`. */
  highlights: readonly { start: number; end: number }[];
}

/** A hit that was judged again, with the text of the very version that was judged. */
export interface SearchEntry {
  item: ItemRecord;
  /** The best passage first; empty for an item without text. */
  passages: readonly SearchPassage[];
}

export interface SearchGroup {
  value: string;
  /** For people: whom the value names. */
  entityId?: string;
  count: number;
  /** For people: in how many of them as assignee; in the others as author, sender, reviewer or mentioned. */
  assigned?: number;
}

export interface SearchOutcome {
  entries: readonly SearchEntry[];
  groups?: readonly SearchGroup[];
  total: number;
  isTotalExact: boolean;
  match: "all" | "any";
  order: "relevance" | "recency" | "due";
  /** What was understood, corrected, missing or is still being indexed, one sentence each; already one line. */
  notes: readonly string[];
  /** The cursor that goes on after the first `shown` entries; undefined when nothing follows. */
  cursorAfter(shown: number): string | undefined;
  /** Epoch milliseconds. */
  asOf: number;
  tookMs: number;
}

export interface SearchService {
  /** @throws ApiError `invalid_argument`, `no_such_person`, `invalid_cursor`, `search_timeout`, `search_overloaded` */
  search(actor: Actor, args: SearchArguments): Promise<SearchOutcome>;
}

/** An entity from the items that the reader may see, and from nothing else (S11). Times are epoch milliseconds. */
export interface EntityRecord {
  entityId: string;
  type: EntityType;
  name: string;
  /** Other names that visible items give it. */
  aliases: readonly string[];
  email: string | null;
  login: string | null;
  claimed: boolean;
  /** Kinds of app with items of it, and the places there; the one with most items first. */
  providers: readonly string[];
  sources: readonly string[];
  itemCount: number;
  /** The newest change of an item of it. */
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
  /** The newest visible item that proves it. */
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

/** Whom or what a text names: one entity, several that it could be, or the person asking without any account. */
export type EntityAnswer =
  | { type: "overview"; overview: EntityOverview }
  | { type: "candidates"; candidates: readonly EntityRecord[]; notes: readonly string[] };

export interface EntityService {
  /** @throws ApiError `invalid_cursor` */
  search(actor: Actor, query: EntityQuery): Promise<EntityPage>;
  /**
   * The overview of what `entity` names (entityId, e-mail, URL, name, `me`), or candidates when it is not clear.
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

/** Who or what a text could mean, among what the reader may see. */
export interface EntityFinder {
  /** The entities that the person asking is, by proven links alone. */
  me(actor: Actor): Promise<{ found: NamedEntity[]; unlinked: string[] }>;
  /** Those with exactly this name, login or e-mail, else those with all its words; and close ones when there is none. */
  byName(
    actor: Actor,
    text: string,
    types: "person" | "container",
  ): Promise<{ found: NamedEntity[]; close: NamedEntity[] }>;
  /** Names of entities as visible items show them; those that nothing visible names are left out. */
  named(actor: Actor, entityIds: readonly string[]): Promise<NamedEntity[]>;
}
