import { idSchema, PageCursor, PageLimit, Timestamp } from "./common.ts";
import { answer, createRoute, problemAnswer, z } from "./route.ts";

/** One act, as it was recorded; no titles and no secrets. */
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
  /** Whose acts. */
  userId: idSchema("user").optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

export const auditRoutes = {
  list: createRoute({
    method: "get",
    path: "/api/audit",
    summary: "What was done in this workspace, newest first (admin)",
    request: { query: AuditQuery },
    responses: {
      200: answer("A page", z.object({ entries: z.array(AuditEntry), nextCursor: z.string().nullable() })),
      default: problemAnswer,
    },
  }),
};
