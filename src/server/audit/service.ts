import type { AuditEntry, AuditQuery } from "#api/audit.ts";
import { cutPage, type CursorCodec } from "#server/http/cursor.ts";
import type { Actor, Credential } from "#server/ports/actor.ts";
import type { AuditRecorder } from "#server/ports/audit.ts";
import type { Clock } from "#server/ports/clock.ts";
import type { Store } from "#server/ports/store.ts";

export interface AuditService extends AuditRecorder {
  /** What was done in the actor's workspace, newest first. */
  list(actor: Actor, query: AuditQuery): Promise<{ entries: AuditEntry[]; nextCursor: string | null }>;
}

/** The audit of a workspace: rows are appended in the transaction of the act and never changed. */
export function makeAuditService(options: { store: Store; clock: Clock; cursors: CursorCodec }): AuditService {
  const { store, clock, cursors } = options;
  return {
    async record(tx, actor, act) {
      await tx.in(actor.workspaceId).audit.append({
        at: new Date(clock.now()),
        actorUserId: actor.userId,
        credential: describeCredential(actor.credential),
        action: act.action,
        targetType: act.target.type,
        targetId: act.target.id,
        outcome: act.outcome ?? "done",
        ip: actor.origin?.clientIp ?? null,
        requestId: actor.origin?.requestId ?? null,
        details: act.details ?? {},
      });
    },

    async recordSystem(tx, workspaceId, act, who = {}) {
      await tx.in(workspaceId).audit.append({
        at: new Date(clock.now()),
        actorUserId: who.userId ?? null,
        credential: "system",
        action: act.action,
        targetType: act.target.type,
        targetId: act.target.id,
        outcome: act.outcome ?? "done",
        ip: who.clientIp ?? null,
        requestId: who.requestId ?? null,
        details: act.details ?? {},
      });
    },

    async list(actor, { limit, cursor, action, userId }) {
      const { workspaceId } = actor;
      const scope = { workspaceId, userId: actor.userId, route: "GET /api/audit", args: { action, userId } };
      const rows = await store.in(workspaceId).audit.list({
        limit: limit + 1,
        ...(cursor !== undefined && { before: cursors.decode(scope, cursor).value }),
        ...(action !== undefined && { action }),
        ...(userId !== undefined && { userId }),
      });
      const { page, nextCursor } = cutPage(
        rows,
        limit,
        (row) => ({ flags: 0, value: row.seq, id: "" }),
        (position) => cursors.encode(scope, position),
      );
      return { entries: page.map((row) => ({ ...row, at: row.at.toISOString() })), nextCursor };
    },
  };
}

/** `session:ses_…`, `pat:tok_…`, `oauth:…`. */
function describeCredential(credential: Credential): string {
  return `${credential.type}:${credential.id}`;
}
