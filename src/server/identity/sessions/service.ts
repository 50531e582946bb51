import type { CursorCodec } from "#server/http/cursor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { wireForm } from "#server/http/wire-form.ts";
import type { Parts } from "#storage/records/parts.ts";
import { readPage } from "#server/http/pages.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { makeId, type Role, type Scope } from "#api/common.ts";
import { ApiError, isApiError, noSuchThing, forbidden } from "#api/errors.ts";
import { type Session, SessionRecord, type SignInBody, type sessionRoutes } from "#api/session.ts";
import type { SessionCookie } from "#server/http/cookies.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Afterwards } from "#server/identity/mail/afterwards.ts";
import { actOn } from "#storage/audit-act.ts";
import { isoOf } from "#core/instant.ts";
import { emailKeyOf, type UserRecord } from "#storage/records/people.ts";
import type { SessionRecordRow } from "#storage/records/sessions.ts";
import type { OpenedSession, SignInContext } from "./sign-in.ts";
import type { Store } from "#storage/records/store.ts";
import { unlessUnwritable } from "#storage/unless-unwritable.ts";
import type { AccountService } from "./accounts.ts";
import { keysOfTry } from "./tries.ts";
import type { Passwords } from "./passwords.ts";
import type { KnownBrowsers } from "./known-browsers.ts";
import { noticesOf } from "./notices.ts";
import { toUser } from "./user.ts";

export type SessionService = ReturnType<typeof makeSessionService>;

export interface SessionOptions extends Pick<Parts, "store" | "clock" | "randomBytes"> {
  audit: AuditRecorder;
  cursors: CursorCodec;
  passwords: Passwords;
  /** Limits sign-ins per network, and per person in a browser that is known for them. */
  throttle: Throttle;
  /** Limits sign-ins per account, over all networks that are not known for it. */
  accountThrottle: Throttle;
  knownBrowsers: Pick<KnownBrowsers, "idFor">;
  cookie: SessionCookie;
  accounts: AccountService;
  afterwards: Afterwards;
  mode: Session["mode"];
  signup: Session["signup"];
}

const DAY_MS = 86_400_000;
const IDLE_MS = 7 * DAY_MS;
const LIFETIME_MS = 30 * DAY_MS;
const LAST_SEEN_STEP_MS = 5 * 60_000;
const RECENT_MS = 15 * 60_000;
const MAX_USER_AGENT_CHARS = 200;

export function scopesOfRole(role: Role): Scope[] {
  return role === "member" ? ["mcp:read", "kb:api"] : ["mcp:read", "kb:api", "kb:admin"];
}

/**
 * Makes the service for web sessions. A session's secret is random and in a cookie; the store has its SHA-256.
 * Source: S6.
 */
export function makeSessionService(options: SessionOptions) {
  const { store, clock, randomBytes, passwords, throttle, cookie, audit, accounts, afterwards } = options;

  async function describe(
    from: Store,
    who: { userId: string; workspaceId: string; role: Role; scopes: readonly Scope[] },
    signedInAt: number,
  ) {
    const user = await from.users.find(who.userId);
    const workspace = await from.workspaces.find(who.workspaceId);
    // A membership has foreign keys, which guarantee that both rows exist.
    if (!user || !workspace) throw new Error(`No user or workspace for ${who.userId} in ${who.workspaceId}.`);
    const { mode, signup } = options;
    return {
      user: toUser(user),
      workspace: {
        id: workspace.workspaceId,
        name: workspace.name,
        timeZone: workspace.timeZone,
        secrets: workspace.secrets,
        createdAt: isoOf(workspace.createdAt),
      },
      role: who.role,
      scopes: [...who.scopes],
      mode,
      signup,
      notices: await noticesOf(from, who, { signedInAt, now: clock.now() }),
    };
  }

  /** When the person signed in. For a token the time is now, so that every request gets the notices. */
  async function signInOf({ credential }: Actor): Promise<number> {
    if (credential.type !== "session") return clock.now();
    return (await store.sessions.find(credential.id))?.createdAt ?? clock.now();
  }

  function isLive(session: SessionRecordRow): boolean {
    const at = clock.now();
    if (session.revokedAt !== null || session.expiresAt <= at) return false;
    return session.lastSeenAt + IDLE_MS > at;
  }

  async function endFormer(tx: Store, context: SignInContext): Promise<void> {
    if (context.formerSecret === null) return;
    const former = await tx.sessions.findByHash(hashSecret(context.formerSecret));
    if (former) await tx.sessions.revoke(former.sessionId, clock.now());
  }

  async function open(
    tx: Store,
    owner: { userId: string; workspaceId: string },
    context: SignInContext,
    kept?: Pick<SessionRecordRow, "authenticatedAt" | "expiresAt">,
  ) {
    const who = { userId: owner.userId, workspaceId: owner.workspaceId };
    const member = await tx.in(who.workspaceId).members.find(who.userId);
    if (!member) throw new Error(`${who.userId} is not a member of ${who.workspaceId}.`);
    // An attacker may have placed their session in the browser. It must not be used for someone else.
    await endFormer(tx, context);
    const secret = randomSecret(randomBytes);
    const at = clock.now();
    const sessionId = makeId("session", randomBytes);
    const expiresAt = kept?.expiresAt ?? at + LIFETIME_MS;
    await tx.sessions.insert({
      ...who,
      sessionId,
      tokenHash: hashSecret(secret),
      createdAt: at,
      authenticatedAt: kept?.authenticatedAt ?? at,
      lastSeenAt: at,
      expiresAt,
      revokedAt: null,
      userAgent: context.userAgent?.slice(0, MAX_USER_AGENT_CHARS) ?? null,
      ip: context.origin.clientIp,
    });
    await audit.recordSystem(tx, who.workspaceId, actOn(sessionId, "session.opened"), { ...context.origin, ...who });
    const session = await describe(tx, { ...who, role: member.role, scopes: scopesOfRole(member.role) }, at);
    return { session, setCookie: cookie.set(secret, Math.ceil((expiresAt - at) / 1_000)) };
  }

  async function enter(tx: Store, userId: string, context: SignInContext) {
    const [membership] = await tx.users.membershipsOf(userId);
    if (membership) return open(tx, { userId, workspaceId: membership.workspaceId }, context);
    const user = options.signup === "open" ? await tx.users.find(userId) : undefined;
    if (!user) throw forbidden("You are not a member of any workspace here.");
    const own = { ownerId: userId, name: `Workspace of ${user.name}`.slice(0, 120), timeZone: user.timeZone };
    return open(
      tx,
      { userId, workspaceId: await accounts.addWorkspace(tx, { ...own, origin: context.origin }) },
      context,
    );
  }

  async function prove(email: string, password: string, context: SignInContext) {
    const user = await store.users.findByEmail(email);
    const giveBack = takeSignIn(email, user, context);
    const isRight = await passwords.verify(user?.passwordHash ?? null, password);
    if (user && !isRight) afterwards.run("recording a refused sign-in", () => recordRefusal(user, context));
    if (!isRight || !user) throw signInFailed();
    // Only failures are counted, since the limit is against guessing.
    giveBack();
    if (user.passwordHash !== null && passwords.isOutdated(user.passwordHash)) {
      const renewed = await passwords.hash(password);
      await store.transaction(async (tx) => {
        // The new hash is stored only if the password is still the one that was verified: a reset in the meantime isn't
        // overwritten.
        const today = await tx.users.find(user.userId);
        if (today?.passwordHash === user.passwordHash) await tx.users.setPasswordHash(user.userId, renewed);
      });
    }
    return { userId: user.userId };
  }

  /**
   * Counts the try. A browser in which this person has signed in has a separate bucket, so that guessing at an account
   * can't lock its owner out. Guessing from many networks together reaches the account's own limit.
   *
   * @returns a function that takes the count back
   * @throws ApiError `rate_limited`
   */
  function takeSignIn(email: string, user: UserRecord | undefined, context: SignInContext): () => void {
    const browser = user && options.knownBrowsers.idFor(context.knownBrowser, user.userId);
    const taken: [Throttle, string][] =
      user && browser !== undefined
        ? [[throttle, `browser ${browser} ${user.userId}`]]
        : [
            ...keysOfTry(context.origin).map((key): [Throttle, string] => [throttle, key]),
            [options.accountThrottle, `account ${emailKeyOf(email)}`],
          ];
    for (const [bucket, key] of taken) bucket.take(key);
    return () => taken.forEach(([bucket, key]) => bucket.giveBack(key));
  }

  async function recordRefusal({ userId }: UserRecord, { origin }: SignInContext): Promise<void> {
    const act = { action: "session.refused", outcome: "refused" as const };
    await store.transaction((tx) => accounts.recordEverywhere(tx, userId, act, origin));
  }

  return {
    /**
     * Verifies a password and returns the person. Tries are limited per network and account, and separately in a known
     * browser.
     *
     * @throws ApiError `sign_in_failed`, also for an unknown account; `rate_limited`
     */
    prove,
    /**
     * Opens a session for a person who has just proved their identity, in the transaction that made them a member.
     *
     * @param kept values kept from the previous session; without it, the person proved their identity now
     */
    open,
    /**
     * Opens a session in the workspace that the person joined first. If sign-up is open, a person who no longer belongs
     * to any workspace gets a new one.
     *
     * @throws ApiError `forbidden` for a person who belongs to no workspace
     */
    enter,
    /** Returns the actor's session in the form of `GET /api/session`. */
    describe: async (actor: Actor): Promise<Session> => describe(store, actor, await signInOf(actor)),

    /**
     * @throws ApiError `sign_in_failed`, `rate_limited`, `forbidden` for a person who no longer belongs to any
     *   workspace
     */
    async signIn(body: SignInBody, context: SignInContext): Promise<OpenedSession> {
      const { userId } = await prove(body.email, body.password, context);
      return store.transaction(async (tx) => {
        if (body.timeZone !== undefined) await tx.users.fillTimeZone(userId, body.timeZone);
        return enter(tx, userId, context);
      });
    },

    /**
     * Switches to another of the person's workspaces: opens a new session and ends the old one.
     *
     * @throws ApiError `not_found`
     */
    async switchWorkspace(actor: Actor, workspaceId: string, context: SignInContext): Promise<OpenedSession> {
      return store.transaction(async (tx) => {
        const former = await tx.sessions.find(actor.credential.id);
        const member = await tx.in(workspaceId).members.find(actor.userId);
        // The session may have ended in the meantime, and must then not continue under a new id.
        if (!former || !isLive(former) || !member) throw noSuchThing();
        await tx.sessions.revoke(former.sessionId, clock.now());
        return open(tx, { userId: actor.userId, workspaceId }, context, former);
      });
    },

    /**
     * Checks that the person proved their identity recently, since a session that was left open must not allow such
     * actions.
     *
     * @throws ApiError `recent_sign_in_required` if it was more than 15 minutes ago and no password is given;
     *   `password_wrong`, `rate_limited`
     */
    async requireRecent(actor: Actor, password: string | undefined, context: SignInContext): Promise<void> {
      const session = await store.sessions.find(actor.credential.id);
      if (session && clock.now() - session.authenticatedAt <= RECENT_MS) return;
      const user = await store.users.find(actor.userId);
      if (!user || password === undefined) {
        throw new ApiError("recent_sign_in_required", {
          message: "You signed in more than 15 minutes ago. Give your password, or sign in again.",
          field: "password",
        });
      }
      await prove(user.email, password, context).catch((error: unknown) => {
        if (!isApiError(error, "sign_in_failed")) throw error;
        throw new ApiError("password_wrong", { message: "The password is wrong.", field: "password" });
      });
    },

    /** Ends the session. @returns the `Set-Cookie` value that clears the cookie */
    async signOut(actor: Actor): Promise<string> {
      await store.sessions.revoke(actor.credential.id, clock.now());
      return cookie.clear();
    },

    async list({ actor, query }: MemberCall<typeof sessionRoutes.list>) {
      const { userId, workspaceId } = actor;
      const of = { userId, workspaceId, now: clock.now(), idleMs: IDLE_MS };
      const { page, nextCursor } = await readPage(
        options,
        actor,
        {
          route: "GET /api/sessions",
          kind: "session",
          read: (wanted) => store.sessions.list({ ...of, ...wanted }),
          positionOf: ({ createdAt, sessionId }) => ({ value: createdAt, id: sessionId }),
        },
        query,
      );
      return { sessions: page.map((row) => toRecord(row, actor.credential.id)), nextCursor };
    },

    /** Ends one of the person's own sessions. @throws ApiError `not_found` */
    async revoke(actor: Actor, sessionId: string): Promise<void> {
      const session = await store.sessions.find(sessionId);
      const isOwn = session?.userId === actor.userId && session.workspaceId === actor.workspaceId;
      if (!session || !isOwn || !isLive(session)) {
        throw noSuchThing();
      }
      await store.transaction(async (tx) => {
        await tx.sessions.revoke(sessionId, clock.now());
        await audit.record(tx, actor, actOn(sessionId, "session.ended"));
      });
    },

    /**
     * Returns the current actor of a session's secret. Undefined if the session is unknown, ended or idle. Writes
     * `lastSeenAt`.
     */
    async findActor(secret: string): Promise<Actor | undefined> {
      const session = await store.sessions.findByHash(hashSecret(secret));
      if (!session || !isLive(session)) return undefined;
      if (clock.now() - session.lastSeenAt >= LAST_SEEN_STEP_MS) {
        await unlessUnwritable(store.sessions.touch(session.sessionId, clock.now()));
      }
      const { workspaceId, userId, role, timeZone } = session;
      const credential = { type: "session" as const, id: session.sessionId };
      return { workspaceId, userId, role, scopes: scopesOfRole(role), timeZone, credential };
    },

    /** Deletes sessions that ended at least a day ago, since they are no longer read. */
    async sweep(): Promise<void> {
      const dayAgo = clock.now() - DAY_MS;
      await store.sessions.sweep(dayAgo, dayAgo - IDLE_MS);
    },
  };
}

function toRecord(row: SessionRecordRow, currentId: string): SessionRecord {
  return wireForm(SessionRecord, row, { id: row.sessionId, current: row.sessionId === currentId });
}

/** The error has the same text for every reason. Source: S25. */
function signInFailed(): ApiError {
  return new ApiError("sign_in_failed", { message: "The email address or the password is wrong." });
}
