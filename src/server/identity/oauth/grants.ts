import type { CursorCodec } from "#server/http/cursor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { wireForm } from "#server/http/wire-form.ts";
import type { Parts } from "#storage/records/parts.ts";
import { readPage } from "#server/http/pages.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import { Grant, type grantRoutes } from "#api/oauth.ts";
import { noSuchThing } from "#api/errors.ts";
import type { RequestOrigin } from "#storage/access/actor.ts";
import { actOn } from "#storage/audit-act.ts";
import { isoOrNull } from "#core/instant.ts";
import type { GrantRecord } from "#storage/records/grants.ts";
import type { ClientDocuments } from "./client-documents.ts";

export interface GrantOptions extends Pick<Parts, "store" | "clock"> {
  audit: AuditRecorder;
  cursors: CursorCodec;
  documents: Pick<ClientDocuments, "readAt">;
}

/** Makes the service for clients that people authorized. */
export function makeGrantService({ store, clock, cursors, audit, documents }: GrantOptions) {
  const handlers: MemberHandlers<typeof grantRoutes> = {
    /** Lists the clients that the person authorized in this workspace, the newest first. */
    async list({ actor, query }) {
      const { grants } = store.in(actor.workspaceId);
      const { page, nextCursor } = await readPage(
        { cursors },
        actor,
        {
          route: "GET /api/grants",
          kind: "grant",
          read: (wanted) => grants.list({ userId: actor.userId, now: clock.now(), ...wanted }),
          positionOf: ({ createdAt, grantId }) => ({ value: createdAt, id: grantId }),
        },
        query,
      );
      const readAt = await documents.readAt(page.map(({ clientId }) => clientId));
      return { grants: page.map((grant) => toGrant(grant, readAt.get(grant.clientId))), nextCursor };
    },

    /**
     * Revokes a client's access. The client's tokens, and the tokens that it made, end at once.
     *
     * @throws ApiError `not_found`
     */
    async revoke({ actor, params: { id: grantId } }) {
      await store.transaction(async (tx) => {
        const grant = await tx.in(actor.workspaceId).grants.find(grantId);
        const isLive = grant !== undefined && grant.revokedAt === null && grant.expiresAt > clock.now();
        if (!isLive || grant.userId !== actor.userId) throw noSuchThing();
        await tx.oauth.endGrant(grantId, clock.now());
        await audit.record(tx, actor, actOn(grantId, "grant.revoked", { clientId: grant.clientId }));
      });
    },
  };

  return {
    ...handlers,
    /** Ends all tokens of a grant, at the token endpoint's request. */
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
  return wireForm(Grant, record, { id: record.grantId, documentReadAt: isoOrNull(documentReadAt ?? null) });
}
