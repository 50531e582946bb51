/** Routes and records of items. The API says "file" for anything indexed, and `:fileId` is the kbId. */
import { PageQuery } from "#api/common.ts";
import { byId, Count, idSchema, IndexState, ItemKind, nextCursor, TextReason, Timestamp } from "./common.ts";
import { fieldShape } from "./item-answers.ts";
import { answer, get, z } from "./route.ts";

export const FileRecord = z
  .object({
    kbId: z.string(),
    externalId: z.string(),
    providerId: z.string(),
    source: z.string(),
    connectorId: z.string(),
    url: z.string().nullable(),
    ...fieldShape("file"),
    indexedAt: Timestamp,
    /** When the source's permissions were last checked; null if access is set in kb. */
    aclCheckedAt: Timestamp.nullable(),
    indexState: IndexState,
    textState: z.object({
      state: z.enum(["ok", "none"]),
      reason: TextReason.nullable(),
      /** The reason as a sentence, reported when the file was read; null for a text, and when nothing more is known. */
      message: z.string().nullable(),
      /** UTF-16 code units of the stored text. */
      chars: Count,
      /** Since when the content can't be read, so that the text is from the previous content. Null if the text matches the content. */
      asOf: Timestamp.nullable(),
    }),
  })
  .openapi("File");
export type FileRecord = z.infer<typeof FileRecord>;

export const FileListQuery = z.strictObject({
  connectorId: idSchema("connector").optional(),
  source: z.string().min(1).max(400).optional(),
  providerId: z.string().min(1).max(64).optional(),
  kind: ItemKind.optional(),
  indexState: IndexState.optional(),
  /** Why there is no searchable text. */
  textReason: TextReason.optional(),
  /** Part of the title, case-insensitive. */
  q: z.string().min(1).max(200).optional(),
  sort: z.enum(["updatedAt", "title"]).default("updatedAt"),
  ...PageQuery.shape,
});
export type FileListQuery = z.infer<typeof FileListQuery>;

export const FileList = z
  .object({
    files: z.array(FileRecord),
    nextCursor,
    /** Number of items that match the filters and that the caller may see. */
    total: Count,
  })
  .openapi("FileList");
export type FileList = z.infer<typeof FileList>;

export const FileCounts = z
  .object({
    counts: z.array(
      z.object({
        source: z.string(),
        providerId: z.string(),
        kind: ItemKind,
        /** Items whose text is searchable. */
        indexed: Count,
        /** Items that are found only by title, place and metadata. */
        unsearchable: Count,
      }),
    ),
  })
  .openapi("FileCounts");
export type FileCounts = z.infer<typeof FileCounts>;

const TEXT_ONLY = "Applies to the text; can't be combined with `original=true`.";

export const FileContentQuery = z.strictObject({
  /** Where to start in the text, in UTF-16 code units. */
  offset: z.coerce.number<number>().int().min(0).max(1_000_000_000).optional().openapi({ description: TEXT_ONLY }),
  limit: z.coerce.number<number>().int().min(1).max(1_000_000).optional().openapi({ description: TEXT_ONLY }),
  /**
   * Returns only this section, by its name, path, number (`page 3`) or anchor, or the text from a line (`L10`) on. `offset` is relative to its start.
   */
  section: z.string().min(1).max(400).optional(),
  /** Words or a quoted phrase: returns the passages around them, each headed by its offset. */
  find: z.string().min(1).max(1_000).optional(),
  /** The source's original bytes, as an attachment. */
  original: z.enum(["true", "false"]).optional(),
});
export type FileContentQuery = z.infer<typeof FileContentQuery>;

/** Names for principals, so that people can read who has access to an item. */
const PrincipalNames = z
  .record(z.string(), z.string())
  .openapi({ description: "The current names of the people, groups and connectors in the lists, by ID." });

export const FileAccess = z
  .object({
    kbId: z.string(),
    userId: z.string(),
    isAllowed: z.boolean(),
    reason: z.enum([
      "allowed",
      "not_a_member",
      "removed",
      "access_unknown",
      "connector_deleting",
      "permissions_too_old",
      "list_unmet",
    ]),
    /** Only if the caller may read the item. */
    title: z.string().nullable(),
    connectorId: z.string(),
    /** A reader must be on every list. */
    lists: z.array(
      z.object({
        origin: z.enum(["connector", "connection", "source"]),
        isMet: z.boolean(),
        /** Number of principals on the list. */
        size: Count,
        /** The path from the person to the principal that is on the list; each entry is a member of the next. Null if there is none. */
        chain: z.array(z.string()).nullable(),
        /** The principals on the list (at most 50); only for admins. */
        principals: z.array(z.string()).nullable(),
      }),
    ),
    names: PrincipalNames,
  })
  .openapi("FileAccess");
export type FileAccess = z.infer<typeof FileAccess>;

const FileParams = { fileId: idSchema("item") };
/** Agents send names as often as programs do. */
const FileNameParams = {
  fileId: z.string().min(1).max(2_100).openapi({
    description:
      "kbId, permalink or URL of the item, issue key, or a file name, path or title that matches only one item the caller can see; percent-encoded.",
  }),
};

/** The routes of items. */
export const fileRoutes = {
  listAll: get("/api/connectors/all-files", "List indexed items that the caller can see", {
    operationId: "listAllFiles",
    tags: ["files"],
    query: FileListQuery,
    200: answer("A page of items", FileList),
    problems: ["not_found"],
  }),
  listOfConnector: get("/api/connectors/{id}/files", "List a connector's items that the caller can see", {
    operationId: "listConnectorFiles",
    tags: ["files"],
    params: byId("connector"),
    query: FileListQuery.omit({ connectorId: true }),
    200: answer("A page of items", FileList),
  }),
  countBySource: get(
    "/api/connectors/file-counts-by-source",
    "Count the items that the caller can see, by source and kind",
    {
      operationId: "countFilesBySource",
      tags: ["files"],
      query: z.strictObject({}),
      200: answer("The counts", FileCounts),
    },
  ),
  content: get(
    "/api/connectors/files/{fileId}/content",
    "Read an item's text, a range of it, the passages around given words, or the original bytes",
    {
      operationId: "getFileContent",
      tags: ["files"],
      params: FileNameParams,
      query: FileContentQuery,
      200: {
        description:
          "The text, or the original as an attachment. `X-Total-Chars` is the length of the full text. `X-Text-As-Of`, if present, is the time since which the content can't be read",
        content: {
          "text/plain": { schema: z.string() },
          "text/markdown": { schema: z.string() },
          "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) },
        },
      },
      304: { description: "Unchanged since the given ETag" },
      problems: [
        "past_end",
        "no_such_section",
        "no_text",
        "source_changed",
        "source_not_found",
        "address_not_allowed",
        "source_unavailable",
        "source_unauthorized",
        "source_rate_limited",
      ],
    },
  ),
  get: get("/api/connectors/files/{fileId}", "Get an item's metadata", {
    operationId: "getFile",
    tags: ["files"],
    params: FileNameParams,
    query: z.strictObject({}),
    200: answer("The item", { file: FileRecord }),
  }),
  access: get(
    "/api/connectors/files/{fileId}/access",
    "Explain why you can or can't see an item; admins can ask about any member",
    {
      operationId: "getFileAccess",
      tags: ["files"],
      params: FileParams,
      query: z.strictObject({ userId: idSchema("user").optional() }),
      200: answer("The chain that grants or refuses access", FileAccess),
    },
  ),
};
