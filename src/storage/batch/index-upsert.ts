import type { FieldValue } from "#api/common.ts";
import { PAIR_FIELDS, type PairField } from "#api/item-fields.ts";
import type { ItemFacts } from "#core/item-facts.ts";
import { fieldTerms } from "#text/field-terms.ts";
import type { AnalyzedText } from "#text/analyzer.ts";
import type { IndexChange, IndexedDocument } from "#storage/search-index.ts";
import type { ItemEntity, PreparedItem } from "#storage/item-batch.ts";

/** Facts of an item that the index stores in the same form as its record. */
export type IndexedFacts = Omit<
  IndexedDocument,
  "kbId" | "connectorId" | "aclId" | "text" | "people" | "assignees" | "containers" | "fields"
> &
  Pick<ItemFacts, PairField | "fields">;

/** Makes the index change for an item that was added or changed. */
export function toIndexUpsert(item: PreparedItem, kbId: string, connectorId: string, aclId: number): IndexChange {
  const { entities, text } = item;
  return {
    type: "upsert",
    document: toIndexDocument(item, { kbId, connectorId, aclId, entities, text: text.analyzed }),
  };
}

/** Makes an item's index document. This is the only list of its fields. */
export function toIndexDocument(
  facts: IndexedFacts,
  {
    kbId,
    connectorId,
    aclId,
    entities,
    text,
  }: Pick<IndexedDocument, "kbId" | "connectorId" | "aclId"> & {
    entities: readonly Pick<ItemEntity, "entityId" | "role">[];
    text: AnalyzedText;
  },
): IndexedDocument {
  const { kind, status, providerId, source, updatedAt, createdAt, dueAt } = facts;
  const idsOf = (...roles: ItemEntity["role"][]) => [
    ...new Set(entities.filter(({ role }) => roles.includes(role)).map(({ entityId }) => entityId)),
  ];
  return {
    kbId,
    kind,
    status,
    providerId,
    source,
    connectorId,
    aclId,
    updatedAt,
    createdAt,
    dueAt,
    text,
    people: idsOf("author", "assignee", "participant"),
    assignees: idsOf("assignee"),
    containers: idsOf("container", "label"),
    // A fact is searchable like a field with its name, unless the source has its own field with that name.
    fields: fieldTerms({ ...pairsOf(facts), ...facts.fields }),
  };
}

function pairsOf(facts: Pick<ItemFacts, PairField>): Record<string, FieldValue> {
  const pairs: Record<string, FieldValue> = {};
  for (const name of PAIR_FIELDS) {
    const value = facts[name];
    if (value !== null) pairs[name] = value;
  }
  return pairs;
}
