import type { Fault } from "#core/faults.ts";
import type { ItemKind, TaskStatus } from "#api/common.ts";
import type { AnalyzedText } from "#text/analyzer.ts";
import type { ScoreFactor } from "#text/factors.ts";
import type { FoundPassages, Passage, SnippetOptions } from "#text/snippet.ts";
import type { ShownItem } from "#storage/records/item-record.ts";

/** What the index holds of an item: everything that is searched, filtered, ordered or counted without its stored text. */
export interface IndexedDocument {
  kbId: string;
  kind: ItemKind;
  status: TaskStatus | null;
  providerId: string;
  source: string;
  connectorId: string;
  /** Number of the item's interned access in its workspace; 0 = nobody. */
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

/** A pair that an item's field must fit; see `termsOfPair`. */
export interface FieldFilter {
  key: string;
  value: string;
}

/** One change to the index; the changes of one item are applied in the order given. */
export type IndexChange =
  | { type: "upsert"; document: IndexedDocument }
  /** A new access of an item whose content did not change: touches no posting. */
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
  /** All of these pairs. */
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
   * The principals of the actor behind the question, sorted; made by `storage/access/policy.ts` and by nothing else.
   * `epoch` is the workspace's `accessEpoch` they were made under: it keys the caches.
   */
  viewer: { principals: readonly string[]; epoch: number };
  /** The query as the person wrote it; words, "phrases", -not, prefix*. Key filters are already taken out. */
  query: string;
  filters: SearchFilters;
  order: SearchOrder;
  /** Hits wanted, 0–200; 0 = totals and facets only. */
  limit: number;
  /**
   * Continue after this hit. `match` and `hasFeedback` are what was decided on page 1. A score that was rounded for a
   * cursor is asked for again by `show`; a hit whose score has changed since goes on from where it was.
   */
  after?: { position: HitPosition; match: Matching; hasFeedback?: boolean; isRounded?: boolean };
  facets?: readonly FacetField[];
  /** IANA zone of the viewer, for `month` facets; UTC unless told. */
  timeZone?: string;
  /** Give up after this many milliseconds with `search_timeout`; 2,000 unless told. */
  deadlineMs?: number;
  /** Also gives how the score of each hit came about. */
  isExplained?: boolean;
}

/**
 * What makes an item a match. `any`: fewer than 10 visible items have all words, so those with at least two of them follow;
 * `one`: and few have two, so those with one of them do.
 */
export type Matching = "all" | "any" | "one";

/** Where a hit stands in its order: enough to continue after it. */
export interface HitPosition {
  /** 1 = stands first because it has all words of a short question. */
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
  /** Visible matches; exact unless `isTotalExact` is false (phrases and prefixes that met a cap). */
  total: number;
  totalAll: number;
  isTotalExact: boolean;
  match: Matching;
  /** The words of the first hits took part in the scores. */
  hasFeedback: boolean;
  order: SearchOrder;
  facets: Partial<Record<FacetField, { value: string; count: number }[]>>;
  /** Query words (as written) that occur in no visible item. */
  unknownWords: string[];
  /** More hits follow after the last one. */
  hasMore: boolean;
  tookMs: number;
  /** Where it was asked for. */
  explained?: ExplainedScores;
}

/** What scores were made of; hits in the order of `SearchResponse.hits`. Everything is counted over what the viewer may see. */
export interface ExplainedScores {
  statistics: SearchStatistics;
  hits: HitScores[];
}

export interface SearchStatistics {
  /** Items that the viewer may see. */
  items: number;
  /** Their average length in weighted words. */
  averageLength: number;
  /** Terms of the first hits that took part in the scores; the one that counts most first. */
  feedback: readonly string[];
}

export interface HitScores {
  /** Has all words of the question. */
  hasAll: boolean;
  /** Of the item, in weighted words. */
  length: number;
  /** The question's words that the item has; their scores, added up in this order, are the hit's without feedback. */
  terms: TermScore[];
}

export interface TermScore {
  /** As it stands in the query. */
  written: string;
  /** As the index holds it: a stem, `=word` for an exact form, `word*` for a prefix. */
  term: string;
  /** Visible items that have it. */
  df: number;
  /** How often the item has it, each field with its weight; 1–255. */
  weight: number;
  score: number;
}

/** How a hit came to its place. */
export interface Explanation {
  /** The query is its address or key; it has all of the words; it has some of them. */
  group: "address" | "all" | "some";
  /** Null for what stands first by its address: it was not scored. */
  score: number | null;
  length: number | null;
  terms: ExplainedTerm[];
  /** What each factor adds when it is switched on after those before it. They sum up to the score. */
  factors: { factor: ScoreFactor | "words" | "feedback"; score: number }[];
}

export interface ExplainedTerm extends TermScore {
  /** How often the fields have it. With a weight of 255 there may be more in the text. */
  frequency: { title: number; place: number; text: number };
}

/** A question whose hits are shown. `limit` is how many. */
export interface ShowRequest extends SearchRequest {
  /** Items that stand before the first hit, and nowhere among the others: what the query is the address of. */
  pinned: readonly string[];
  passages: SnippetOptions;
}

/** A piece of an item's text. */
export interface Excerpt extends Passage {
  /** The section that holds its match, after those it is part of, or its line: `Install › Linux`, `Page 3`, `line 12`. */
  section?: string;
  /** Address of that very place, where the source has one. */
  url?: string;
}

/** A hit as it is shown: record and text of the very state in which it was judged. Source: S7. */
export interface ShownHit {
  item: ShownItem;
  /** Absent for what is pinned. */
  position?: HitPosition;
  /** The best passage first; none for an item without text, and for what lies beyond the limit. */
  passages: readonly Excerpt[];
  /** Where it was asked for. */
  explanation?: Explanation;
}

export interface ShowResponse extends Omit<SearchResponse, "hits" | "explained"> {
  /** Where it was asked for. */
  statistics?: SearchStatistics;
  /** Pinned items first. One more than the limit only says that there is more. */
  shown: ShownHit[];
  /** Hits that the index gave and the records refused; above 0 is a fault of the index. */
  refused: number;
  /** What could not be read of a hit: it is shown without its passages, or hidden where its access could not be read. */
  faults: readonly Fault[];
}

/** Asks where words stand in one item's text: in exactly the text that was judged, which `textHash` names. */
export interface FindRequest extends Pick<SearchRequest, "workspaceId" | "viewer" | "query" | "deadlineMs"> {
  item: { kbId: string; textHash: string };
}

/** Size of a workspace's index. */
export interface IndexStats {
  /** Searchable items; one that was changed lately may count twice. */
  documents: number;
  bytes: number;
}

/**
 * The index of items, one workspace at a time: the side that answers. `SearchIndexWriter` is the other side; the two live
 * apart, since the records have one writer and the searches have threads of their own.
 *
 * Permissions come in as principals and nothing is counted, scored or listed that they do not open.
 */
export interface SearchIndex {
  /** The hits of a question, and what they sum up to. What a transaction wrote is found as soon as it has committed. */
  search(request: SearchRequest): Promise<SearchResponse>;
  /**
   * Searches, judges each hit again by the records and not by the index, and reads what is shown of it: all on one state
   * of the records, so that verdict, record and text never part. Undefined when that state is of another epoch than the
   * viewer: nothing is answered for principals that may not be the person's any more. See `askAs` of the policy.
   */
  show(request: ShowRequest): Promise<ShowResponse | undefined>;
  /**
   * The passages of an item's text that hold the words, off the main thread. Undefined for an item that has another text
   * by now, is gone, or is not the viewer's to read any more.
   */
  find(request: FindRequest): Promise<FoundPassages | undefined>;
  stats(workspaceId: string): Promise<IndexStats>;
  close(): Promise<void>;
}

/**
 * The side of the index that takes changes, on the records' one writer. Both members work inside the transaction that the
 * caller has open, so that records and index change together or not at all, and must not wait. Merging what was written
 * and other upkeep is the adapter's own business and changes no answer.
 */
export interface SearchIndexWriter {
  /** Applies changes in the order given. Searches see them when the transaction commits. */
  apply(workspaceId: string, changes: readonly IndexChange[]): void;
  /** Gives these documents to nobody: as an `access` change to 0 for each, but however many they are, at once. */
  hide(workspaceId: string, kbIds: readonly string[]): void;
}
