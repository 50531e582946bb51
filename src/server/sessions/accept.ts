import { makeId } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { AcceptBody } from "#api/session.ts";
import { throttleKeyOfIp } from "#server/http/client-ip.ts";
import { hashSecret } from "#server/http/secrets.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { AuditRecorder } from "#server/ports/audit.ts";
import type { Clock, RandomBytes } from "#server/ports/clock.ts";
import type { Store } from "#server/ports/store.ts";
import type { InvitationRecord } from "#server/ports/store/people.ts";
import type { Passwords } from "./passwords.ts";
import type { OpenedSession, SessionService, SignInContext } from "./service.ts";

export interface AcceptOptions {
  store: Store;
  clock: Clock;
  randomBytes: RandomBytes;
  passwords: Passwords;
  throttle: Throttle;
  sessions: Pick<SessionService, "open" | "prove">;
  audit: AuditRecorder;
}

export interface AcceptService {
  /**
   * Makes the invited person a member and signs them in. A new person gets an account; somebody with one proves its
   * password. The address must be the invited one. Single use.
   *
   * @throws ApiError `invitation_invalid`, `already_member`, `password_too_weak`, `sign_in_failed`, `rate_limited`
   */
  accept(body: AcceptBody, context: SignInContext): Promise<OpenedSession>;
}

/** Accepting invitations. Source: research "auth" §2.1, tests 42. */
export function makeAcceptService(options: AcceptOptions): AcceptService {
  const { store, clock, randomBytes, passwords, throttle, sessions, audit } = options;

  /** The person's id: of the account that exists and was proved, or of the one that is to be made with this hash. */
  async function identify(body: AcceptBody, context: SignInContext): Promise<{ userId: string; newHash?: string }> {
    if (await store.users.findByEmail(body.email)) return sessions.prove(body.email, body.password, context);
    passwords.check(body.password, body);
    return { userId: makeId("user", randomBytes), newHash: await passwords.hash(body.password) };
  }

  return {
    async accept(body, context) {
      throttle.take(`ip ${throttleKeyOfIp(context.origin.clientIp)}`);
      const invitation = await store.workspaces.findInvitation(hashSecret(body.token));
      requireOpen(invitation, body.email, clock.now());
      const { userId, newHash } = await identify(body, context);
      return store.transaction(async (tx) => {
        const at = new Date(clock.now());
        const { workspaceId, invitationId, role } = invitation;
        const workspace = tx.in(workspaceId);
        // Decided here: the first of several at once wins.
        if (!(await workspace.invitations.accept(invitationId, at))) throw invalidInvitation();
        if (newHash !== undefined) await insertUser(tx, body, { userId, passwordHash: newHash, at });
        else if (body.timeZone !== undefined) await tx.users.setTimeZone(userId, body.timeZone);
        if (await workspace.members.find(userId)) {
          throw new ApiError("already_member", { message: "You are a member of this workspace already. Sign in." });
        }
        await workspace.members.insert({ userId, role, joinedAt: at });
        const act = {
          action: "invitation.accepted",
          target: { type: "invitation", id: invitationId },
          details: { role },
        };
        await audit.recordSystem(tx, workspaceId, act, { userId, ...context.origin });
        return sessions.open(tx, { userId, workspaceId }, context);
      });
    },
  };
}

async function insertUser(
  tx: Store,
  body: AcceptBody,
  made: { userId: string; passwordHash: string; at: Date },
): Promise<void> {
  await tx.users.insert({
    userId: made.userId,
    email: body.email,
    name: body.name,
    passwordHash: made.passwordHash,
    // The link was handed over by hand, which proves nothing about the address. Source: S3.
    emailVerifiedAt: null,
    timeZone: body.timeZone ?? null,
    createdAt: made.at,
  });
}

function requireOpen(
  invitation: InvitationRecord | undefined,
  email: string,
  now: number,
): asserts invitation is InvitationRecord {
  if (!invitation || invitation.acceptedAt !== null || invitation.revokedAt !== null) throw invalidInvitation();
  if (invitation.expiresAt.getTime() <= now) throw invalidInvitation();
  // Invitations keep the address in ASCII lower case.
  if (email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) !== invitation.email) {
    throw new ApiError("invitation_invalid", {
      message: "This invitation is for another e-mail address.",
      field: "email",
    });
  }
}

function invalidInvitation(): ApiError {
  return new ApiError("invitation_invalid", {
    message: "This invitation is unknown, used, withdrawn or expired. Ask for a new one.",
  });
}
