import { canParseUrl } from "#api/parse-url.ts";
import { z } from "zod";
import { EntityType, ItemKind, TaskStatus } from "#api/common.ts";
import { assertNever } from "#api/errors.ts";
import {
  convertFields,
  FIELD_NAMES,
  type FieldConversion,
  type FieldName,
  fieldOf,
  type FieldType,
  type ItemField,
  type FieldsAs,
  perField,
  same,
} from "#api/item-fields.ts";
import { isChildId } from "#core/child-ids.ts";
import { defined } from "#core/defined.ts";
import { isInstant } from "#core/instant.ts";
import type { PushEvent, PushItemEvent } from "./events.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SourceItem, SourcePerson, SourceValues } from "#sources/item.ts";

// Schemas are values, so the schemas for the parts of a line must precede the schema of the line.

const PrincipalText = z.string().min(1).max(512);

const ExternalId = z
  .string()
  .min(1)
  .max(1024)
  .refine((id) => !/[\p{Cs}\p{Cc}]/u.test(id), "must not contain control characters or lone surrogates");

const RESERVED_ID = `must not contain "!//", which is reserved for files inside files`;
const OwnId = ExternalId.refine((id) => !isChildId(id), RESERVED_ID);

const Line = (max = 1_000) => z.string().trim().min(1).max(max);
const Lines = (maxChars?: number, maxValues = 200) => z.array(Line(maxChars)).max(maxValues).optional();
const Instant = z.iso
  .datetime({ offset: true, error: "must be an RFC 3339 date with a time and a zone" })
  .refine((text) => isInstant(Date.parse(text)), "must be in the years 1 to 9999");

const Access: z.ZodType<SourceAccess> = z
  .discriminatedUnion(
    "known",
    [
      z.strictObject({ known: z.literal(false) }),
      z.strictObject({
        known: z.literal(true),
        all: z
          .array(z.array(z.string().min(1).max(512)).max(1_000))
          .min(1)
          .max(16),
      }),
    ],
    { error: 'must be {"known": true, "all": [["workspace"]]} or {"known": false}' },
  )
  .meta({
    id: "Access",
    description: "Who can read it: the reader must match one name of every inner list; {known: false} means no one.",
  });

const Person = z.strictObject({
  name: Line(200),
  principal: z.string().min(1).max(512).optional(),
  email: z.email().max(320).optional(),
  login: Line(200).optional(),
});

const Container = z.strictObject({
  type: EntityType.exclude(["person"]),
  id: Line(512),
  name: Line(300),
  parentId: Line(512).optional(),
});

const FieldValue = z.union([
  z.string().max(10_000),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.string().max(1_000)).max(200),
]);

const Fields = z
  .record(Line(100), FieldValue)
  .refine((fields) => Object.keys(fields).length <= 100, "at most 100 fields")
  .optional();

const Content = z.discriminatedUnion(
  "type",
  [
    z.strictObject({ type: z.literal("inline"), text: z.string() }),
    z.strictObject({
      type: z.literal("none"),
      reason: z.enum(["unsupported_type", "too_large", "empty"]).optional(),
    }),
  ],
  { error: 'must be {"type": "inline", "text": …} or {"type": "none"}: nothing is fetched for pushed items' },
);

/** The schemas for a field's value in a line, by the field's type. */
const VALUE = {
  kind: () => ItemKind,
  title: ({ maxChars }: ItemField) => Line(maxChars),
  status: () => TaskStatus.optional(),
  text: ({ maxChars }: ItemField) => Line(maxChars).optional(),
  name: ({ maxChars }: ItemField) => Line(maxChars).optional(),
  path: ({ maxChars, maxValues }: ItemField) => Lines(maxChars, maxValues),
  texts: ({ maxChars, maxValues }: ItemField) => Lines(maxChars, maxValues),
  date: () => Instant.optional(),
  number: () => z.number().int().min(0).optional(),
  person: () => Person.optional(),
  people: ({ maxValues = 200 }: ItemField) => z.array(Person).max(maxValues).optional(),
  record: () => Fields,
};
type ValueSchemas = { [T in FieldType]: ReturnType<(typeof VALUE)[T]> };
const valueOf: { [T in FieldType]: (field: ItemField) => ValueSchemas[T] } = VALUE;

const PushItem = z
  .strictObject({
    externalId: OwnId,
    ...perField<FieldName, ValueSchemas>(FIELD_NAMES, (name, type) => valueOf[type](fieldOf(name))),
    url: z.string().max(4_096).optional(),
    place: Line(120).optional(),
    parentId: ExternalId.optional().meta({
      description: "The item that this one belongs to. No one can read this item without access to that item.",
    }),
    replyTo: ExternalId.optional().meta({
      description: "The item that this one replies to. It doesn't change who can read either item.",
    }),
    version: Line(300).optional(),
    people: z.array(Person).max(500).optional(),
    containers: z.array(Container).max(100).optional(),
    text: z.string().optional(),
    content: Content.optional(),
    access: Access.optional().meta({ description: "Optional with a parentId; the parent's access then applies." }),
  })
  .refine((item) => item.access !== undefined || item.parentId !== undefined, {
    message: `must say who can read it, such as {"known": true, "all": [["workspace"]]}; only an item with a parentId can leave it out`,
    path: ["access"],
  })
  .refine((item) => item.text === undefined || item.content === undefined, {
    message: "must have text or content, not both",
    path: ["content"],
  })
  .meta({ id: "Item", anyOf: [{ required: ["access"] }, { required: ["parentId"] }] });
type PushItem = z.infer<typeof PushItem>;

/** One line in its written form. Unknown keys are errors at every level. */
export const PushLine = z.discriminatedUnion(
  "t",
  [
    z.strictObject({ t: z.literal("upsert"), item: PushItem }).meta({
      description: "Add or change an item. Sending the same version again changes nothing.",
    }),
    z
      .strictObject({ t: z.literal("acl"), externalId: OwnId, access: Access })
      .meta({ description: "Change who can read an item, and nothing else." }),
    z
      .strictObject({
        t: z.literal("seen"),
        externalId: OwnId,
        version: Line(300).optional().meta({ description: "The result is `absent` unless this version is stored." }),
      })
      .meta({ description: "Report that an item still exists, so that it stays in a set." }),
    z
      .strictObject({
        t: z.literal("delete"),
        externalId: OwnId,
        subtree: z.boolean().optional().meta({ description: "Also removes everything below `<externalId>/`." }),
      })
      .meta({ description: "Remove an item." }),
    z
      .strictObject({
        t: z.literal("identity"),
        principal: PrincipalText.meta({ description: "`user:push:<connector id>:<id>`" }),
        member: PrincipalText.nullable().meta({ description: "`user:usr_…` of the workspace; null = no one." }),
      })
      .meta({ description: "Link a user of your system to a member of the workspace." }),
    z
      .strictObject({
        t: z.literal("member"),
        group: PrincipalText.meta({ description: "`group:<connector id>:<id>`" }),
        member: PrincipalText,
        remove: z.boolean().optional().meta({ description: "With true, removes the link instead." }),
      })
      .meta({ description: "Add a member to one of the connector's groups." }),
    z
      .strictObject({
        t: z.literal("group"),
        group: PrincipalText.meta({ description: "`group:<connector id>:<id>`" }),
        members: z.array(PrincipalText).max(10_000),
      })
      .meta({ description: "Set the members of one of the connector's groups." }),
  ],
  { error: 't must be "upsert", "acl", "seen", "delete", "identity", "member" or "group"' },
);
export type PushLine = z.infer<typeof PushLine>;

/**
 * Converts a line into an event. `place` is used if the line has none. A URL that isn't http(s) is left out, with a
 * note.
 */
export function toEvent(line: PushLine, place: string): { event: PushEvent; notes: string[] } {
  switch (line.t) {
    case "upsert":
      return toUpsert(line.item, place);
    case "member":
      return { event: { ...line, remove: line.remove === true }, notes: [] };
    case "acl":
      return { event: { ...line, t: "access" }, notes: [] };
    case "identity":
    case "group":
      return { event: line, notes: [] };
    case "seen":
    case "delete":
      return { event: defined(line), notes: [] };
    default:
      return assertNever(line);
  }
}

type LineValues = { [T in FieldType]: z.infer<ValueSchemas[T]> };

const FROM_LINE: FieldConversion<LineValues, SourceValues> = {
  kind: same,
  title: same,
  status: same,
  text: same,
  name: same,
  path: same,
  texts: same,
  date: (instant) => (instant === undefined ? undefined : Date.parse(instant)),
  number: same,
  person: (person) => person && toPerson(person),
  people: (people) => people?.map(toPerson),
  record: same,
};

function toUpsert(line: PushItem, place: string): { event: PushItemEvent; notes: string[] } {
  const { text, content, url, people, containers, parentId, ...plain } = line;
  const safeUrl = url === undefined ? undefined : httpUrl(url);
  const item: SourceItem = defined({
    ...plain,
    // A missing key is read as undefined, which every optional field allows.
    ...convertFields(FIELD_NAMES, line as FieldsAs<LineValues>, FROM_LINE),
    partOf: parentId,
    place: plain.place ?? place,
    url: safeUrl,
    people: people?.map(toPerson),
    containers: containers?.map(defined),
    content: contentOf(text, content),
  });
  const isDropped = url !== undefined && safeUrl === undefined;
  return { event: { t: "upsert", item }, notes: isDropped ? ["url was left out: only http and https are kept"] : [] };
}

function contentOf(text: string | undefined, content: z.infer<typeof Content> | undefined): SourceItem["content"] {
  if (text !== undefined) return { type: "inline", text };
  return content === undefined ? { type: "none" } : defined(content);
}

/**
 * Converts a person. A principal is a person that the pusher identified, and a bare name is only a claim of the text.
 */
function toPerson(person: z.infer<typeof Person>): SourcePerson {
  return { ...defined(person), claimed: person.principal === undefined };
}

function httpUrl(text: string): string | undefined {
  if (!canParseUrl(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
}
