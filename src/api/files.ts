/** Items over REST: the API says "file" for anything indexed, and `:fileId` is the kbId. */
import { idSchema, IndexState, ItemKind, PageCursor, PageLimit, TextReason, Timestamp } from "./common.ts";
import { fieldShape } from "./item-answers.ts";
import { answer, createRoute, problemAnswer, problems, z } from "./route.ts";

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
    /** When the source's permissions were last checked; null where access is set here. */
    aclCheckedAt: Timestamp.nullable(),
    indexState: IndexState,
    textState: z.object({
      state: z.enum(["ok", "none"]),
      reason: TextReason.nullable(),
      /** The reason as a sentence, from reading the file; null for a text, and when nothing more is known. */
      message: z.string().nullable(),
      /** UTF-16 code units of the stored text. */
      chars: z.number().int(),
      /** Since when the content can't be read: the text is the former one. Null if it is that of the content. */
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
  limit: PageLimit,
  cursor: PageCursor.optional(),
});
export type FileListQuery = z.infer<typeof FileListQuery>;

export const FileList = z
  .object({
    files: z.array(FileRecord),
    nextCursor: z.string().nullable(),
    /** Number of items that match the filters and that the caller may see. */
    total: z.number().int(),
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
        /** Text searchable. */
        indexed: z.number().int(),
        /** Found by title, place and metadata only. */
        unsearchable: z.number().int(),
      }),
    ),
  })
  .openapi("FileCounts");
export type FileCounts = z.infer<typeof FileCounts>;

const TEXT_ONLY = "Applies to the text; can't be combined with `original=true`.";

export const FileContentQuery = z.strictObject({
  /** UTF-16 code units from the start of the text. */
  offset: z.coerce.number<number>().int().min(0).max(1_000_000_000).optional().openapi({ description: TEXT_ONLY }),
  limit: z.coerce.number<number>().int().min(1).max(1_000_000).optional().openapi({ description: TEXT_ONLY }),
  /**
   * Only this section, by its name, path, number (`page 3`) or anchor, or from a line (`L10`) on; `offset` counts from
   * its start.
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
    /** Every list must be met. */
    lists: z.array(
      z.object({
        origin: z.enum(["connector", "connection", "source"]),
        isMet: z.boolean(),
        /** Number of principals on the list. */
        size: z.number().int(),
        /** From the person to the principal that meets the list, each a member of the next. */
        chain: z.array(z.string()).nullable(),
        /** The principals on the list (at most 50), for admins. */
        principals: z.array(z.string()).nullable(),
      }),
    ),
    names: PrincipalNames,
  })
  .openapi("FileAccess");
export type FileAccess = z.infer<typeof FileAccess>;

const FileParams = z.object({ fileId: idSchema("item") });
/** Names come from agents as often as from programs. */
const FileNameParams = z.object({
  fileId: z.string().min(1).max(2_100).openapi({
    description:
      "kbId, permalink or URL of the item, issue key, or a file name, path or title that matches only one item the caller can see; percent-encoded.",
  }),
});

/** The routes of items. */
export const fileRoutes = {
  listAll: createRoute({
    operationId: "listAllFiles",
    method: "get",
    path: "/api/connectors/all-files",
    tags: ["files"],
    summary: "List indexed items that the caller can see",
    request: { query: FileListQuery },
    responses: { 200: answer("A page of items", FileList), default: problems("not_found") },
  }),
  listOfConnector: createRoute({
    operationId: "listConnectorFiles",
    method: "get",
    path: "/api/connectors/{id}/files",
    tags: ["files"],
    summary: "List a connector's items that the caller can see",
    request: { params: z.object({ id: idSchema("connector") }), query: FileListQuery.omit({ connectorId: true }) },
    responses: { 200: answer("A page of items", FileList), default: problemAnswer },
  }),
  countBySource: createRoute({
    operationId: "countFilesBySource",
    method: "get",
    path: "/api/connectors/file-counts-by-source",
    tags: ["files"],
    summary: "Count the items that the caller can see, by source and kind",
    request: { query: z.strictObject({}) },
    responses: { 200: answer("The counts", FileCounts), default: problemAnswer },
  }),
  content: createRoute({
    operationId: "getFileContent",
    method: "get",
    path: "/api/connectors/files/{fileId}/content",
    tags: ["files"],
    summary: "Read an item's text, a range of it, the passages around given words, or the original bytes",
    request: { params: FileNameParams, query: FileContentQuery },
    responses: {
      200: {
        description:
          "The text (`X-Total-Chars` holds its full length; `X-Text-As-Of`, if present, since when the content can't be read), or the original as an attachment",
        content: {
          "text/plain": { schema: z.string() },
          "text/markdown": { schema: z.string() },
          "application/octet-stream": { schema: z.string().openapi({ format: "binary" }) },
        },
      },
      304: { description: "Unchanged since the given ETag" },
      default: problems(
        "past_end",
        "no_such_section",
        "no_text",
        "source_changed",
        "source_not_found",
        "address_not_allowed",
        "source_unavailable",
        "source_unauthorized",
        "source_rate_limited",
      ),
    },
  }),
  get: createRoute({
    operationId: "getFile",
    method: "get",
    path: "/api/connectors/files/{fileId}",
    tags: ["files"],
    summary: "Get an item's metadata",
    request: { params: FileNameParams, query: z.strictObject({}) },
    responses: { 200: answer("The item", z.object({ file: FileRecord })), default: problemAnswer },
  }),
  access: createRoute({
    operationId: "getFileAccess",
    method: "get",
    path: "/api/connectors/files/{fileId}/access",
    tags: ["files"],
    summary: "Explain why the caller (for admins: any member) can or can't see an item",
    request: { params: FileParams, query: z.strictObject({ userId: idSchema("user").optional() }) },
    responses: { 200: answer("The chain that grants or refuses", FileAccess), default: problemAnswer },
  }),
};
