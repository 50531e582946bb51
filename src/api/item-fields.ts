/**
 * The fields of an item. All layers use this description, and there is no other. A source provides these fields, a pushed line contains them, the
 * table `items` stores each in the column of its name, and answers, agents and the page show them. Each layer defines the form of a value once per
 * type: a date is epoch milliseconds at the source and in the table, a timestamp on the wire, a day for agents.
 *
 * An item's identity, its location, its readers and its text aren't fields.
 */

export type FieldType =
  | "kind"
  | "title"
  | "status"
  /** Text that a person wrote: secrets are masked. */
  | "text"
  /** An identifier from a program: kept unchanged. */
  | "name"
  | "path"
  | "texts"
  | "date"
  | "number"
  | "person"
  | "people"
  | "record";

export interface ItemField {
  type: FieldType;
  /** One line for the documentation. */
  about: string;
  /** Maximum length of a text in UTF-16 code units, and maximum number of values in a list. */
  maxChars?: number;
  maxValues?: number;
  /** Set if the field's words are searchable: they weigh as much as those of the title, or of the place. */
  searched?: "title" | "place";
  /** The search argument that filters by this field. */
  argument?: string;
  /** Set if `name:value` in a query filters by this field. */
  isPair?: true;
  /** The records that contain the field: those of a file, or of a hit. */
  answers: readonly FieldAnswer[];
  /** How agents see the field: its name in a hit, the prefix before its value in the text, and whether only detailed answers contain it. */
  agent?: { as: string; line?: string; isDetail?: true };
  /** The field's label on the page. */
  page?: string;
}

export type FieldAnswer = "file" | "result";

/** The fields in display order. */
export const ITEM_FIELDS = {
  kind: {
    type: "kind",
    about: "`task`, `file`, `page` or `message`; issues and pull requests are tasks",
    argument: "kind",
    answers: ["file", "result"],
  },
  subkind: { type: "name", about: "what the source calls the kind", maxChars: 60, answers: [] },
  title: {
    type: "title",
    about: "the title; for a file, the title inside the document",
    maxChars: 2_000,
    searched: "title",
    answers: ["file", "result"],
  },
  status: {
    type: "status",
    about: "for a task: `open` or `done`",
    argument: "status",
    answers: ["file", "result"],
    agent: { as: "status" },
  },
  key: {
    type: "name",
    about: "the key of a task, as in `ABC-12`, or the name of a file; of tasks it is not searched",
    maxChars: 120,
    searched: "title",
    answers: ["file", "result"],
    agent: { as: "key", line: "key: " },
  },
  path: {
    type: "path",
    about: "folders from the outermost to the innermost",
    maxChars: 300,
    maxValues: 64,
    searched: "place",
    answers: ["file", "result"],
    agent: { as: "path", line: "path: " },
  },
  assignees: {
    type: "people",
    about: "who it is assigned to",
    maxValues: 200,
    argument: "assignee",
    answers: ["file", "result"],
    agent: { as: "assignees", line: "assignee: " },
    page: "Assigned to",
  },
  dueAt: {
    type: "date",
    about: "when it is due",
    argument: "dateField",
    answers: ["file", "result"],
    agent: { as: "due", line: "due: " },
    page: "Due",
  },
  priority: {
    type: "text",
    about: "as the source calls it: `high`, `P1`",
    maxChars: 60,
    argument: "priority",
    isPair: true,
    answers: ["file", "result"],
    agent: { as: "priority", line: "priority: " },
    page: "Priority",
  },
  author: {
    type: "person",
    about: "who wrote it",
    argument: "people",
    answers: ["file", "result"],
    agent: { as: "by", line: "by " },
    page: "Author",
  },
  updatedAt: {
    type: "date",
    about: "when it was changed last",
    argument: "dateField",
    answers: ["file", "result"],
    agent: { as: "updated", line: "updated: " },
    page: "Updated",
  },
  createdAt: {
    type: "date",
    about: "when it was made",
    argument: "dateField",
    answers: ["file"],
    agent: { as: "created", line: "created: ", isDetail: true },
    page: "Created",
  },
  labels: {
    type: "texts",
    about: "labels, tags",
    maxChars: 200,
    maxValues: 200,
    searched: "place",
    argument: "source",
    answers: ["file"],
    agent: { as: "labels", line: "labels: ", isDetail: true },
  },
  mimeType: { type: "name", about: "the type of its bytes", maxChars: 200, answers: ["file"] },
  size: { type: "number", about: "how many bytes it has", answers: ["file"] },
  fields: {
    type: "record",
    about: "all other fields, under their own names",
    argument: "field",
    answers: ["file", "result"],
    agent: { as: "fields", isDetail: true },
  },
} as const satisfies Record<string, ItemField>;

type ItemFields = typeof ITEM_FIELDS;
export type FieldName = keyof ItemFields;
export type TypeOf<Name extends FieldName> = ItemFields[Name]["type"];

/** The fields in one layer: `Values` is the type of each type's values there. */
export type FieldsAs<Values extends Record<FieldType, unknown>, Name extends FieldName = FieldName> = {
  [N in Name]: Values[TypeOf<N>];
};

/** The fields that a record of the answers contains, and those that agents get in a hit. */
export type FieldIn<Answer extends FieldAnswer> = {
  [N in FieldName]: Answer extends ItemFields[N]["answers"][number] ? N : never;
}[FieldName];
export type AgentField = { [N in FieldName]: ItemFields[N] extends { agent: object } ? N : never }[FieldName];
export type AgentName<Name extends AgentField> = ItemFields[Name]["agent"]["as"];

/** The fields that a query may filter by with `name:value`, and among them those with text from a person, which may contain a secret. */
export type PairField = { [N in FieldName]: ItemFields[N] extends { isPair: true } ? N : never }[FieldName];
/** The fields whose words weigh as much as the place, besides the path itself. */
export type PlaceField = {
  [N in FieldName]: ItemFields[N] extends { type: "text" | "texts"; searched: "place" } ? N : never;
}[FieldName];
export type WordField = { [N in FieldName]: TypeOf<N> extends WordType ? N : never }[FieldName];
export type DateField = { [N in FieldName]: TypeOf<N> extends "date" ? N : never }[FieldName];
type WordType = "title" | "text" | "path" | "texts" | "record";

const WORD_TYPES: ReadonlySet<FieldType> = new Set<WordType>(["title", "text", "path", "texts", "record"]);
// The cast is safe: the keys of the table are exactly the names in its type.
export const FIELD_NAMES = Object.keys(ITEM_FIELDS) as FieldName[];

/** Returns the description of a field, with all optional members. */
export function fieldOf(name: FieldName): ItemField {
  return ITEM_FIELDS[name];
}

export const PAIR_FIELDS = FIELD_NAMES.filter((name): name is PairField => fieldOf(name).isPair === true);
export const WORD_FIELDS = FIELD_NAMES.filter((name): name is WordField => WORD_TYPES.has(fieldOf(name).type));
export const DATE_FIELDS = FIELD_NAMES.filter((name): name is DateField => fieldOf(name).type === "date");
const PLACE_FIELDS = FIELD_NAMES.filter((name): name is PlaceField => {
  const { type, searched } = fieldOf(name);
  return searched === "place" && (type === "text" || type === "texts");
});
export const AGENT_FIELDS = FIELD_NAMES.filter((name): name is AgentField => fieldOf(name).agent !== undefined);
/** The fields that a search reads or filters by. */
export const INDEXED_FIELDS = FIELD_NAMES.filter((name) => {
  const { searched, argument, isPair } = fieldOf(name);
  return searched !== undefined || argument !== undefined || isPair === true;
});

export function fieldsIn<Answer extends FieldAnswer>(answer: Answer): FieldIn<Answer>[] {
  return FIELD_NAMES.filter((name): name is FieldIn<Answer> => fieldOf(name).answers.includes(answer));
}

/** Returns the words of an item that are searched with the weight of labels, including the labels. */
export function placeWords(fields: {
  readonly [N in PlaceField]?: string | readonly string[] | null | undefined;
}): string[] {
  const words: string[] = [];
  for (const name of PLACE_FIELDS) {
    const value = fields[name];
    if (typeof value === "string") words.push(value);
    else if (value) words.push(...value);
  }
  return words;
}

/** Makes a value for each of these fields, keyed by name. `make` receives the field's name and type. */
export function perField<Name extends FieldName, Values extends Record<FieldType, unknown>>(
  names: readonly Name[],
  make: <N extends Name>(name: N, type: TypeOf<N>) => Values[TypeOf<N>],
): FieldsAs<Values, Name> {
  const made: Partial<FieldsAs<Values, Name>> = {};
  for (const name of names) made[name] = make(name, typeOf(name));
  // The cast is safe because every name has a value now.
  return made as FieldsAs<Values, Name>;
}

/** Conversions of each type's values from one layer to another. */
export type FieldConversion<From extends Record<FieldType, unknown>, To extends Record<FieldType, unknown>> = {
  readonly [T in FieldType]: (value: From[T]) => To[T];
};

/** Converts the fields of one layer to another. */
export function convertFields<
  Name extends FieldName,
  From extends Record<FieldType, unknown>,
  To extends Record<FieldType, unknown>,
>(names: readonly Name[], fields: Readonly<FieldsAs<From, Name>>, by: FieldConversion<From, To>): FieldsAs<To, Name> {
  return perField<Name, To>(names, (name, type) => by[type](fields[name]));
}

/** Converts those of these fields that are present, and changes the record in place. */
export function updateFields<Name extends FieldName, Values extends Record<FieldType, unknown>>(
  names: readonly Name[],
  fields: Partial<FieldsAs<Values, Name>>,
  by: { readonly [T in TypeOf<Name>]: (value: Values[T]) => Values[T] },
): void {
  for (const name of names) {
    const value = fields[name];
    if (value !== undefined) fields[name] = by[typeOf(name)](value);
  }
}

/** Returns the value unchanged, for types whose form is the same in both layers. */
export function same<T>(value: T): T {
  return value;
}

function typeOf<Name extends FieldName>(name: Name): TypeOf<Name> {
  const field: { readonly type: TypeOf<Name> } = ITEM_FIELDS[name];
  return field.type;
}
