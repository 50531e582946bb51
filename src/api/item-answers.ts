/** The fields of an item as answers contain them. */
import { FieldValue, ItemKind, TaskStatus, Timestamp } from "./common.ts";
import { type FieldAnswer, type FieldIn, type FieldsAs, fieldsIn, type FieldType, perField } from "./item-fields.ts";
import { z } from "./route.ts";

/** A person named by an item; `claimed` = the document names them, without proof. */
export const ItemPerson = z
  .object({ name: z.string(), entityId: z.string().nullable(), claimed: z.boolean() })
  .openapi("ItemPerson");
export type ItemPerson = z.infer<typeof ItemPerson>;

const WIRE = {
  kind: ItemKind,
  title: z.string(),
  status: TaskStatus.nullable(),
  text: z.string().nullable(),
  name: z.string().nullable(),
  path: z.array(z.string()),
  texts: z.array(z.string()),
  date: Timestamp.nullable(),
  number: z.number().int().nullable(),
  person: z.union([ItemPerson, z.null()]),
  people: z.array(ItemPerson),
  record: z.record(z.string(), FieldValue),
};

/** The wire form of each type's values. */
export type AnswerValues = { [T in FieldType]: z.infer<(typeof WIRE)[T]> };

/** The members of a record that contain the fields of its item. */
export function fieldShape<Answer extends FieldAnswer>(answer: Answer): FieldsAs<typeof WIRE, FieldIn<Answer>> {
  return perField<FieldIn<Answer>, typeof WIRE>(fieldsIn(answer), (_name, type) => WIRE[type]);
}
