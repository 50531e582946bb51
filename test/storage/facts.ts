import { FIELD_NAMES, perField } from "#api/item-fields.ts";
import type { FactValues, ItemFacts } from "#core/item-facts.ts";
import type { ItemsTable } from "#storage/schema.ts";
import type { FieldColumns } from "#storage/tables/items.ts";

const NOTHING: FactValues = {
  kind: "file",
  title: "",
  status: null,
  text: null,
  name: null,
  path: [],
  texts: [],
  date: null,
  number: null,
  person: null,
  people: [],
  record: {},
};

const EMPTY: FieldColumns = { ...NOTHING, path: "[]", texts: "[]", person: null, people: "[]", record: "{}" };

/** The fields of an item that says only this of itself. */
export function facts(known: Partial<ItemFacts>): ItemFacts {
  return { ...perField<keyof ItemFacts, FactValues>(FIELD_NAMES, (_name, type) => NOTHING[type]), ...known };
}

/** The same as columns of `items`. */
export function factColumns(known: Partial<ItemsTable>): Pick<ItemsTable, keyof ItemFacts> {
  return { ...perField<keyof ItemFacts, FieldColumns>(FIELD_NAMES, (_name, type) => EMPTY[type]), ...known };
}
