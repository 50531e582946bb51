import type { FieldValue, IndexState, ItemKind, TaskStatus, TextReason } from "#api/common.ts";
import type { Section } from "#core/sections.ts";

/** What decides who may read an item; nothing that could be shown. */
export interface ItemAccess {
  kbId: string;
  connectorId: string;
  aclId: number;
  isRemoved: boolean;
}

/** A person as an item names them. `entityId` is null while no entity stands for them. */
export interface ItemPerson {
  name: string;
  entityId: string | null;
  claimed: boolean;
}

/** An item without its text. Times are epoch milliseconds. */
export interface ItemRecord {
  kbId: string;
  connectorId: string;
  externalId: string;
  parentExternalId: string | null;
  providerId: string;
  source: string;
  kind: ItemKind;
  subkind: string | null;
  key: string | null;
  title: string;
  url: string | null;
  /** What leads to a line when it stands after the url; `{line}` stands for its number. */
  lineAnchor: string | null;
  path: string[];
  mimeType: string | null;
  size: number | null;
  version: string | null;
  textHash: string | null;
  /** UTF-16 code units of the stored text. */
  textChars: number;
  sections: Section[];
  status: TaskStatus | null;
  priority: string | null;
  labels: string[];
  fields: Record<string, FieldValue>;
  author: ItemPerson | null;
  assignees: ItemPerson[];
  createdAt: number | null;
  updatedAt: number | null;
  dueAt: number | null;
  indexedAt: number;
  indexState: IndexState;
  textReason: TextReason | null;
  textMessage: string | null;
  aclId: number;
}

export interface ItemFilter {
  connectorId?: string | undefined;
  source?: string | undefined;
  providerId?: string | undefined;
  kind?: ItemKind | undefined;
  indexState?: IndexState | undefined;
  textReason?: TextReason | undefined;
  /** A part of the title, without regard to the case of ASCII letters. */
  titlePart?: string | undefined;
}

export type ItemOrder = "updatedAt" | "title";

/** Where the last item of a page stands; the next page starts after it. */
export interface ItemPosition {
  /** Epoch milliseconds or null for `updatedAt`, the lower-cased title for `title`. */
  value: number | string | null;
  kbId: string;
}

/** Items of one source and state, by access. */
export interface ItemCount {
  connectorId: string;
  providerId: string;
  source: string;
  kind: ItemKind;
  indexState: IndexState;
  aclId: number;
  count: number;
}

/** An item that a URL, key, name or title could mean. */
export interface ItemMatch extends ItemAccess {
  providerId: string;
  kind: ItemKind;
  title: string;
  source: string;
  path: readonly string[];
  key: string | null;
  url: string | null;
  indexedAt: number;
}

/** What names items from outside: one of these URLs or keys, the end of a key (`#412`), or a title in any case of ASCII. */
export type AskedItems =
  | { urls: readonly string[] }
  | { keys: readonly string[] }
  | { keySuffix: string }
  | { title: string };

/** A stretch of an item's text as it is stored. Offsets in UTF-16 code units. */
export interface TextChunk {
  start: number;
  text: string;
}

/**
 * The reading side of items. Nothing here asks who reads: only `storage/access/policy.ts` hands this out to whoever answers
 * people, together with what they may see. Removed items are given by `accessOf` alone.
 */
export interface ItemStore {
  /** What decides over these items, removed ones included; unknown ids are left out. */
  accessOf(kbIds: readonly string[]): Promise<ItemAccess[]>;
  /** The records of these items in the order asked for; unknown and removed ones are left out. */
  records(kbIds: readonly string[]): Promise<ItemRecord[]>;
  /**
   * The next items after `after` in the order, at most `limit`, as their ids, positions and accesses: an index walk
   * that reads no row. `updatedAt`: newest first, undated last; `title`: ascending.
   */
  walk(
    order: ItemOrder,
    after: ItemPosition | undefined,
    limit: number,
  ): Promise<{ position: ItemPosition; aclId: number }[]>;
  /**
   * Looks at the next `rows` entries by title after `after` and gives those that have `part` (ASCII letters in lower case)
   * in their lower-cased title; `last` is the last entry looked at, undefined when there are no more.
   */
  titlesWith(
    part: string,
    after: ItemPosition | undefined,
    rows: number,
  ): Promise<{ found: { position: ItemPosition; aclId: number }[]; last: ItemPosition | undefined }>;
  /** Of these items, those that the filter lets through. */
  matching(kbIds: readonly string[], filter: ItemFilter): Promise<Set<string>>;
  /**
   * How many living items there are per connector, source, kind, state and access, in this order, at most `limit` groups
   * after `after`: an index walk that reads no row, unless by `textReason`. `titlePart` is not counted here.
   */
  counts(filter: Omit<ItemFilter, "titlePart">, after: ItemCount | undefined, limit: number): Promise<ItemCount[]>;
  /** The chunks that hold any of the characters from `start` up to `end`, ascending. */
  textChunks(kbId: string, start: number, end: number): Promise<TextChunk[]>;
  /** Where one of its file's lines begins in the text; undefined when the text has no such line, or not the file's lines. */
  offsetOfLine(kbId: string, line: number): Promise<number | undefined>;
  /** Where an item stands in the order, for a list that goes on after it; also for removed ones not yet purged. */
  positionOf(kbId: string, order: ItemOrder): Promise<ItemPosition | undefined>;
  /** The next living items after `after` that fit, the first indexed first, at most `limit`: hidden ones among them. */
  matches(asked: AskedItems, after: ItemMatch | undefined, limit: number): Promise<ItemMatch[]>;
}
