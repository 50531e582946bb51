import type { CursorCodec } from "#server/http/cursor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { wireForm } from "#server/http/wire-form.ts";
import type { Parts } from "#storage/records/parts.ts";
import { readPage } from "#server/http/pages.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import { makeId } from "#api/common.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import { Invitation, type invitationRoutes } from "#api/workspace.ts";
import { requireAbove } from "#storage/access/ladder.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { Actor } from "#storage/access/actor.ts";
import { actOn } from "#storage/audit-act.ts";
import type { QuotaKeeper } from "./quotas.ts";
import type { Post } from "#server/identity/mail/post.ts";
import { emailKeyOf, type InvitationRecord } from "#storage/records/people.ts";

const LIFETIME_MS = 7 * 86_400_000;

/**
 * Makes the service for invitations. An invitation is for one address, works once, and is valid for 7 days.
 * Source: docs/people.md#with-and-without-email.
 */
export function makeInvitationService(
  options: Pick<Parts, "store" | "clock" | "randomBytes"> & {
    audit: AuditRecorder;
    cursors: CursorCodec;
    quotas: QuotaKeeper;
    baseUrl: string;
    post: Post;
    /** Limits invitations per workspace, since each may send a message to a person who didn't request it. */
    throttle: Throttle;
  },
): MemberHandlers<typeof invitationRoutes> {
  const { store, clock, randomBytes, audit, quotas, baseUrl, post, throttle } = options;

  /** Runs outside the transaction, so that a slow mail server can't keep it open. */
  async function mail(actor: Actor, invitation: InvitationRecord, url: string): Promise<void> {
    const inviter = (await store.users.find(actor.userId))?.name ?? "Someone";
    const workspace = (await store.workspaces.find(actor.workspaceId))?.name ?? "a workspace";
    const { expiresAt } = invitation;
    try {
      await post.send(invitation.email, { type: "invitation", inviter, workspace, url, expiresAt });
    } catch (error) {
      const { invitationId } = invitation;
      await store.in(actor.workspaceId).invitations.revoke(invitationId, clock.now());
      throw error;
    }
  }

  return {
    /** Lists invitations that were not withdrawn, the newest first. */
    async list({ actor, query }) {
      const { invitations } = store.in(actor.workspaceId);
      const { page, nextCursor } = await readPage(
        options,
        actor,
        {
          route: "GET /api/workspace/invitations",
          kind: "invitation",
          read: (wanted) => invitations.list(wanted),
          positionOf: ({ createdAt, invitationId }) => ({ value: createdAt, id: invitationId }),
        },
        query,
      );
      return { invitations: page.map(toInvitation), nextCursor };
    },

    /**
     * Invites the owner of an address. An earlier open invitation of the address ends. If this server sends email, the
     * link is mailed; otherwise it is returned only this once.
     *
     * @throws ApiError `already_member`, `role_too_low`, `rate_limited`; `mail_failed`, and then no one is invited
     */
    async create({ actor, body }) {
      requireAbove(actor, body.role);
      throttle.take(`workspace ${actor.workspaceId}`);
      const secret = randomSecret(randomBytes);
      const createdAt = clock.now();
      const invitation: InvitationRecord = {
        invitationId: makeId("invitation", randomBytes),
        workspaceId: actor.workspaceId,
        email: emailKeyOf(body.email),
        role: body.role,
        invitedBy: actor.userId,
        createdAt,
        expiresAt: createdAt + LIFETIME_MS,
        acceptedAt: null,
        revokedAt: null,
        isMailed: post.canMail,
      };
      await store.transaction(async (tx) => {
        const { invitations, members } = tx.in(actor.workspaceId);
        const user = await tx.users.findByEmail(invitation.email);
        if (user && (await members.find(user.userId))) throw alreadyMember(invitation.email);
        await invitations.revokeOpenOf(invitation.email, createdAt);
        await quotas.requireRoom(tx, actor.workspaceId, "members");
        await invitations.insert({ ...invitation, tokenHash: hashSecret(secret) });
        await audit.record(tx, actor, actOn(invitation.invitationId, "invitation.created", { role: body.role }));
      });
      // The secret is after `#`, since a fragment never appears in a server log.
      const url = `${baseUrl}/invite#token=${secret}`;
      if (post.canMail) await mail(actor, invitation, url);
      return { invitation: toInvitation(invitation), url: post.canMail ? null : url };
    },

    /** @throws ApiError `not_found` */
    async revoke({ actor, params: { id: invitationId } }) {
      await store.transaction(async (tx) => {
        const { invitations } = tx.in(actor.workspaceId);
        const invitation = await invitations.find(invitationId);
        if (!invitation || invitation.revokedAt !== null) throw noSuchThing();
        requireAbove(actor, invitation.role);
        await invitations.revoke(invitationId, clock.now());
        await audit.record(tx, actor, actOn(invitationId, "invitation.withdrawn"));
      });
    },
  };
}

function toInvitation(record: InvitationRecord): Invitation {
  return wireForm(Invitation, record, { id: record.invitationId });
}

function alreadyMember(email: string): ApiError {
  return new ApiError("already_member", { message: `${email} is already a member of this workspace.`, field: "email" });
}
