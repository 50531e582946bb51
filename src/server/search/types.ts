import type { Fault } from "#core/faults.ts";
import type { ItemKind, TaskStatus } from "#api/common.ts";
import type { LiveAnswer } from "#api/live-search.ts";
import type { DATE_FIELDS, DETAILS, GROUPINGS, SORT_ORDERS } from "#api/tools.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { FieldFilter, SearchStatistics, ShownHit } from "#storage/search-index.ts";

/** The answers of `search` and `entities`, as the tools and the REST routes render them. */

/** The arguments of a search as they were given, checked for their shape only. */
export interface SearchArguments {
  query: string;
  kinds?: readonly ItemKind[];
  status?: TaskStatus;
  /** `me`, name, email or entityId. */
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
  /** Counts per value instead of entries. */
  groupBy?: Grouping;
  /** Counts per value besides the entries. */
  facets?: readonly Grouping[];
  /** 1–50. */
  limit: number;
  detail?: (typeof DETAILS)[number];
  cursor?: string;
  /** Also queries servers that the person has connected; the first page only. */
  live?: boolean;
  /** Also explains each score; for admins. */
  explain?: boolean;
}

export type Grouping = (typeof GROUPINGS)[number];

export interface SearchGroup {
  value: string;
  /** For people: the person that the value names. */
  entityId?: string;
  count: number;
  /**
   * For people: the number of items with them as assignee; in the others they are author, sender, reviewer or
   * mentioned.
   */
  assigned?: number;
}

export interface SearchOutcome {
  entries: readonly ShownHit[];
  /** The counts that `groupBy` and `facets` request. */
  facets: Partial<Record<Grouping, readonly SearchGroup[]>>;
  total: number;
  isTotalExact: boolean;
  match: "all" | "any";
  order: "relevance" | "recency" | "due";
  /**
   * Parts of the query that were understood or corrected, and results that are missing or still being indexed, one
   * sentence each; already one line.
   */
  notes: readonly string[];
  /** The cursor that continues after the first `shown` entries; undefined when nothing follows. */
  cursorAfter(shown: number): string | undefined;
  /** Records that an entry could not be shown completely. */
  noteFault(fault: Fault): void;
  /** Epoch milliseconds. */
  asOf: number;
  tookMs: number;
  /** Results that the person's own connections found just now, if requested. */
  live?: LiveAnswer;
  /** The basis of the scores, if an explanation was requested. */
  statistics?: SearchStatistics;
}

export interface SearchService {
  /**
   * @throws ApiError `forbidden`, `invalid_argument`, `no_such_person`, `invalid_cursor`, `search_timeout`,
   *   `search_overloaded`
   */
  search(actor: Actor, args: SearchArguments): Promise<SearchOutcome>;
}
