import { flag, text, maybe } from "#sources/lenient.ts";
import { z } from "zod";
import { idAt, type Listed, listed, many } from "#sources/listed.ts";

const HEX = /^[0-9a-f]{32}$/;
/** The most characters of an id, with hyphens in any place. */
const MAX_ID_CHARS = 64;

/** Returns the canonical form of an id; undefined if the text isn't an id. Other texts are never used in a URL path. */
export function parseNotionId(text: string): string | undefined {
  if (text.length > MAX_ID_CHARS) return undefined;
  const hex = text.toLowerCase().replaceAll("-", "");
  if (!HEX.test(hex)) return undefined;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const Id = z.string().transform((text, context) => {
  const id = parseNotionId(text);
  if (id !== undefined) return id;
  context.addIssue({ code: "custom", message: "no id" });
  return z.NEVER;
});
const time = z.iso.datetime({ offset: true });

const RichText = many(z.object({ plain_text: z.string() })).catch([]);
export type RichText = z.infer<typeof RichText>;
export const plainOf = (value: unknown): string =>
  RichText.parse(value)
    .map(({ plain_text: plain }) => plain)
    .join("");

export const Parent = z
  .object({
    type: z.string(),
    page_id: maybe(Id),
    database_id: maybe(Id),
    data_source_id: maybe(Id),
    block_id: maybe(Id),
  })
  .catch({ type: "unknown" });
export type Parent = z.infer<typeof Parent>;

const Someone = maybe(z.object({ id: z.string() }));

export const PageRecord = z.object({
  object: z.literal("page"),
  id: Id,
  created_time: time,
  last_edited_time: time,
  created_by: Someone,
  in_trash: flag,
  parent: Parent,
  url: text,
  properties: z.record(z.string(), z.unknown()).catch({}),
});
export type PageRecord = z.infer<typeof PageRecord>;

export const DataSourceRecord = z.object({
  object: z.literal("data_source"),
  id: Id,
  title: z.unknown().transform(plainOf),
  parent: Parent,
  database_parent: Parent.optional(),
  in_trash: flag,
});
export type DataSourceRecord = z.infer<typeof DataSourceRecord>;

export const DatabaseRecord = z.object({
  id: Id,
  title: z.unknown().transform(plainOf),
  parent: Parent,
  in_trash: flag,
  data_sources: z.array(z.object({ id: Id })).default([]),
});

export const BlockRecord = z.looseObject({
  id: Id,
  type: z.string(),
  has_children: flag,
  last_edited_time: maybe(time),
  in_trash: flag,
  parent: maybe(Parent),
});
export type BlockRecord = z.infer<typeof BlockRecord>;

export const CommentRecord = z.object({
  id: Id,
  created_time: time,
  last_edited_time: time,
  created_by: Someone,
  rich_text: z.unknown().transform(plainOf),
});
export type CommentRecord = z.infer<typeof CommentRecord>;

export const UserRecord = z.object({ id: z.string(), name: text });
export const Me = z.object({
  id: z.string().min(1),
  bot: maybe(z.object({ workspace_name: text })),
});

/** A page of any listing. */
export const ListPage = z.object({
  results: z.array(z.unknown()),
  has_more: z.boolean(),
  next_cursor: z.string().min(1).nullish(),
});

/** The records of a page of a listing. */
export function recordsIn<T extends z.ZodType>(schema: T, results: readonly unknown[]): Listed<z.infer<T>> {
  return listed(schema, idAt("id", Id)).parse(results);
}
