import type { Fault } from "#core/faults.ts";
import type { ItemKind, TaskStatus } from "#api/common.ts";
import type { LiveAnswer } from "#api/live-search.ts";
import type { DATE_FIELDS, DETAILS, GROUPINGS, SORT_ORDERS } from "#api/tools.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { FieldFilter, SearchStatistics, ShownHit } from "#storage/search-index.ts";

/** The answers of `search` and `entities`, which the tools and the REST routes render. */

/** The arguments of a search as given. Only their types have been checked. */
export interface SearchArguments {
  query: string;
  kinds?: readonly ItemKind[];
  status?: TaskStatus;
  /** `me`, a name, an email address or an entityId. */
  assignee?: string;
  people?: string;
  /** The source's own word: `high`, `P1`. */
  priority?: string;
  /** A provider, place, entityId, kbId or URL. */
  source?: string;
  /** Pairs that must all match an item's fields; at most 8. */
  fields?: readonly FieldFilter[];
  /** A day as people write it: `2026-11-01`, `7d`, `last month`. */
  after?: string;
  before?: string;
  dateField?: (typeof DATE_FIELDS)[number];
  sortBy?: (typeof SORT_ORDERS)[number];
  /** Returns counts per value instead of entries. */
  groupBy?: Grouping;
  /** Returns counts per value besides the entries. */
  facets?: readonly Grouping[];
  /** 1–50. */
  limit: number;
  detail?: (typeof DETAILS)[number];
  cursor?: string;
  /** Also queries servers that the person has connected, for the first page only. */
  live?: boolean;
  /** Also explains each score. For admins. */
  explain?: boolean;
}

export type Grouping = (typeof GROUPINGS)[number];

export interface SearchGroup {
  value: string;
  /** For people: the person that the value names. */
  entityId?: string;
  count: number;
  /**
   * For people: the number of items that are assigned to them. In the other items they are author, sender, reviewer or
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
   * Sentences about parts of the query that were interpreted or corrected, and about results that are missing or still
   * being indexed. Each sentence is already on one line.
   */
  notes: readonly string[];
  /** Returns the cursor that continues after the first `shown` entries; undefined when no entries follow. */
  cursorAfter(shown: number): string | undefined;
  /** Records that an entry could not be shown completely. */
  noteFault(fault: Fault): void;
  /** Epoch milliseconds. */
  asOf: number;
  tookMs: number;
  /** Results that the person's own connections found now, if requested. */
  live?: LiveAnswer;
  /** The numbers behind the scores, if an explanation was requested. */
  statistics?: SearchStatistics;
}

export interface SearchService {
  /**
   * @throws ApiError `forbidden`, `invalid_argument`, `no_such_person`, `invalid_cursor`, `search_timeout`,
   *   `search_overloaded`
   */
  search(actor: Actor, args: SearchArguments): Promise<SearchOutcome>;
}
