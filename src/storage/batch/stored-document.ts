import { z } from "zod";
import { FieldValue, ItemKind, TaskStatus } from "#api/common.ts";
import {
  FIELD_NAMES,
  type FieldName,
  type FieldType,
  perField,
  placeWords,
  WORD_FIELDS,
  type WordField,
} from "#api/item-fields.ts";
import { analyzeDocument, nameInKey } from "#text/analyzer.ts";
import type { IndexedDocument } from "#storage/search-index.ts";
import type { ItemsTable } from "#storage/schema.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { toIndexDocument } from "./index-upsert.ts";

/** Returns the whole stored text of an item; empty when the item has none. */
export function readStoredText(
  connection: SqliteConnection,
  { workspaceId, kbId }: Pick<ItemsTable, "workspaceId" | "kbId">,
): string {
  const { rows } = connection.execute(
    'select text from item_texts where "workspaceId" = ? and "kbId" = ? order by chunk',
    [workspaceId, kbId],
  );
  return rows.map(({ text }) => String(text)).join("");
}

/**
 * Makes the index document of an `items` row by analyzing its text again. @throws ZodError when this program can't have
 * written the row
 */
export function readStoredDocument(connection: SqliteConnection, row: unknown): IndexedDocument {
  const item = StoredRow.parse(row);
  const { rows } = connection.execute(
    'select "entityId", role from item_entities where "workspaceId" = ? and "kbId" = ? order by "entityId", role',
    [item.workspaceId, item.kbId],
  );
  const text = readStoredText(connection, item);
  const document = analyzeDocument({
    title: item.title,
    name: nameInKey(item),
    path: item.path,
    labels: placeWords(item),
    text,
  });
  const { kbId, connectorId, aclId } = item;
  return toIndexDocument(item, { kbId, connectorId, aclId, entities: StoredEntities.parse(rows), text: document });
}

const Words = z.string().nullable();

/**
 * The columns of an item that are shown to people, in which secrets are masked. The item's ID and address at the source
 * stay as they are.
 */
export const MASKED_COLUMNS = [...WORD_FIELDS, "key", "author", "assignees", "source"] as const;

/** The columns of a row that may hold a secret, in stored form. Other columns are kept. */
const MaskableRow = z.looseObject({
  workspaceId: z.string(),
  kbId: z.string(),
  ...perField<WordField, { [T in FieldType]: typeof Words }>(WORD_FIELDS, () => Words),
  key: Words,
  author: Words,
  assignees: Words,
  source: Words,
  sections: z.string(),
  maskedSecrets: z.number(),
  removedAt: z.number().nullable(),
});
export type MaskableRow = z.infer<typeof MaskableRow>;

/** Parses a row of `items` before it is masked. @throws ZodError when this program can't have written the row */
export function parseMaskable(row: unknown): MaskableRow {
  return MaskableRow.parse(row);
}

const StoredSections = z.array(z.looseObject({ start: z.number() }));

/** Returns the column `sections` with the start of every section moved. @throws ZodError as `parseMaskable` */
export function moveSections(column: string, moved: (start: number) => number): string {
  const sections = StoredSections.parse(JSON.parse(column));
  return JSON.stringify(sections.map((section) => ({ ...section, start: moved(section.start) })));
}

const Names = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(z.array(z.string()));

const Fields = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  // An item whose kind no longer exists can't be found by its kind.
  .pipe(z.record(z.string(), FieldValue.catch("")));

const COLUMN = {
  kind: ItemKind,
  title: z.string(),
  status: TaskStatus.nullable(),
  text: z.string().nullable(),
  name: z.string().nullable(),
  path: Names,
  texts: Names,
  date: z.number().nullable(),
  number: z.number().nullable(),
  // The index stores people as entities.
  person: z.string().nullable(),
  people: z.string(),
  record: Fields,
};

const StoredRow = z.object({
  workspaceId: z.string(),
  kbId: z.string(),
  providerId: z.string(),
  source: z.string(),
  connectorId: z.string(),
  aclId: z.number(),
  ...perField<FieldName, typeof COLUMN>(FIELD_NAMES, (_name, type) => COLUMN[type]),
});

const StoredEntities = z.array(
  z.object({
    entityId: z.string(),
    role: z.enum(["author", "assignee", "participant", "container", "label"]),
  }),
);
