import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import { safeReturnTo } from "#api/return-to.ts";
import type { Session } from "#api/session.ts";
import type { SsoProblem } from "#api/sso.ts";
import type { Actor } from "#storage/access/actor.ts";
import { actOn } from "#storage/audit-act.ts";
import type { OpenedSession, SignInContext } from "#server/identity/sessions/sign-in.ts";
import type { AccountService } from "#server/identity/sessions/accounts.ts";
import type { SessionService } from "#server/identity/sessions/service.ts";
import type { StandingInvitations } from "#server/identity/sessions/standing-invitations.ts";
import { emailKeyOf } from "#storage/records/people.ts";
import type { Store } from "#storage/records/store.ts";
import type { Provider, ProvenIdentity, SsoSettings } from "./provider.ts";
import type { Trips } from "./trips.ts";

/** The browser's next address, and the secret of the cookie to set. */
export interface Departure {
  url: string;
  browserSecret: string;
}

/** The page to which a returning browser is redirected, and the session if one was opened. */
export interface Arrival {
  /** The path of a page of this server. */
  path: string;
  opened: OpenedSession | null;
}

export type SsoService = ReturnType<typeof makeSsoService>;

export interface SsoOptions extends Pick<Parts, "store" | "clock" | "log"> {
  audit: AuditRecorder;
  trips: Trips;
  /** Undefined if no provider is configured. */
  at: { provider: Provider; settings: SsoSettings } | undefined;
  sessions: Pick<SessionService, "enter" | "open" | "findActor" | "requireRecent">;
  accounts: Pick<AccountService, "add" | "addWorkspace" | "recordEverywhere">;
  standingInvitations: Pick<StandingInvitations, "endFallenOf">;
  takeTry(context: SignInContext): void;
  mode: Session["mode"];
  signup: Session["signup"];
}

/** Ends a sign-in at a page that explains the failure. */
class Stranded extends Error {
  readonly problem: SsoProblem;
  constructor(problem: SsoProblem, cause?: unknown) {
    super(problem, { cause });
    this.problem = problem;
  }
}

const LINK_PAGE = "/settings/profile";

/**
 * Makes the service for single sign-on. An account is identified by (issuer, subject) alone; an equal address never
 * links two accounts. Source: S3.
 */
export function makeSsoService(options: SsoOptions) {
  const { store, clock, log, audit, trips, sessions, accounts, takeTry, mode, signup } = options;

  function requireProvider() {
    if (options.at) return options.at;
    throw new ApiError("sso_not_configured", { message: "Single sign-on is not set up on this server." });
  }

  async function setOff(purpose: { sessionId: string | null; returnTo: string }): Promise<Departure> {
    const { provider } = requireProvider();
    const { trip, browserSecret } = await trips.begin(purpose);
    return { url: await provider.addressFor(trip), browserSecret };
  }

  /** Whether the provider's report verifies this address. Source: S3. */
  function proves({ email, isEmailVerified }: ProvenIdentity): boolean {
    if (email === null || !isEmailVerified) return false;
    return requireProvider().settings.domains.includes(emailKeyOf(email).slice(email.lastIndexOf("@") + 1));
  }

  async function enterKnown(tx: Store, userId: string, identity: ProvenIdentity, context: SignInContext) {
    if (identity.email !== null && proves(identity)) {
      await tx.users.markVerified(userId, identity.email, clock.now());
    }
    return sessions.enter(tx, userId, context).catch((error: unknown) => {
      throw isApiError(error, "forbidden") ? new Stranded("no_workspace", error) : error;
    });
  }

  /** On a self-hosted server, the first admin must exist before anyone else can sign in. */
  async function isOpen(tx: Store): Promise<boolean> {
    return signup === "open" && (mode === "managed" || (await tx.installation.state()).completedAt !== null);
  }

  /**
   * Signs in a new person. If sign-up is open, anyone can enter; otherwise the person needs an open invitation of an
   * address that the provider verifies.
   */
  async function enterNew(tx: Store, identity: ProvenIdentity, context: SignInContext): Promise<OpenedSession> {
    const { email } = identity;
    if (email === null) throw new Stranded("no_email");
    const at = clock.now();
    const isProven = proves(identity);
    const isForAll = await isOpen(tx);
    // If sign-up is open, anyone may have invited the person, so they can accept an invitation only by its link.
    const [invitation] = isProven && !isForAll ? await tx.workspaces.listOpenInvitationsOf(email, at) : [];
    if (!invitation && !isForAll) throw new Stranded("sign_up_closed");
    // The account may belong to someone else, so its holder has to link it themselves.
    if (await tx.users.findByEmail(email)) throw new Stranded("email_taken");
    const name = identity.name ?? email.slice(0, email.indexOf("@")).slice(0, 120);
    const userId = await accounts.add(tx, {
      email,
      name,
      passwordHash: null,
      emailVerifiedAt: isProven ? at : null,
      timeZone: null,
    });
    await keepIdentity(tx, userId, identity);
    // If sign-up is open, `enter` creates a workspace for the person.
    if (!invitation) return sessions.enter(tx, userId, context);
    const { workspaceId, invitationId, role } = invitation;
    const workspace = tx.in(workspaceId);
    if (!(await workspace.invitations.accept(invitationId, at))) throw new Stranded("sign_up_closed");
    await workspace.members.insert({ userId, role, joinedAt: at });
    const act = actOn(invitationId, "invitation.accepted");
    await audit.recordSystem(
      tx,
      workspaceId,
      { ...act, details: { role, isSso: true } },
      { userId, ...context.origin },
    );
    return sessions.open(tx, { userId, workspaceId }, context);
  }

  async function keepIdentity(tx: Store, userId: string, { issuer, subject, email, name }: ProvenIdentity) {
    const label = email ?? name ?? subject.slice(0, 100);
    const isNew = await tx.sso.insertIdentity({ issuer, subject, userId, label, createdAt: clock.now() });
    if (!isNew) throw new Stranded("identity_taken");
  }

  async function enter(identity: ProvenIdentity, context: SignInContext): Promise<OpenedSession> {
    // Ends invitations whose sender may no longer give the role. It runs in a separate transaction, before a refusal
    // below rolls back.
    if (identity.email !== null && proves(identity)) await options.standingInvitations.endFallenOf(identity.email);
    return store.transaction(async (tx) => {
      const known = await tx.sso.findIdentity(identity.issuer, identity.subject);
      return known ? enterKnown(tx, known.userId, identity, context) : enterNew(tx, identity, context);
    });
  }

  async function linkTo(sessionId: string, identity: ProvenIdentity, context: SignInContext): Promise<void> {
    const { formerSecret, origin } = context;
    const actor = formerSecret === null ? undefined : await sessions.findActor(formerSecret);
    if (actor?.credential.id !== sessionId) throw new Stranded("session_ended");
    const { userId } = actor;
    await store.transaction(async (tx) => {
      const known = await tx.sso.findIdentity(identity.issuer, identity.subject);
      if (known?.userId === userId) return;
      await keepIdentity(tx, userId, identity);
      if (identity.email !== null && proves(identity)) {
        await tx.users.markVerified(userId, identity.email, clock.now());
      }
      await accounts.recordEverywhere(tx, userId, { action: "user.sso_linked" }, { ...origin, userId });
    });
  }

  async function finish(query: string, browserSecret: string | null, context: SignInContext): Promise<Arrival> {
    const { provider } = requireProvider();
    const parameters = new URLSearchParams(query);
    const returned = await trips.end(parameters.get("state") ?? "", browserSecret);
    if (!returned) throw new Stranded("sso_expired");
    try {
      if (parameters.has("error")) throw new Stranded("sso_denied");
      const identity = await provider.redeem(query, returned.trip);
      if (returned.sessionId === null) {
        return { path: returned.returnTo, opened: await enter(identity, context) };
      }
      await linkTo(returned.sessionId, identity, context);
      return { path: `${LINK_PAGE}?sso=linked`, opened: null };
    } catch (error) {
      const problem = problemOf(error);
      if (problem === undefined) throw error;
      // The text from the provider stays in `cause`. The log shows which check of kb failed.
      log.warn({ problem, error: error instanceof Error ? String(error.cause ?? error.message) : "" }, "sso");
      const page = returned.sessionId === null ? "/sign-in" : LINK_PAGE;
      return { path: `${page}?error=${problem}`, opened: null };
    }
  }

  return {
    /**
     * Redirects to the provider, or to a page that explains the failure.
     *
     * @throws ApiError `sso_not_configured`, `rate_limited`
     */
    async depart(returnTo: string | undefined, context: SignInContext): Promise<Departure | { url: string }> {
      requireProvider();
      takeTry(context);
      return setOff({ sessionId: null, returnTo: safeReturnTo(returnTo) }).catch((error: unknown) => {
        const problem = problemOf(error);
        if (problem === undefined) throw error;
        return { url: `/sign-in?error=${problem}` };
      });
    },

    /**
     * Handles the callback. Never throws for errors of the provider or the browser, since the page to which it
     * redirects reports them.
     */
    async arrive(query: string, browserSecret: string | null, context: SignInContext): Promise<Arrival> {
      takeTry(context);
      return finish(query, browserSecret, context).catch((error: unknown) => {
        const problem = problemOf(error);
        if (problem === undefined) throw error;
        return { path: `/sign-in?error=${problem}`, opened: null };
      });
    },

    /**
     * Redirects a signed-in person to the provider, to link their account.
     *
     * @throws ApiError `sso_not_configured`, `recent_sign_in_required`, `password_wrong`, `source_unavailable`
     */
    async link(actor: Actor, password: string | undefined, context: SignInContext): Promise<Departure> {
      requireProvider();
      await sessions.requireRecent(actor, password, context);
      return setOff({ sessionId: actor.credential.id, returnTo: LINK_PAGE });
    },
  };
}

function problemOf(error: unknown): SsoProblem | undefined {
  if (error instanceof Stranded) return error.problem;
  if (isApiError(error, "sso_failed")) return "sso_failed";
  if (isApiError(error, "source_unavailable")) return "sso_unavailable";
  if (isApiError(error, "email_taken")) return "email_taken";
  return undefined;
}
