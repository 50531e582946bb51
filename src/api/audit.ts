import { Count, idSchema, nextCursor, PageQuery, Timestamp } from "./common.ts";
import { answer, get, z } from "./route.ts";

/** One action as recorded; no titles and no secrets. */
export const AuditEntry = z
  .object({
    seq: z.number().int(),
    at: Timestamp,
    actorUserId: idSchema("user").nullable(),
    /** `session:ses_…`, `pat:tok_…`, `oauth:…`, or `system`. */
    credential: z.string(),
    action: z.string().openapi({ example: "connector.created" }),
    targetType: z.string(),
    targetId: z.string(),
    outcome: z.enum(["done", "refused"]),
    ip: z.string().nullable(),
    requestId: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  })
  .openapi("AuditEntry");
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditQuery = PageQuery.extend({
  /** Exact action, such as `member.removed`. */
  action: z.string().max(80).optional(),
  /** The member whose actions are listed. */
  userId: idSchema("user").optional(),
  /** Only entries at or after this time. */
  since: Timestamp.optional(),
  /** Only entries before this time. */
  until: Timestamp.optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

/**
 * Ids that one credential was shown or has read, each in the first answer of the day that contained it; no titles and no query. The row's number is
 * left out, because gaps would show each member how much the others read. Source: S53.
 */
export const AuditRead = z
  .object({
    at: Timestamp,
    userId: idSchema("user"),
    /** As in `AuditEntry`. */
    credential: z.string(),
    /** The client's own name, if it sent one. */
    client: z.string().nullable(),
    /** The tool or the route. */
    tool: z.string(),
    /** The items that the credential hadn't yet received from this network that day (UTC). */
    kbIds: z.array(z.string()),
    /** Number of answers in the row. */
    answers: Count,
    /** Number of items in these answers besides `kbIds`. */
    repeats: Count,
  })
  .openapi("AuditRead");
export type AuditRead = z.infer<typeof AuditRead>;

/** Whether each row's hash follows from the row and the one before it. */
export const AuditCheck = z
  .object({
    isIntact: z.boolean(),
    entries: Count,
    /** The first row that doesn't match; null when all do. */
    brokenAt: z.number().int().nullable(),
    firstSeq: z.number().int().nullable(),
    lastSeq: z.number().int().nullable(),
    /** The hash of the last row. If you keep it elsewhere, it later proves that no rows were removed from the end. */
    lastHash: z.string().nullable(),
  })
  .openapi("AuditCheck");
export type AuditCheck = z.infer<typeof AuditCheck>;

export const AuditPage = z
  .object({
    entries: z.array(AuditEntry),
    nextCursor,
    /**
     * Current names for the ids in these entries: people, groups, connectors, tokens, invitations by their address, OAuth clients, sessions by the
     * program that opened them, and by path the server folders that were allowed here. Omits everything else that no longer exists, and titles of
     * items.
     */
    names: z.record(z.string(), z.string()),
  })
  .openapi("AuditPage");
export type AuditPage = z.infer<typeof AuditPage>;

export const auditRoutes = {
  list: get("/api/audit", "List what was done in this workspace, newest first (admins only)", {
    query: AuditQuery,
    200: answer("A page", AuditPage),
  }),
  reads: get(
    "/api/audit/reads",
    "List what your tokens and clients read, newest first; admins can ask for another member",
    {
      query: PageQuery.extend({
        /** `pat:tok_…`, `oauth:…`, `session:…`. */
        credential: z.string().max(120).optional(),
        /** The id of another member; only for admins. */
        userId: idSchema("user").optional(),
      }),
      200: answer("A page", { reads: z.array(AuditRead), nextCursor }),
    },
  ),
  check: get("/api/audit/check", "Check that the audit log is intact (admins only)", {
    200: answer("The result of the check", AuditCheck),
  }),
  export: get(
    "/api/audit/export",
    "Export every row with its hash, oldest first, one JSON object per line (admins only)",
    {
      query: { since: Timestamp.optional() },
      200: { description: "NDJSON", content: { "application/x-ndjson": { schema: z.string() } } },
    },
  ),
};
