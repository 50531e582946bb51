import type { Parts } from "#storage/records/parts.ts";
import { ApiError } from "#api/errors.ts";
import type { InvitationOffer } from "#api/links.ts";
import type { AcceptBody } from "#api/session.ts";
import { hashSecret } from "#core/secrets.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { RequestOrigin } from "#storage/access/actor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { StandingInvitations } from "./standing-invitations.ts";
import { actOn } from "#storage/audit-act.ts";
import { isoOf } from "#core/instant.ts";
import { emailKeyOf, type InvitationRecord } from "#storage/records/people.ts";
import type { OpenedSession, SignInContext } from "./sign-in.ts";
import type { Store } from "#storage/records/store.ts";
import type { AccountService } from "./accounts.ts";
import { giveTryBack, takeTry } from "./tries.ts";
import type { Passwords } from "./passwords.ts";
import type { SessionService } from "./service.ts";

export interface AcceptOptions extends Pick<Parts, "store" | "clock"> {
  audit: AuditRecorder;
  passwords: Passwords;
  throttle: Throttle;
  accounts: AccountService;
  sessions: Pick<SessionService, "open" | "prove" | "findActor">;
  standingInvitations: Pick<StandingInvitations, "isStanding">;
}

export type AcceptService = ReturnType<typeof makeAcceptService>;

/** The account whose owner was verified, or the fields of a new account. */
type Accepting = { userId: string } | { userId: null; email: string; name: string; passwordHash: string };

/** Makes the service that accepts invitations. Source: docs/people.md#with-and-without-email. */
export function makeAcceptService(options: AcceptOptions) {
  const { store, clock, passwords, throttle, accounts, sessions, audit } = options;

  async function identify(body: AcceptBody, invitation: InvitationRecord, context: SignInContext): Promise<Accepting> {
    const { email, password, name } = body;
    if (email === undefined || password === undefined) return identifyBySession(invitation, context);
    requireInvited(invitation, email);
    if (await store.users.findByEmail(email)) return sessions.prove(email, password, context);
    if (name === undefined) throw new ApiError("invalid_request", { message: "name is missing", field: "name" });
    passwords.check(password, { email });
    return { userId: null, email, name, passwordHash: await passwords.hash(password) };
  }

  async function identifyBySession(invitation: InvitationRecord, { formerSecret }: SignInContext): Promise<Accepting> {
    const actor = formerSecret === null ? undefined : await sessions.findActor(formerSecret);
    const user = actor && (await store.users.find(actor.userId));
    if (!user) {
      throw new ApiError("unauthenticated", { message: "Sign in, or give the email address and a password." });
    }
    requireInvited(invitation, user.email);
    return { userId: user.userId };
  }

  /** Returns the person's id. Adds an account if there was none. */
  async function settle(tx: Store, who: Accepting, body: AcceptBody, verifiedAt: number | null): Promise<string> {
    const { timeZone = null } = body;
    if (who.userId === null) {
      const { email, name, passwordHash } = who;
      return accounts.add(tx, { email, name, passwordHash, emailVerifiedAt: verifiedAt, timeZone });
    }
    if (timeZone !== null) await tx.users.fillTimeZone(who.userId, timeZone);
    return who.userId;
  }

  /**
   * Finds the link's open invitation. The person who invited must still be allowed to give its role.
   *
   * @throws ApiError `invitation_invalid`
   */
  async function requireInvitation(token: string): Promise<InvitationRecord> {
    const invitation = await store.workspaces.findInvitation(hashSecret(token));
    requireOpen(invitation, clock.now());
    if (await options.standingInvitations.isStanding(invitation)) return invitation;
    throw invalidInvitation();
  }

  return {
    /**
     * Returns the invitation of this link, for a page that shows it before the person enters anything.
     *
     * @throws ApiError `invitation_invalid`, with the same text for every reason; `rate_limited`
     */
    async check(token: string, origin: RequestOrigin): Promise<InvitationOffer> {
      takeTry(throttle, origin);
      const invitation = await requireInvitation(token);
      const workspace = await store.workspaces.find(invitation.workspaceId);
      if (!workspace) throw invalidInvitation();
      const inviter = await store.users.find(invitation.invitedBy);
      // Only wrong links are counted, since the limit is against guessing.
      giveTryBack(throttle, origin);
      return {
        workspaceName: workspace.name,
        inviterName: inviter?.name ?? null,
        email: invitation.email,
        expiresAt: isoOf(invitation.expiresAt),
      };
    },

    /**
     * Makes the invited person a member and signs them in there. A new person gets an account. A person with an account
     * enters its password or is already signed in. The account's address must be the invited one. A link works once.
     *
     * @throws ApiError `invitation_invalid`, `already_member`, `password_too_weak`, `sign_in_failed`,
     *   `unauthenticated`, `rate_limited`; `invalid_request` without the name of a new person
     */
    async accept(body: AcceptBody, context: SignInContext): Promise<OpenedSession> {
      takeTry(throttle, context.origin);
      const invitation = await requireInvitation(body.token);
      const who = await identify(body, invitation, context);
      return store.transaction(async (tx) => {
        const at = clock.now();
        const { workspaceId, invitationId, role, isMailed } = invitation;
        const workspace = tx.in(workspaceId);
        // The transaction decides: the first of several concurrent requests succeeds, and a role that was lowered in
        // the meantime has ended the invitation.
        if (!(await workspace.invitations.accept(invitationId, at))) throw invalidInvitation();
        // A link that was handed over in person doesn't verify the address. Source: S3.
        const userId = await settle(tx, who, body, isMailed ? at : null);
        if (isMailed) await tx.users.markVerified(userId, invitation.email, at);
        if (await workspace.members.find(userId)) {
          throw new ApiError("already_member", { message: "You are already a member of this workspace. Sign in." });
        }
        await workspace.members.insert({ userId, role, joinedAt: at });
        const act = actOn(invitationId, "invitation.accepted", { role, isMailed });
        await audit.recordSystem(tx, workspaceId, act, { userId, ...context.origin });
        return sessions.open(tx, { userId, workspaceId }, context);
      });
    },
  };
}

function requireOpen(invitation: InvitationRecord | undefined, now: number): asserts invitation is InvitationRecord {
  if (!invitation || invitation.acceptedAt !== null || invitation.revokedAt !== null) throw invalidInvitation();
  if (invitation.expiresAt <= now) throw invalidInvitation();
}

function requireInvited(invitation: InvitationRecord, email: string): void {
  // Invitations store the address in ASCII lower case.
  if (emailKeyOf(email) === invitation.email) return;
  throw new ApiError("invitation_invalid", {
    message: "This invitation is for another email address.",
    field: "email",
  });
}

function invalidInvitation(): ApiError {
  return new ApiError("invitation_invalid", {
    message: "This invitation is unknown, used, withdrawn or expired. Ask for a new one.",
  });
}
