import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import { ApiError, isApiError, existing } from "#api/errors.ts";
import type { ChangeEmailBody, ChangePasswordBody, PatchProfileBody, SsoIdentity, User } from "#api/session.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Afterwards } from "#server/identity/mail/afterwards.ts";
import { actOn } from "#storage/audit-act.ts";
import { isoOf } from "#core/instant.ts";
import type { Post } from "#server/identity/mail/post.ts";
import type { UserRecord } from "#storage/records/people.ts";
import type { SignInContext } from "./sign-in.ts";
import type { Store } from "#storage/records/store.ts";
import type { AccountService } from "./accounts.ts";
import { takeTry } from "./tries.ts";
import type { LinkService } from "./links.ts";
import type { Passwords } from "./passwords.ts";
import type { SessionService } from "./service.ts";
import { toUser } from "./user.ts";

export type ProfileService = ReturnType<typeof makeProfileService>;

const LIFETIME_MS = 86_400_000;

/** Makes the service for a person's changes to their own account. */
export function makeProfileService(
  options: Pick<Parts, "store" | "clock"> & {
    audit: AuditRecorder;
    passwords: Passwords;
    /** Limits attempts per address and account, since each may send a message. */
    throttle: Throttle;
    accounts: AccountService;
    links: LinkService;
    sessions: Pick<SessionService, "prove">;
    post: Post;
    afterwards: Afterwards;
  },
) {
  const { store, clock, passwords, throttle, accounts, links, sessions, audit, post, afterwards } = options;

  async function getUser(from: Store, { userId }: Pick<Actor, "userId">): Promise<UserRecord> {
    return existing(await from.users.find(userId));
  }

  async function requirePassword(user: UserRecord, password: string, field: string, context: SignInContext) {
    await sessions.prove(user.email, password, context).catch((error: unknown) => {
      throw isApiError(error, "sign_in_failed") ? wrongPassword(field) : error;
    });
  }

  /** Runs after the response, so that the response doesn't reveal whether the address is free. */
  async function mailNewAddress(user: UserRecord, email: string): Promise<void> {
    const other = await store.users.findByEmail(email);
    if (other && other.userId !== user.userId) {
      return post.send(other.email, { type: "account_exists", name: other.name });
    }
    const link = await store.transaction(async (tx) => {
      // Only the link of the last request works.
      await tx.links.endOf(user.userId, clock.now(), "email_change");
      const { userId } = user;
      return links.add(tx, { purpose: "email_change", userId, email, isMailed: true, lifetimeMs: LIFETIME_MS });
    });
    await post.send(email, { type: "email_change", name: user.name, ...link });
  }

  return {
    async update(actor: Actor, body: PatchProfileBody): Promise<{ user: User }> {
      return store.transaction(async (tx) => {
        if (body.name !== undefined) await tx.users.setName(actor.userId, body.name);
        if (body.timeZone !== undefined) await tx.users.setTimeZone(actor.userId, body.timeZone);
        const act = actOn(actor.userId, "user.changed");
        await audit.record(tx, actor, { ...act, details: { fields: Object.keys(body) } });
        return { user: toUser(await getUser(tx, actor)) };
      });
    },

    /**
     * Changes the password. Ends the person's other sessions and the clients that they authorized. Tokens made in a
     * session stay valid.
     *
     * @throws ApiError `password_wrong`, `password_too_weak`, `rate_limited`
     */
    async changePassword(
      actor: Actor,
      { currentPassword, newPassword }: ChangePasswordBody,
      context: SignInContext,
    ): Promise<void> {
      const user = await getUser(store, actor);
      await requirePassword(user, currentPassword, "currentPassword", context);
      passwords.check(newPassword, user);
      const passwordHash = await passwords.hash(newPassword);
      await store.transaction(async (tx) => {
        // If the password was reset in the meantime, the change is refused, so that a person with the previous password
        // can't take the account back.
        if ((await getUser(tx, actor)).passwordHash !== user.passwordHash) throw wrongPassword("currentPassword");
        await tx.users.setPasswordHash(user.userId, passwordHash);
        await accounts.endCredentials(tx, user.userId, { sessionId: actor.credential.id, tokens: true });
        await tx.links.endOf(user.userId, clock.now());
        const act = { action: "user.password_changed" };
        await accounts.recordEverywhere(tx, user.userId, act, { ...context.origin, userId: user.userId });
      });
      post.sendLater(user.email, { type: "password_changed", name: user.name, method: "by_person" });
    },

    /**
     * Changes the address. If this server sends email, the new address first gets a link (`sent`), whether or not it is
     * free. Otherwise it applies at once and is unverified.
     *
     * @throws ApiError `password_wrong`, `rate_limited`; `email_taken` if no email is sent
     */
    async changeEmail(
      actor: Actor,
      { email, password }: ChangeEmailBody,
      context: SignInContext,
    ): Promise<{ user: User; sent: boolean }> {
      const user = await getUser(store, actor);
      await requirePassword(user, password, "password", context);
      takeTry(throttle, context.origin, email);
      if (post.canMail) {
        afterwards.run("a change of address", () => mailNewAddress(user, email));
        return { user: toUser(user), sent: true };
      }
      return store.transaction(async (tx) => {
        await tx.users.setEmail(user.userId, email, null);
        await tx.links.endOf(user.userId, clock.now());
        const act = { action: "user.email_changed" };
        await accounts.recordEverywhere(tx, user.userId, act, { ...context.origin, userId: user.userId });
        return { user: toUser(await getUser(tx, actor)), sent: false };
      });
    },

    /**
     * Sends the person a link that verifies their address.
     *
     * @throws ApiError `already_verified`, `mail_not_configured`, `mail_failed`, `rate_limited`
     */
    async requestVerification(actor: Actor, context: SignInContext): Promise<{ sent: true }> {
      const user = await getUser(store, actor);
      if (user.emailVerifiedAt !== null) {
        throw new ApiError("already_verified", { message: `${user.email} is already confirmed.` });
      }
      if (!post.canMail) {
        throw new ApiError("mail_not_configured", { message: "This server does not send email." });
      }
      takeTry(throttle, context.origin, user.email);
      const { userId, email, name } = user;
      const link = await store.transaction(async (tx) => {
        await tx.links.endOf(userId, clock.now(), "verification");
        return links.add(tx, { purpose: "verification", userId, email, isMailed: true, lifetimeMs: LIFETIME_MS });
      });
      await post.send(email, { type: "verification", name, ...link });
      return { sent: true };
    },

    async identities(actor: Actor): Promise<{ identities: SsoIdentity[]; nextCursor: null }> {
      const rows = await store.sso.identitiesOf(actor.userId);
      const identities = rows.map(({ issuer, label, createdAt }) => ({
        issuer,
        label,
        createdAt: isoOf(createdAt),
      }));
      return { identities, nextCursor: null };
    },
  };
}

function wrongPassword(field: string): ApiError {
  return new ApiError("password_wrong", {
    message: "The password is wrong.",
    hint: "If you sign in without a password, reset your password first.",
    field,
  });
}
