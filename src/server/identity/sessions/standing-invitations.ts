import type { Parts } from "#storage/records/parts.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { actOn } from "#storage/audit-act.ts";
import { isAbove } from "#storage/access/ladder.ts";
import type { InvitationRecord } from "#storage/records/people.ts";

/** Checks, whenever an invitation is used, whether its inviter could still give its role. */
export type StandingInvitations = ReturnType<typeof makeStandingInvitations>;

/**
 * Makes the check for both ways of accepting: by link and by single sign-on. Lowering a role ends its invitations at
 * once (`ROLE_FALL`); this also finds invitations of roles lowered before that existed. Source: S63.
 */
export function makeStandingInvitations(
  options: Pick<Parts, "store" | "clock"> & {
    audit: Pick<AuditRecorder, "recordSystem">;
  },
) {
  const { store, clock, audit } = options;

  async function isStanding(invitation: InvitationRecord): Promise<boolean> {
    const { workspaceId, invitationId, invitedBy, role } = invitation;
    const inviter = await store.in(workspaceId).members.find(invitedBy);
    if (inviter && isAbove(inviter.role, role)) return true;
    // In its own transaction: the one that refuses the invitation rolls back.
    await store.transaction(async (tx) => {
      await tx.in(workspaceId).invitations.revoke(invitationId, clock.now());
      await audit.recordSystem(
        tx,
        workspaceId,
        actOn(invitationId, "invitation.withdrawn", { reason: "inviter_role", role }),
      );
    });
    return false;
  }

  return {
    /** False for one whose inviter could no longer give its role: it is ended for good. */
    isStanding,
    /** Checks the open invitations of an address in all workspaces. */
    async endFallenOf(email: string): Promise<void> {
      for (const invitation of await store.workspaces.listOpenInvitationsOf(email, clock.now())) {
        await isStanding(invitation);
      }
    },
  };
}
