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
  same,
} from "#api/item-fields.ts";
import { isoOrNull } from "#core/instant.ts";

/** The value of a field inside kb, by its type; null and empty for what is not known. */
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

/** The fields of an item inside kb. */
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

/** The same item of which nothing but kind and title is known. */
export function withoutFacts(item: Readonly<ItemFacts>): ItemFacts {
  return convertFields(FIELD_NAMES, item, NOT_KNOWN);
}

/** The members of a record of the answers that are fields of its item. */
export function factsOnWire<Answer extends FieldAnswer>(
  item: Readonly<FieldsAs<FactValues, FieldIn<Answer>>>,
  answer: Answer,
): FieldsAs<AnswerValues, FieldIn<Answer>> {
  return convertFields(fieldsIn(answer), item, ON_THE_WIRE);
}
