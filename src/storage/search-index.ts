import type { Fault } from "#core/faults.ts";
import type { ItemKind, TaskStatus } from "#api/common.ts";
import type { AnalyzedText } from "#text/analyzer.ts";
import type { ScoreFactor } from "#text/factors.ts";
import type { FoundPassages, Passage, SnippetOptions } from "#text/snippet.ts";
import type { ShownItem } from "./item-record.ts";

/** The index data of an item: everything that is searched, filtered, sorted or counted without its stored text. */
export interface IndexedDocument {
  kbId: string;
  kind: ItemKind;
  status: TaskStatus | null;
  providerId: string;
  source: string;
  connectorId: string;
  /** The number of the item's interned access in its workspace; 0 = no one. */
  aclId: number;
  /**
   * Terms with their weighted frequency, and the length; without positions. The analyzer makes them from title, path,
   * labels and text.
   */
  text: AnalyzedText;
  /** Epoch milliseconds; null = unknown. */
  updatedAt: number | null;
  createdAt: number | null;
  dueAt: number | null;
  /** Ids of the entities with any role in the item (author, assignee, reviewer, sender, mentioned). */
  people: readonly string[];
  /** Entity ids of the assignees, which are a subset of `people`. */
  assignees: readonly string[];
  /** Entity ids of the folders, projects, channels and labels that hold the item. */
  containers: readonly string[];
  /** Terms of its fields, made by `fieldTerms`. */
  fields: readonly string[];
}

/** A pair of name and value that an item's field must match; see `termsOfPair`. */
export interface FieldFilter {
  key: string;
  value: string;
}

/** One change to the index. The changes of one item are applied in order. */
export type IndexChange =
  | { type: "upsert"; document: IndexedDocument }
  /** A new access for an item whose content hasn't changed. The change touches no posting. */
  | { type: "access"; kbId: string; aclId: number }
  | { type: "remove"; kbId: string };

export interface SearchFilters {
  kinds?: readonly ItemKind[];
  status?: TaskStatus;
  sources?: readonly string[];
  providerIds?: readonly string[];
  connectorIds?: readonly string[];
  people?: readonly string[];
  assignees?: readonly string[];
  containers?: readonly string[];
  /** All of these pairs must match. */
  fields?: readonly FieldFilter[];
  /** Only these items (such as a message thread or a folder's children). */
  kbIds?: readonly string[];
  dateField?: "updated" | "created" | "due";
  /** Epoch milliseconds, inclusive. */
  from?: number;
  /** Epoch milliseconds, exclusive. */
  until?: number;
}

export type SearchOrder = "relevance" | "recency" | "due";
export type FacetField = "kind" | "source" | "provider" | "person" | "status" | "month";

export interface SearchRequest {
  workspaceId: string;
  /**
   * The sorted principals of the actor who searches; only `storage/policy/policy.ts` makes them. `epoch` is the
   * workspace's `accessEpoch` when they were made, which is part of the keys of caches.
   */
  viewer: { principals: readonly string[]; epoch: number };
  /** The query as the person wrote it: words, "phrases", -not, prefix*. Key filters are already removed. */
  query: string;
  filters: SearchFilters;
  order: SearchOrder;
  /** Number of hits, 0–200; 0 = only totals and facets. */
  limit: number;
  /**
   * Continues after this hit. `match` and `hasFeedback` were decided on page 1. `show` recomputes a score that was
   * rounded for a cursor. If a hit's score has changed since, the page continues from its former position.
   */
  after?: { position: HitPosition; match: Matching; hasFeedback?: boolean; isRounded?: boolean };
  facets?: readonly FacetField[];
  /** IANA zone of the viewer, for `month` facets; default UTC. */
  timeZone?: string;
  /** Milliseconds after which the search fails with `search_timeout`; default 2,000. */
  deadlineMs?: number;
  /** Whether to return how each hit was scored. */
  isExplained?: boolean;
}

/**
 * How many words a match needs. `any`: fewer than 10 visible items have all words, so items with at least two of them
 * follow. `one`: few items have two either, so items with one word follow.
 */
export type Matching = "all" | "any" | "one";

/** A hit's position in its order, after which another page continues. */
export interface HitPosition {
  /** 1 = the hit ranks first because it has all words of a short query. */
  group: 0 | 1;
  /** The score when sorted by relevance; epoch milliseconds when sorted by recency or due date. */
  value: number;
  kbId: string;
}

export interface SearchHit {
  kbId: string;
  position: HitPosition;
  score: number;
}

export interface SearchResponse {
  hits: SearchHit[];
  /** Number of visible matches. Exact unless `isTotalExact` is false (phrases and prefixes that reached a limit). */
  total: number;
  totalAll: number;
  isTotalExact: boolean;
  match: Matching;
  /** Whether the words of the first hits affected the scores. */
  hasFeedback: boolean;
  order: SearchOrder;
  facets: Partial<Record<FacetField, { value: string; count: number }[]>>;
  /** Query words (as written) that occur in no visible item. */
  unknownWords: string[];
  /** True if more hits follow after the last one. */
  hasMore: boolean;
  tookMs: number;
  /** Set if requested. */
  explained?: ExplainedScores;
}

/**
 * The inputs of scores, with hits in the order of `SearchResponse.hits`. All counts cover only what the viewer may see.
 */
export interface ExplainedScores {
  statistics: SearchStatistics;
  hits: HitScores[];
}

export interface SearchStatistics {
  /** The number of items that the viewer may see. */
  items: number;
  /** The average length of these items in weighted words. */
  averageLength: number;
  /** Terms of the first hits that affected the scores, the most important first. */
  feedback: readonly string[];
}

export interface HitScores {
  /** True if the item has all words of the query. */
  hasAll: boolean;
  /** Length of the item in weighted words. */
  length: number;
  /** The query's words in the item. Their scores, added up in this order, are the hit's score without feedback. */
  terms: TermScore[];
}

export interface TermScore {
  /** The term as written in the query. */
  written: string;
  /** The term as in the index: a stem, `=word` for an exact form, `word*` for a prefix. */
  term: string;
  /** The number of visible items that have the term. */
  df: number;
  /** The occurrences in the item, weighted by field; 1–255. */
  weight: number;
  score: number;
}

/** Why a hit has its position. */
export interface Explanation {
  /**
   * Why the hit is in its group: the query is the item's URL or key, the item has all words, or it has some of them.
   */
  group: "address" | "all" | "some";
  /** Null for an item that ranks first because of its URL, and wasn't scored. */
  score: number | null;
  length: number | null;
  terms: ExplainedTerm[];
  /** How much each factor adds when it is enabled after the factors before it. The sum is the score. */
  factors: { factor: ScoreFactor | "words" | "feedback"; score: number }[];
}

export interface ExplainedTerm extends TermScore {
  /** Occurrences per field. With a weight of 255 there may be more in the text. */
  frequency: { title: number; place: number; text: number };
}

/** A search whose hits are displayed. `limit` is how many. */
export interface ShowRequest extends SearchRequest {
  /** Items that are placed before the first hit and not repeated below, because the query is their URL or key. */
  pinned: readonly string[];
  passages: SnippetOptions;
}

/** A passage of an item's text. */
export interface Excerpt extends Passage {
  /** Where the match is: its section after the parent sections, or its line: `Install › Linux`, `Page 3`, `line 12`. */
  section?: string;
  /** The URL of that place, if the source has one. */
  url?: string;
}

/** A hit as displayed. Record and text are in the same state in which access was checked. Source: S7. */
export interface ShownHit {
  item: ShownItem;
  /** The hit's position; absent for pinned items. */
  position?: HitPosition;
  /** The best passage first. Empty for an item without text, and for hits beyond the limit. */
  passages: readonly Excerpt[];
  /** Set if requested. */
  explanation?: Explanation;
}

export interface ShowResponse extends Omit<SearchResponse, "hits" | "explained"> {
  /** Set if requested. */
  statistics?: SearchStatistics;
  /** Pinned items first. May contain one more item than the limit, only to show that there are more. */
  shown: ShownHit[];
  /** The number of hits from the index that the records rejected; above 0 is a fault of the index. */
  refused: number;
  /**
   * Faults in reading parts of a hit. The hit is shown without its passages, or hidden if its access couldn't be read.
   */
  faults: readonly Fault[];
}

/**
 * A request for the positions of words in one item's text. The text must still have the `textHash` of the item that was
 * checked.
 */
export interface FindRequest extends Pick<SearchRequest, "workspaceId" | "viewer" | "query" | "deadlineMs"> {
  item: { kbId: string; textHash: string };
}

/** Size of a workspace's index. */
export interface IndexStats {
  /** The number of searchable items; a recently changed item may be counted twice. */
  documents: number;
  bytes: number;
}

/**
 * The read side of the index of items, for one workspace at a time. `SearchIndexWriter` is the write side. They are
 * separate, because the records have one writer and searches have their own threads.
 *
 * Callers pass permissions as principals. Items that aren't open to these principals are never counted, scored or
 * listed.
 */
export interface SearchIndex {
  /**
   * Returns the hits of a query with totals and facets. Changes of a transaction can be found as soon as it has
   * committed.
   */
  search(request: SearchRequest): Promise<SearchResponse>;
  /**
   * Searches, checks each hit again by the records, not by the index, and reads its displayed content. All of this uses
   * one state of the records, so that decision, record and text always match. Undefined when the epoch of that state
   * differs from the viewer's, because the principals may no longer be the person's. See `askAs` of the policy.
   */
  show(request: ShowRequest): Promise<ShowResponse | undefined>;
  /**
   * Finds the passages of an item's text that contain the words, off the main thread. Undefined if the item's text has
   * changed, the item no longer exists, or the viewer may no longer read it.
   */
  find(request: FindRequest): Promise<FoundPassages | undefined>;
  stats(workspaceId: string): Promise<IndexStats>;
  close(): Promise<void>;
}

/**
 * The write side of the index, on the records' only writer. Both members work inside the caller's open transaction, so
 * that records and index change together or not at all, and must not wait. The adapter decides when to merge and do
 * other maintenance, which never changes a result.
 */
export interface SearchIndexWriter {
  /** Applies changes in order. Searches see them when the transaction commits. */
  apply(workspaceId: string, changes: readonly IndexChange[]): void;
  /**
   * Hides these documents from everyone. The result is that of an `access` change to 0 for each, but all of them change
   * at once, however many there are.
   */
  hide(workspaceId: string, kbIds: readonly string[]): void;
}
