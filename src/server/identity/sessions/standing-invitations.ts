import type { Parts } from "#storage/records/parts.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { actOn } from "#storage/audit-act.ts";
import { isAbove } from "#storage/access/ladder.ts";
import type { InvitationRecord } from "#storage/records/people.ts";

/** Checks, whenever an invitation is used, whether the person who invited may still give its role. */
export type StandingInvitations = ReturnType<typeof makeStandingInvitations>;

/**
 * Makes the check for both ways of accepting an invitation: by link, and by single sign-on. Lowering a role ends the
 * person's invitations at once (`ROLE_FALL`). The check also finds invitations of people whose role was lowered in an
 * older version. Source: S63.
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
    // Runs in a separate transaction, since the one that refuses the invitation is rolled back.
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
    /** Returns false if the person who invited may no longer give the role. The invitation is then ended for good. */
    isStanding,
    /** Checks the open invitations of an address in all workspaces. */
    async endFallenOf(email: string): Promise<void> {
      for (const invitation of await store.workspaces.listOpenInvitationsOf(email, clock.now())) {
        await isStanding(invitation);
      }
    },
  };
}
