import type { FieldValue, IndexState, ItemKind, TaskStatus, TextReason } from "#api/common.ts";
import type { Section } from "#core/sections.ts";
import type { ItemsTable } from "#storage/schema.ts";

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

/** The record in a row. The columns of closed sets and JSON are written by the item-writing side only, from the types named here. */
export function toItemRecord(row: ItemsTable): ItemRecord {
  const { seenBy: _seenBy, removedAt: _removedAt, retryAt: _retryAt, workspaceId: _workspaceId, ...kept } = row;
  return {
    ...kept,
    kind: row.kind as ItemKind,
    status: row.status as TaskStatus | null,
    indexState: row.indexState as IndexState,
    textReason: row.textReason as TextReason | null,
    path: JSON.parse(row.path) as string[],
    sections: JSON.parse(row.sections) as Section[],
    labels: JSON.parse(row.labels) as string[],
    fields: JSON.parse(row.fields) as ItemRecord["fields"],
    author: row.author === null ? null : (JSON.parse(row.author) as ItemPerson | null),
    assignees: JSON.parse(row.assignees) as ItemPerson[],
  };
}
