import { cut } from "#api/clean.ts";
import type { FieldValue, ItemKind, TaskStatus } from "#api/common.ts";
import type { AnswerValues, ItemPerson } from "#api/item-answers.ts";
import {
  convertFields,
  FIELD_NAMES,
  type FieldAnswer,
  type FieldConversion,
  type FieldIn,
  type FieldsAs,
  fieldsIn,
  fieldOf,
  type FieldName,
  type FieldType,
  ITEM_FIELDS,
  perField,
  same,
} from "#api/item-fields.ts";
import { isoOrNull } from "#core/instant.ts";

/** The values of fields inside kb, by field type; unknown values are null or empty. */
export interface FactValues {
  kind: ItemKind;
  title: string;
  status: TaskStatus | null;
  text: string | null;
  name: string | null;
  path: string[];
  texts: string[];
  /** Epoch milliseconds. */
  date: number | null;
  number: number | null;
  person: ItemPerson | null;
  people: ItemPerson[];
  record: Record<string, FieldValue>;
}

/** The fields of an item, with the values that they have inside kb. */
export type ItemFacts = FieldsAs<FactValues>;

const ON_THE_WIRE: FieldConversion<FactValues, AnswerValues> = {
  kind: same,
  title: same,
  status: same,
  text: same,
  name: same,
  path: same,
  texts: same,
  date: isoOrNull,
  number: same,
  person: same,
  people: same,
  record: same,
};

const NOT_KNOWN: FieldConversion<FactValues, FactValues> = {
  kind: same,
  title: same,
  status: () => null,
  text: () => null,
  name: () => null,
  path: () => [],
  texts: () => [],
  date: () => null,
  number: () => null,
  person: () => null,
  people: () => [],
  record: () => ({}),
};

/** Limit of a name, a key or a folder in UTF-16 code units, whatever its source reports. A file system allows 255. */
export const MOST_NAME_CHARS = 1_000;
/** Limit of an item's own fields, and of the text of each. */
const MOST_FIELDS = 100;
const MOST_FIELD_CHARS = 10_000;
const MOST_VALUES = 200;

const BOUNDED: { [T in FieldType]: (value: FactValues[T], most: number) => FactValues[T] } = {
  kind: same,
  title: (title) => cut(title, ITEM_FIELDS.title.maxChars),
  status: same,
  text: cutText,
  name: cutText,
  path: cutTexts,
  texts: cutTexts,
  date: same,
  number: same,
  person: (person) => person && cutPerson(person),
  people: (people, most) => (people.length > most ? people.slice(0, most) : people).map(cutPerson),
  record: cutRecord,
};

/**
 * Cuts the fields to lengths that no real value exceeds. Applied to what a source reports before it is stored, and to
 * what an older kb has stored before it is shown. Source: S68.
 */
export function boundedFacts<Name extends FieldName>(
  names: readonly Name[],
  facts: Readonly<FieldsAs<FactValues, Name>>,
): FieldsAs<FactValues, Name> {
  return perField<Name, FactValues>(names, (name, type) =>
    BOUNDED[type](facts[name], fieldOf(name).maxValues ?? MOST_VALUES),
  );
}

function cutText(text: string | null): string | null {
  return text === null ? null : cut(text, MOST_NAME_CHARS);
}

function cutTexts(texts: string[], most: number): string[] {
  return texts.slice(0, most).map((text) => cut(text, MOST_NAME_CHARS));
}

function cutPerson(person: ItemPerson): ItemPerson {
  return person.name.length > MOST_NAME_CHARS ? { ...person, name: cut(person.name, MOST_NAME_CHARS) } : person;
}

function cutRecord(fields: Record<string, FieldValue>): Record<string, FieldValue> {
  const kept = Object.entries(fields).slice(0, MOST_FIELDS);
  return Object.fromEntries(kept.map(([name, value]) => [cut(name, MOST_NAME_CHARS), cutValue(value)]));
}

function cutValue(value: FieldValue): FieldValue {
  if (typeof value === "string") return cut(value, MOST_FIELD_CHARS);
  return Array.isArray(value) ? cutTexts(value, MOST_VALUES) : value;
}

/** Returns the same item with only its kind and title. */
export function withoutFacts(item: Readonly<ItemFacts>): ItemFacts {
  return convertFields(FIELD_NAMES, item, NOT_KNOWN);
}

/** Returns the members of a response record that are fields of its item. */
export function factsOnWire<Answer extends FieldAnswer>(
  item: Readonly<FieldsAs<FactValues, FieldIn<Answer>>>,
  answer: Answer,
): FieldsAs<AnswerValues, FieldIn<Answer>> {
  return convertFields(fieldsIn(answer), item, ON_THE_WIRE);
}
