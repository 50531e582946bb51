/** Pushing beyond single lines: uploads that can be resumed or that contain the whole set, and documents with their bytes. */
import { byId, Count, idSchema, Timestamp } from "./common.ts";
import { PushResult } from "./connector-records.ts";
import { answer, del, get, json, post, z } from "./route.ts";

/** `add`: adds to the stored items. `set`: the sent items are the whole set; the others are removed at the end. */
export const PushMode = z.enum(["add", "set"]);

/** `ending`: the end was requested, and items that weren't sent are being removed. Requesting the end again continues the removal. */
export const PushUploadState = z.enum(["open", "ending", "done", "superseded", "expired"]);
export type PushUploadState = z.infer<typeof PushUploadState>;

/** Several push requests that belong together. Only a caller with the connector's key gets its details about items. */
export const PushUpload = z
  .object({
    id: idSchema("upload"),
    connectorId: idSchema("connector"),
    mode: PushMode,
    name: z.string().nullable(),
    state: PushUploadState,
    /** The lines from 1 to this number have a result, and their changes are stored. */
    lines: Count,
    /** Number of results so far, including those of documents and of lines that were sent again. */
    counts: z.object({
      upserted: Count,
      unchanged: Count,
      removed: Count,
      held: Count,
      absent: Count,
      failed: Count,
      acl_unknown: Count,
      error: Count,
    }),
    /** The first 100 lines that weren't accepted as intended. */
    failures: z.array(
      z.object({
        line: Count.nullable(),
        externalId: z.string().nullable(),
        result: z.string(),
        code: z.string(),
        message: z.string(),
      }),
    ),
    /** Removals at the end of a set. Null before the end, and if nothing may be removed, for which `sweepRefused` gives the reason. */
    swept: z.object({ removed: Count, held: Count }).nullable(),
    sweepRefused: z.string().nullable(),
    createdAt: Timestamp,
    /** When the upload expires unless another line or document arrives. */
    expiresAt: Timestamp,
    finishedAt: Timestamp.nullable(),
  })
  .openapi("PushUpload");
export type PushUpload = z.infer<typeof PushUpload>;

export const BeginUploadBody = z.strictObject({
  mode: PushMode.default("add"),
  /** A name that you choose to find the upload again. */
  name: z.string().trim().min(1).max(200).optional(),
  /** Returns the open upload with this name and mode if there is one, instead of replacing it with a new upload. */
  resume: z.boolean().default(false),
});
export type BeginUploadBody = z.infer<typeof BeginUploadBody>;

export const EndUploadBody = z.strictObject({
  /** The number of the last line that you sent, which is required to end a set; 0 if you sent only documents. */
  lines: z.number().int().min(0).max(1_000_000_000).optional(),
});
export type EndUploadBody = z.infer<typeof EndUploadBody>;

export const PushQuery = z.strictObject({
  /** The upload that these lines belong to. */
  upload: idSchema("upload").optional(),
  /** The number of this body's first line within its upload. */
  firstLine: z.coerce.number<number>().int().min(1).max(1_000_000_000).optional(),
});
export type PushQuery = z.infer<typeof PushQuery>;

const ById = byId("connector");
const ByUpload = { ...ById, uploadId: idSchema("upload") };
const One = z.object({ upload: PushUpload });
const ndjson = { content: { "application/x-ndjson": { schema: z.string() } } } as const;

export const pushRoutes = {
  push: post("/api/connectors/{id}/items", "Push items: one JSON event per line, one result per line", {
    params: ById,
    query: PushQuery,
    body: { required: true, ...ndjson },
    200: { description: "One PushResult per line, in order", ...ndjson },
    problems: ["push_upload_over", "push_upload_incomplete", "push_cut", "connector_state_conflict", "quota_reached"],
  }),
  removeItem: del("/api/connectors/{id}/items/{externalId}", "Remove one pushed item", {
    params: { ...ById, externalId: z.string().min(1).max(4_000) },
    200: answer("`held`: its removal waits for approval", { result: z.enum(["removed", "held", "absent"]) }),
    problems: ["connector_state_conflict"],
  }),
  pushDocument: post("/api/connectors/{id}/documents", "Push one document: its line and its bytes; kb keeps the text", {
    params: ById,
    query: PushQuery.omit({ firstLine: true }),
    body: {
      required: true,
      content: {
        "multipart/form-data": {
          schema: z.object({
            /** An upsert line without text and content, as JSON. */
            line: z.string(),
            file: z.string().openapi({ format: "binary" }),
          }),
        },
      },
    },
    200: answer("The result, with `line: 1`", PushResult),
    problems: ["push_upload_over", "push_cut", "connector_state_conflict", "quota_reached", "principal_not_allowed"],
  }),
  beginUpload: post("/api/connectors/{id}/uploads", "Start an upload; a new set replaces an open set", {
    params: ById,
    body: json(BeginUploadBody),
    201: answer("The upload", One),
    problems: ["connector_state_conflict"],
  }),
  getUpload: get("/api/connectors/{id}/uploads/{uploadId}", "Get an upload's progress", {
    params: ByUpload,
    200: answer("The upload", One),
  }),
  endUpload: post(
    "/api/connectors/{id}/uploads/{uploadId}/end",
    "Finish an upload; for a set, items that were not sent are removed, or held for approval",
    {
      params: ByUpload,
      body: EndUploadBody,
      200: answer("The finished upload", One),
      problems: ["push_upload_over", "push_upload_incomplete", "connector_state_conflict"],
    },
  ),
};
