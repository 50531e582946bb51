import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import { ApiError, existing, forbidden } from "#api/errors.ts";
import type { ResetOffer } from "#api/links.ts";
import { requireAbove } from "#storage/access/ladder.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { Afterwards } from "#server/identity/mail/afterwards.ts";
import type { Actor, RequestOrigin } from "#storage/access/actor.ts";
import { actOn } from "#storage/audit-act.ts";
import { isoOf } from "#core/instant.ts";
import type { Post } from "#server/identity/mail/post.ts";
import type { LinkRecord } from "#storage/records/links.ts";
import type { MemberRecord } from "#storage/records/members.ts";
import type { UserRecord } from "#storage/records/people.ts";
import type { OpenedSession, SignInContext } from "./sign-in.ts";
import type { Store } from "#storage/records/store.ts";
import type { AccountService } from "./accounts.ts";
import { giveTryBack, takeTry } from "./tries.ts";
import { linkInvalid, type LinkService } from "./links.ts";
import type { Passwords } from "./passwords.ts";
import type { SessionService } from "./service.ts";

export type ResetService = ReturnType<typeof makeResetService>;

export interface ResetOptions extends Pick<Parts, "store" | "clock"> {
  audit: AuditRecorder;
  passwords: Passwords;
  /** Limits attempts per address and account, since each may send a message. */
  throttle: Throttle;
  /** Limits uses of links per address, since each costs a hash. */
  confirmThrottle: Throttle;
  accounts: AccountService;
  links: LinkService;
  sessions: Pick<SessionService, "enter">;
  post: Post;
  afterwards: Afterwards;
}

/** The origin of a background action, which has no client address. */
const NOWHERE = { requestId: "", clientIp: null };
/** If an identity was linked this soon after the account was created, the account was created with that identity. */
const BEGINNING_MS = 60_000;
const MAILED_LIFETIME_MS = 3_600_000;
/** The lifetime is longer because a person hands the link over. */
const MADE_LIFETIME_MS = 86_400_000;

/** Makes the service for password resets. Source: S22. */
export function makeResetService(options: ResetOptions) {
  const { store, clock, passwords, throttle, confirmThrottle, accounts, links, sessions, audit, post, afterwards } =
    options;

  /** Runs after the response, so that the content and time of the response don't depend on it. */
  async function mail(email: string): Promise<void> {
    const user = await store.users.findByEmail(email);
    if (!user) return;
    const link = await store.transaction((tx) =>
      links.add(tx, {
        purpose: "password_reset",
        userId: user.userId,
        email: user.email,
        isMailed: true,
        lifetimeMs: MAILED_LIFETIME_MS,
      }),
    );
    await post.send(user.email, { type: "password_reset", name: user.name, madeBy: null, ...link });
  }

  /**
   * The holder of the link can sign in as that person and read their data. Therefore only an owner may get a link to
   * hand over, and only if they own every workspace to which the person belongs, since the account is valid in all of
   * them.
   */
  async function requireMayHold(actor: Actor, { userId, role: roleHere }: MemberRecord): Promise<void> {
    // A token must never lead to a session of an admin or an owner.
    if (actor.credential.type !== "session" && roleHere !== "member") {
      throw forbidden("A token can't create a reset link for an admin or owner. Use a browser.");
    }
    if (actor.role !== "owner") {
      throw new ApiError("role_too_low", {
        message:
          "This server sends no email, so you would get the link, and anyone with the link can sign in as this person. Only an owner of the workspace can create one.",
      });
    }
    if (await isOwnerEverywhere(store, actor.userId, userId)) return;
    throw new ApiError("role_too_low", {
      message: "This person is also in other workspaces, so you can't get a link for their account.",
    });
  }

  /**
   * Checks again that the person who made the link may hold it. They may have been removed in the meantime, or the
   * other person promoted.
   */
  async function requireStillMayHold(tx: Store, link: LinkRecord, userId: string): Promise<void> {
    const madeBy = madeByOf(link);
    if (madeBy === null || link.isMailed || (await isOwnerEverywhere(tx, madeBy, userId))) return;
    throw linkInvalid();
  }

  /** Finds the account of a link if the link is still valid. @throws ApiError `link_invalid` */
  async function requirePerson(from: Store, link: LinkRecord): Promise<UserRecord> {
    const user = link.userId === null ? undefined : await from.users.find(link.userId);
    if (!user) throw linkInvalid();
    await requireStillMayHold(from, link, user.userId);
    return user;
  }

  async function setPassword(link: LinkRecord, input: { token: string; passwordHash: string }, context: SignInContext) {
    return store.transaction(async (tx) => {
      await links.use(tx, input.token);
      const user = await requirePerson(tx, link);
      const { userId } = user;
      const at = clock.now();
      const madeBy = madeByOf(link);
      await accounts.endCredentials(tx, userId);
      await tx.links.endOf(userId, at);
      // An identity that was linked while the address was unverified may belong to someone else.
      if (madeBy !== null || user.emailVerifiedAt === null) await tx.sso.removeIdentitiesOf(userId);
      // An identity that was linked later, by someone with a session, may also belong to someone else. Only the
      // identity with which the account began stays.
      else await tx.sso.removeIdentitiesOf(userId, user.createdAt + BEGINNING_MS);
      await tx.users.setPasswordHash(userId, input.passwordHash);
      if (link.isMailed) await tx.users.markVerified(userId, link.email, at);
      const act = { action: "user.password_reset", details: { isMailed: link.isMailed, ...(madeBy && { madeBy }) } };
      await accounts.recordEverywhere(tx, userId, act, { ...context.origin, userId });
      return user;
    });
  }

  return {
    /**
     * Sends a link if the account exists. The response is the same if it doesn't.
     *
     * @throws ApiError `mail_not_configured`, `rate_limited`
     */
    async request(email: string, context: SignInContext): Promise<void> {
      if (!post.canMail) throw notConfigured();
      takeTry(throttle, context.origin, email);
      afterwards.run("a password reset", () => mail(email));
    },

    /**
     * Makes a link for a member. If this server sends email, the link is mailed to them; otherwise it is returned to be
     * handed over.
     *
     * @throws ApiError `not_found`, `role_too_low` for an admin who would hold the link, `forbidden` for the actor's
     *   own account and for tokens that would hold the link of an admin or owner, `mail_failed`, `rate_limited`
     */
    async requestForMember(actor: Actor, userId: string): Promise<{ url: string | null; expiresAt: string }> {
      const member = existing(await store.in(actor.workspaceId).members.find(userId));
      const user = existing(await store.users.find(userId));
      if (userId === actor.userId) {
        throw forbidden("You can't create a reset link for yourself. Change your password in your profile.");
      }
      requireAbove(actor, member.role);
      if (!post.canMail) await requireMayHold(actor, member);
      takeTry(throttle, actor.origin ?? NOWHERE, user.email);
      const link = await store.transaction(async (tx) => {
        const details = { madeBy: actor.userId };
        await audit.record(tx, actor, actOn(userId, "member.reset_link_made", { isMailed: post.canMail }));
        // Someone else can sign in with this link, so the person is notified at their next sign-in.
        if (!post.canMail) await tx.users.noteResetLink(userId, actor.userId, clock.now());
        return links.add(tx, {
          purpose: "password_reset",
          userId,
          email: user.email,
          isMailed: post.canMail,
          lifetimeMs: MADE_LIFETIME_MS,
          details,
        });
      });
      const expiresAt = isoOf(link.expiresAt);
      if (!post.canMail) return { url: link.url, expiresAt };
      const madeBy = (await store.users.find(actor.userId))?.name ?? null;
      await post.send(user.email, { type: "password_reset", name: user.name, madeBy, ...link });
      return { url: null, expiresAt };
    },

    /**
     * Returns the account whose password the link sets, for a page that shows it before the person chooses a password.
     *
     * @throws ApiError `link_invalid`, with the same text for every reason; `rate_limited`
     */
    async check(token: string, origin: RequestOrigin): Promise<ResetOffer> {
      takeTry(confirmThrottle, origin);
      const link = await links.get(token, ["password_reset"]);
      const { email } = await requirePerson(store, link);
      // Only wrong links are counted, since the limit is against guessing.
      giveTryBack(confirmThrottle, origin);
      return { email, expiresAt: isoOf(link.expiresAt) };
    },

    /**
     * Sets the new password, ends every other credential of the account, and signs the person in.
     *
     * @throws ApiError `link_invalid`, `password_too_weak`, `rate_limited`, `forbidden` for a person in no workspace
     */
    async confirm(
      { token, password }: { token: string; password: string },
      context: SignInContext,
    ): Promise<OpenedSession> {
      takeTry(confirmThrottle, context.origin);
      const link = await links.get(token, ["password_reset"]);
      passwords.check(password, { email: link.email });
      const passwordHash = await passwords.hash(password);
      const user: UserRecord = await setPassword(link, { token, passwordHash }, context);
      const method = madeByOf(link) === null ? "by_link" : "by_admin_link";
      post.sendLater(user.email, { type: "password_changed", name: user.name, method });
      return store.transaction((tx) => sessions.enter(tx, user.userId, context));
    },
  };
}

/** Whether `userId` owns every workspace to which the other person belongs. */
async function isOwnerEverywhere(from: Store, userId: string, otherId: string): Promise<boolean> {
  const own = new Map((await from.users.membershipsOf(userId)).map((m) => [m.workspaceId, m.role]));
  const theirs = await from.users.membershipsOf(otherId);
  return theirs.length > 0 && theirs.every(({ workspaceId }) => own.get(workspaceId) === "owner");
}

/** The person who made a link for someone else. Null if the person requested the link themselves. */
function madeByOf(link: LinkRecord): string | null {
  const { madeBy } = link.details;
  return typeof madeBy === "string" ? madeBy : null;
}

function notConfigured(): ApiError {
  return new ApiError("mail_not_configured", {
    message: "This server does not send email.",
    hint: "Ask an owner of your workspace for a link.",
  });
}
