import { idSchema, PageCursor, PageLimit, Timestamp } from "./common.ts";
import { answer, createRoute, problemAnswer, z } from "./route.ts";

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

export const AuditQuery = z.object({
  limit: PageLimit,
  cursor: PageCursor.optional(),
  /** Exact action, such as `member.removed`. */
  action: z.string().max(80).optional(),
  /** Whose actions. */
  userId: idSchema("user").optional(),
  /** Only from this time on. */
  since: Timestamp.optional(),
  /** Only before this time. */
  until: Timestamp.optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

/**
 * Ids shown to or read by one credential, each where it occurred first that day; no titles and no query. Without the
 * number of its row: the gaps would show each member how much the others read. Source: S53.
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
    answers: z.number().int(),
    /** Number of items in these answers besides `kbIds`. */
    repeats: z.number().int(),
  })
  .openapi("AuditRead");
export type AuditRead = z.infer<typeof AuditRead>;

export const AuditReadsQuery = z.object({
  limit: PageLimit,
  cursor: PageCursor.optional(),
  /** `pat:tok_…`, `oauth:…`, `session:…`. */
  credential: z.string().max(120).optional(),
  /** Another member's: for admins. */
  userId: idSchema("user").optional(),
});
export type AuditReadsQuery = z.infer<typeof AuditReadsQuery>;

/** Whether each row's hash follows from the row and the one before it. */
export const AuditCheck = z
  .object({
    isIntact: z.boolean(),
    entries: z.number().int(),
    /** The first row that doesn't match; null when all do. */
    brokenAt: z.number().int().nullable(),
    firstSeq: z.number().int().nullable(),
    lastSeq: z.number().int().nullable(),
    /** The hash of the last row: kept elsewhere, it later proves that nothing was cut off. */
    lastHash: z.string().nullable(),
  })
  .openapi("AuditCheck");
export type AuditCheck = z.infer<typeof AuditCheck>;

export const AuditPage = z
  .object({
    entries: z.array(AuditEntry),
    nextCursor: z.string().nullable(),
    /**
     * Current names for the ids in these entries: people, groups, connectors, tokens, invitations by their address,
     * OAuth clients, sessions by the program that opened them, and server folders that were allowed here by their path.
     * Omits everything else that no longer exists, and titles of items.
     */
    names: z.record(z.string(), z.string()),
  })
  .openapi("AuditPage");
export type AuditPage = z.infer<typeof AuditPage>;

export const auditRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/audit",
    summary: "List what was done in this workspace, newest first (admin)",
    request: { query: AuditQuery },
    responses: {
      200: answer("A page", AuditPage),
      default: problemAnswer,
    },
  }),
  reads: createRoute({
    method: "get",
    path: "/api/audit/reads",
    summary: "List what your tokens and clients read, newest first; admins can ask for another member",
    request: { query: AuditReadsQuery },
    responses: {
      200: answer("A page", z.object({ reads: z.array(AuditRead), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
  check: createRoute({
    method: "get",
    path: "/api/audit/check",
    summary: "Check that the audit log is unbroken (admin)",
    responses: { 200: answer("The result of the check", AuditCheck), default: problemAnswer },
  }),
  export: createRoute({
    method: "get",
    path: "/api/audit/export",
    summary: "Export every row with its hash, oldest first, one JSON object per line (admin)",
    request: { query: z.object({ since: Timestamp.optional() }) },
    responses: {
      200: { description: "NDJSON", content: { "application/x-ndjson": { schema: z.string() } } },
      default: problemAnswer,
    },
  }),
};
