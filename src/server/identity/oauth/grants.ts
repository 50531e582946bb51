import type { Grant } from "#api/oauth.ts";
import { noSuchThing } from "#api/errors.ts";
import { cutPage, type CursorCodec } from "#server/http/cursor.ts";
import type { Actor, RequestOrigin } from "#storage/access/actor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Clock } from "#core/clock.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import type { GrantRecord } from "#storage/records/grants.ts";
import type { Store } from "#storage/records/store.ts";
import type { ClientDocuments } from "./client-documents.ts";

export interface GrantOptions {
  store: Store;
  clock: Clock;
  cursors: CursorCodec;
  audit: AuditRecorder;
  documents: Pick<ClientDocuments, "readAt">;
}

/** The clients that people authorized. */
export function makeGrantService({ store, clock, cursors, audit, documents }: GrantOptions) {
  return {
    /** Lists the clients that the person authorized in this workspace, newest first. */
    async list(
      actor: Actor,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<{ grants: Grant[]; nextCursor: string | null }> {
      const { userId, workspaceId } = actor;
      const scope = { workspaceId, userId, route: "GET /api/grants", args: {} };
      const position = cursor === undefined ? undefined : cursors.decode(scope, cursor);
      const rows = await store.in(workspaceId).grants.list({
        userId,
        now: clock.now(),
        limit: limit + 1,
        ...(position && { after: { value: position.value, id: `gra_${position.id}` } }),
      });
      const { page, nextCursor } = cutPage(
        rows,
        limit,
        (row) => ({ flags: 0, value: row.createdAt, id: row.grantId.slice(4) }),
        (place) => cursors.encode(scope, place),
      );
      const readAt = await documents.readAt(page.map(({ clientId }) => clientId));
      return { grants: page.map((grant) => toGrant(grant, readAt.get(grant.clientId))), nextCursor };
    },

    /** Revokes a client's access; its tokens and those it made end at once. @throws ApiError `not_found` */
    async revoke(actor: Actor, grantId: string): Promise<void> {
      await store.transaction(async (tx) => {
        const grant = await tx.in(actor.workspaceId).grants.find(grantId);
        const isLive = grant !== undefined && grant.revokedAt === null && grant.expiresAt > clock.now();
        if (!isLive || grant.userId !== actor.userId) throw noSuchThing();
        await tx.oauth.endGrant(grantId, clock.now());
        const target = { type: "grant", id: grantId };
        await audit.record(tx, actor, { action: "grant.revoked", target, details: { clientId: grant.clientId } });
      });
    },

    /** Ends a token family at the token endpoint's request. */
    async end(grantId: string, why: "reuse" | "client", origin: RequestOrigin | undefined): Promise<void> {
      await store.transaction(async (tx) => {
        const grant = await tx.oauth.endGrant(grantId, clock.now());
        if (!grant) return;
        const { workspaceId, userId, clientId } = grant;
        const action = why === "reuse" ? "grant.reuse_detected" : "grant.revoked";
        await audit.recordSystem(
          tx,
          workspaceId,
          {
            action,
            target: { type: "grant", id: grantId },
            outcome: why === "reuse" ? "refused" : "done",
            details: { clientId },
          },
          { userId, ...origin },
        );
      });
    },
  };
}

function toGrant(record: GrantRecord, documentReadAt: number | undefined): Grant {
  return {
    id: record.grantId,
    clientId: record.clientId,
    clientName: record.clientName,
    documentReadAt: isoOrNull(documentReadAt ?? null),
    place: record.place,
    scopes: record.scopes,
    createdAt: isoOf(record.createdAt),
    lastUsedAt: isoOrNull(record.lastUsedAt),
    expiresAt: isoOf(record.expiresAt),
  };
}
