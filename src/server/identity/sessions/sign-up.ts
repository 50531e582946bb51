import type { Parts } from "#storage/records/parts.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import type { Session, SignUpBody } from "#api/session.ts";
import type { SecretCookie } from "#server/http/cookies.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { Afterwards } from "#server/identity/mail/afterwards.ts";
import type { Post } from "#server/identity/mail/post.ts";
import type { LinkRecord } from "#storage/records/links.ts";
import type { OpenedSession, SignInContext } from "./sign-in.ts";
import type { Store } from "#storage/records/store.ts";
import type { AccountService } from "./accounts.ts";
import { takeTry } from "./tries.ts";
import { linkInvalid, type LinkService } from "./links.ts";
import type { Passwords } from "./passwords.ts";
import type { SessionService } from "./service.ts";

export type SignUpService = ReturnType<typeof makeSignUpService>;

export interface SignUpOptions extends Pick<Parts, "store" | "clock" | "randomBytes"> {
  passwords: Passwords;
  /** Limits tries per address and account. Each try costs a hash, and may send a message. */
  throttle: Throttle;
  accounts: AccountService;
  links: LinkService;
  sessions: Pick<SessionService, "open">;
  post: Post;
  afterwards: Afterwards;
  /** The cookie that recognizes the browser of the sign-up. */
  cookie: SecretCookie;
  mode: Session["mode"];
  signup: Session["signup"];
}

const LIFETIME_MS = 86_400_000;

/** The stored data of a pending sign-up. */
interface Pending {
  name: string;
  passwordHash: string;
  workspaceName: string;
  timeZone: string | null;
  browserHash: string;
}

/** Makes the service for self-service sign-up. Source: docs/decisions/0017. */
export function makeSignUpService(options: SignUpOptions) {
  const { store, clock, randomBytes, passwords, throttle, accounts, links, sessions, post, afterwards, cookie } =
    options;

  async function requireOpen(): Promise<void> {
    if (options.signup !== "open") {
      throw new ApiError("sign_up_closed", {
        message: "Sign-up is disabled on this server.",
        hint: "Ask an admin of the workspace for an invitation.",
      });
    }
    // The operator must create their own account first. In managed mode there is none to wait for.
    if (options.mode === "self-hosted" && (await store.installation.state()).completedAt === null) {
      throw new ApiError("onboarding_needed", { message: "This server still needs its first admin." });
    }
  }

  async function make(
    tx: Store,
    who: Omit<Pending, "browserHash"> & { email: string; verifiedAt: number | null },
    context: SignInContext,
  ) {
    const { email, name, passwordHash, timeZone, verifiedAt } = who;
    const userId = await accounts.add(tx, { email, name, passwordHash, timeZone, emailVerifiedAt: verifiedAt });
    const workspace = { ownerId: userId, name: who.workspaceName, timeZone, origin: context.origin };
    const workspaceId = await accounts.addWorkspace(tx, workspace);
    return sessions.open(tx, { userId, workspaceId }, context);
  }

  /** Runs after the response, so that the content and time of the response don't depend on it. */
  async function mail(email: string, pending: Pending): Promise<void> {
    const known = await store.users.findByEmail(email);
    if (known) return post.send(known.email, { type: "account_exists", name: known.name });
    const link = await store.transaction((tx) =>
      links.add(tx, {
        purpose: "sign_up",
        userId: null,
        email,
        isMailed: true,
        lifetimeMs: LIFETIME_MS,
        details: { ...pending },
      }),
    );
    await post.send(email, { type: "sign_up", name: pending.name, ...link });
  }

  async function requireAsker(
    link: LinkRecord,
    pending: Pending,
    input: { password?: string | undefined; browserSecret: string | null },
    context: SignInContext,
  ): Promise<void> {
    if (input.browserSecret !== null && hashSecret(input.browserSecret) === pending.browserHash) return;
    if (input.password === undefined) throw passwordNeeded();
    takeTry(throttle, context.origin, link.email);
    if (!(await passwords.verify(pending.passwordHash, input.password))) throw passwordNeeded();
  }

  return {
    /**
     * Mails a link that creates an account with its own workspace. The response is the same, in text and in time, for
     * known and unknown addresses. Without email that would be impossible, so sign-up is refused.
     *
     * @returns the cookie that recognizes the browser
     * @throws ApiError `sign_up_closed`, `onboarding_needed`, `password_too_weak`, `rate_limited`,
     *   `mail_not_configured`
     */
    async signUp(body: SignUpBody, context: SignInContext): Promise<{ setCookie: string }> {
      await requireOpen();
      // The settings already ensure this; it is checked a second time.
      if (!post.canMail) {
        throw new ApiError("mail_not_configured", {
          message: "Sign-up needs email, and this server does not send any.",
        });
      }
      takeTry(throttle, context.origin, body.email);
      passwords.check(body.password, body);
      const passwordHash = await passwords.hash(body.password);
      const { name, workspaceName, timeZone = null } = body;
      const secret = randomSecret(randomBytes);
      const pending = { name, passwordHash, workspaceName, timeZone, browserHash: hashSecret(secret) };
      afterwards.run("a sign-up", () => mail(body.email, pending));
      return { setCookie: cookie.set(secret, LIFETIME_MS / 1_000) };
    },

    /**
     * Creates the account after its link was confirmed, and signs the person in.
     *
     * @param browserSecret the secret of the cookie that the sign-up set, if the browser sent it
     * @throws ApiError `link_invalid`, `password_needed`, `sign_up_closed`, `rate_limited`
     */
    async finish(
      link: LinkRecord,
      input: { token: string; password?: string | undefined; browserSecret: string | null },
      context: SignInContext,
    ): Promise<OpenedSession> {
      await requireOpen();
      // `mail` has written these details.
      const pending = link.details as unknown as Pending;
      await requireAsker(link, pending, input, context);
      try {
        return await store.transaction(async (tx) => {
          await links.use(tx, input.token);
          return make(tx, { ...pending, email: link.email, verifiedAt: clock.now() }, context);
        });
      } catch (error) {
        // Someone else has created an account with this address in the meantime.
        throw isApiError(error, "email_taken") ? linkInvalid() : error;
      }
    },
  };
}

/**
 * The person who clicks the link isn't always the one who signed up. The click alone must not verify an address for
 * someone else. Source: S3.
 */
export function passwordNeeded(): ApiError {
  return new ApiError("password_needed", {
    message: "Enter the password of the account, or open the link in the browser where you asked for it.",
    field: "password",
  });
}
