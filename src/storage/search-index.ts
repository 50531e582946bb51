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
  /** Number of the item's interned access in its workspace; 0 = no one. */
  aclId: number;
  /** Terms with their weighted frequency and positions-free length, made by the analyzer from title, path, labels and text. */
  text: AnalyzedText;
  /** Epoch milliseconds; null = unknown. */
  updatedAt: number | null;
  createdAt: number | null;
  dueAt: number | null;
  /** Entity ids in any role (author, assignee, reviewer, sender, mentioned). */
  people: readonly string[];
  /** Entity ids of the assignees; a subset of `people`. */
  assignees: readonly string[];
  /** Entity ids of folders, projects, channels, labels that hold the item. */
  containers: readonly string[];
  /** Terms of its fields, made by `fieldTerms`. */
  fields: readonly string[];
}

/** A pair that an item's field must match; see `termsOfPair`. */
export interface FieldFilter {
  key: string;
  value: string;
}

/** One change to the index; the changes of one item are applied in order. */
export type IndexChange =
  | { type: "upsert"; document: IndexedDocument }
  /** A new access for an item whose content hasn't changed: touches no posting. */
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
  /** Restricts to these items (a message thread, a folder's children). */
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
   * The principals of the searching actor, sorted; only `storage/policy/policy.ts` makes them. `epoch` is the
   * workspace's `accessEpoch` under which they were made: it keys the caches.
   */
  viewer: { principals: readonly string[]; epoch: number };
  /** The query as the person wrote it; words, "phrases", -not, prefix*. Key filters are already removed. */
  query: string;
  filters: SearchFilters;
  order: SearchOrder;
  /** Number of hits, 0–200; 0 = totals and facets only. */
  limit: number;
  /**
   * Continue after this hit. `match` and `hasFeedback` were decided on page 1. `show` recomputes a score that was
   * rounded for a cursor; if a hit's score has changed since, the page continues from its former position.
   */
  after?: { position: HitPosition; match: Matching; hasFeedback?: boolean; isRounded?: boolean };
  facets?: readonly FacetField[];
  /** IANA zone of the viewer, for `month` facets; default UTC. */
  timeZone?: string;
  /** Milliseconds after which the search fails with `search_timeout`; default 2,000. */
  deadlineMs?: number;
  /** Also returns how each hit was scored. */
  isExplained?: boolean;
}

/**
 * The number of words that a match needs. `any`: fewer than 10 visible items have all words, so those with at least two
 * of them follow; `one`: and few have two, so those with one of them do.
 */
export type Matching = "all" | "any" | "one";

/** A hit's position in its order, to continue after it. */
export interface HitPosition {
  /** 1 = ranks first because it has all words of a short query. */
  group: 0 | 1;
  /** Score for relevance; epoch milliseconds for recency and due. */
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
  /** Visible matches; exact unless `isTotalExact` is false (phrases and prefixes that reached a limit). */
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
  /** More hits follow after the last one. */
  hasMore: boolean;
  tookMs: number;
  /** Present if requested. */
  explained?: ExplainedScores;
}

/** The inputs of scores; hits in the order of `SearchResponse.hits`. All counts cover only what the viewer may see. */
export interface ExplainedScores {
  statistics: SearchStatistics;
  hits: HitScores[];
}

export interface SearchStatistics {
  /** Items that the viewer may see. */
  items: number;
  /** Their average length in weighted words. */
  averageLength: number;
  /** Terms of the first hits that affected the scores; the most important first. */
  feedback: readonly string[];
}

export interface HitScores {
  /** Has all words of the query. */
  hasAll: boolean;
  /** Length of the item in weighted words. */
  length: number;
  /** The query's words in the item; their scores, added up in this order, are the hit's score without feedback. */
  terms: TermScore[];
}

export interface TermScore {
  /** As written in the query. */
  written: string;
  /** As in the index: a stem, `=word` for an exact form, `word*` for a prefix. */
  term: string;
  /** Visible items that have it. */
  df: number;
  /** Occurrences in the item, each field with its weight; 1–255. */
  weight: number;
  score: number;
}

/** How a hit got its position. */
export interface Explanation {
  /** The query is its URL or key; it has all of the words; it has some of them. */
  group: "address" | "all" | "some";
  /** Null for an item that is first because of its URL: it wasn't scored. */
  score: number | null;
  length: number | null;
  terms: ExplainedTerm[];
  /** The increase from each factor when it is enabled after those before it. They add up to the score. */
  factors: { factor: ScoreFactor | "words" | "feedback"; score: number }[];
}

export interface ExplainedTerm extends TermScore {
  /** Occurrences per field. With a weight of 255 there may be more in the text. */
  frequency: { title: number; place: number; text: number };
}

/** A search whose hits are displayed. `limit` is how many. */
export interface ShowRequest extends SearchRequest {
  /** Items placed before the first hit and not repeated below: the query is their URL or key. */
  pinned: readonly string[];
  passages: SnippetOptions;
}

/** A passage of an item's text. */
export interface Excerpt extends Passage {
  /** The section that holds its match, after its parent sections, or its line: `Install › Linux`, `Page 3`, `line 12`. */
  section?: string;
  /** URL of that place, if the source has one. */
  url?: string;
}

/** A hit as displayed: record and text in the same state in which it was checked. Source: S7. */
export interface ShownHit {
  item: ShownItem;
  /** Absent for pinned items. */
  position?: HitPosition;
  /** The best passage first; none for an item without text, and for hits beyond the limit. */
  passages: readonly Excerpt[];
  /** Present if requested. */
  explanation?: Explanation;
}

export interface ShowResponse extends Omit<SearchResponse, "hits" | "explained"> {
  /** Present if requested. */
  statistics?: SearchStatistics;
  /** Pinned items first. One more than the limit only shows that there are more. */
  shown: ShownHit[];
  /** Hits from the index that the records rejected; above 0 is a fault of the index. */
  refused: number;
  /** Parts of a hit that couldn't be read: it is shown without its passages, or hidden if its access couldn't be read. */
  faults: readonly Fault[];
}

/** A request for the positions of words in one item's text, the checked one with this `textHash`. */
export interface FindRequest extends Pick<SearchRequest, "workspaceId" | "viewer" | "query" | "deadlineMs"> {
  item: { kbId: string; textHash: string };
}

/** Size of a workspace's index. */
export interface IndexStats {
  /** Searchable items; a recently changed one may count twice. */
  documents: number;
  bytes: number;
}

/**
 * The read side of the index of items, one workspace at a time. `SearchIndexWriter` is the write side; they are
 * separate, because the records have one writer and searches have their own threads.
 *
 * Permissions are passed in as principals; nothing that they don't open is counted, scored or listed.
 */
export interface SearchIndex {
  /** Returns the hits of a query with totals and facets. A transaction's changes can be found as soon as it has committed. */
  search(request: SearchRequest): Promise<SearchResponse>;
  /**
   * Searches, checks each hit again by the records, not by the index, and reads its displayed content, all on one state
   * of the records, so that decision, record and text always match. Undefined when the epoch of that state differs from
   * the viewer's: the principals may no longer be the person's. See `askAs` of the policy.
   */
  show(request: ShowRequest): Promise<ShowResponse | undefined>;
  /**
   * Finds the passages of an item's text that hold the words, off the main thread. Undefined if the item's text has
   * changed, the item no longer exists, or the viewer may no longer read it.
   */
  find(request: FindRequest): Promise<FoundPassages | undefined>;
  stats(workspaceId: string): Promise<IndexStats>;
  close(): Promise<void>;
}

/**
 * The write side of the index, on the records' only writer. Both members work inside the caller's open transaction, so
 * that records and index change together or not at all, and must not wait. Merging and other maintenance are up to the
 * adapter and never change a result.
 */
export interface SearchIndexWriter {
  /** Applies changes in order. Searches see them when the transaction commits. */
  apply(workspaceId: string, changes: readonly IndexChange[]): void;
  /** Hides these documents from everyone: like an `access` change to 0 for each, but at once, however many they are. */
  hide(workspaceId: string, kbIds: readonly string[]): void;
}
