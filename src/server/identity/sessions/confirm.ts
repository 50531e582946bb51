import type { Parts } from "#storage/records/parts.ts";
import { assertNever, isApiError } from "#api/errors.ts";
import type { ConfirmBody, ConfirmResult } from "#api/session.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { Post } from "#server/identity/mail/post.ts";
import type { LinkRecord } from "#storage/records/links.ts";
import { emailKeyOf, type UserRecord } from "#storage/records/people.ts";
import type { OpenedSession, SignInContext } from "./sign-in.ts";
import type { AccountService } from "./accounts.ts";
import { takeTry } from "./tries.ts";
import { linkInvalid, type LinkService } from "./links.ts";
import type { SessionService } from "./service.ts";
import { passwordNeeded, type SignUpService } from "./sign-up.ts";

export interface ConfirmService {
  /**
   * Performs the action of a mailed link after its holder has proved that they requested it.
   *
   * @throws ApiError `link_invalid`, `password_needed`, `rate_limited`; those of a sign-up
   */
  confirm(
    body: ConfirmBody,
    browserSecret: string | null,
    context: SignInContext,
  ): Promise<{ purpose: ConfirmResult["purpose"]; opened: OpenedSession | null }>;
}

/**
 * Makes the service for links that verify an address. `emailVerifiedAt` is set by these links, by mailed invitations
 * and resets, and by SSO. Source: S3.
 */
export function makeConfirmService(
  options: Pick<Parts, "store" | "clock"> & {
    throttle: Throttle;
    accounts: AccountService;
    links: LinkService;
    sessions: Pick<SessionService, "findActor" | "prove">;
    signUp: Pick<SignUpService, "finish">;
    post: Post;
  },
): ConfirmService {
  const { store, clock, throttle, accounts, links, sessions, signUp, post } = options;

  async function requireAsker(user: UserRecord, password: string | undefined, context: SignInContext): Promise<void> {
    const { formerSecret } = context;
    const actor = formerSecret === null ? undefined : await sessions.findActor(formerSecret);
    if (actor?.userId === user.userId) return;
    if (password === undefined) throw passwordNeeded();
    await sessions.prove(user.email, password, context).catch((error: unknown) => {
      throw isApiError(error, "sign_in_failed") ? passwordNeeded() : error;
    });
  }

  async function verify(link: LinkRecord, token: string, user: UserRecord, context: SignInContext): Promise<void> {
    await store.transaction(async (tx) => {
      await links.use(tx, token);
      const today = await tx.users.find(user.userId);
      if (!today || emailKeyOf(today.email) !== emailKeyOf(link.email)) throw linkInvalid();
      await tx.users.markVerified(user.userId, link.email, clock.now());
      await accounts.recordEverywhere(tx, user.userId, { action: "user.email_verified" }, byPerson(user, context));
    });
  }

  async function changeEmail(link: LinkRecord, token: string, user: UserRecord, context: SignInContext): Promise<void> {
    const change = store.transaction(async (tx) => {
      await links.use(tx, token);
      const at = clock.now();
      await tx.users.setEmail(user.userId, link.email, at);
      // Links that were sent to the previous address stop working.
      await tx.links.endOf(user.userId, at);
      await accounts.recordEverywhere(tx, user.userId, { action: "user.email_changed" }, byPerson(user, context));
    });
    await change.catch((error: unknown) => {
      throw isApiError(error, "email_taken") ? linkInvalid() : error;
    });
    post.sendLater(user.email, { type: "email_changed", name: user.name, newEmail: link.email });
  }

  return {
    async confirm({ token, password }, browserSecret, context) {
      takeTry(throttle, context.origin);
      const link = await links.get(token, ["sign_up", "verification", "email_change"]);
      if (link.purpose === "sign_up") {
        return { purpose: "sign_up", opened: await signUp.finish(link, { token, password, browserSecret }, context) };
      }
      const user = link.userId === null ? undefined : await store.users.find(link.userId);
      if (!user) throw linkInvalid();
      await requireAsker(user, password, context);
      switch (link.purpose) {
        case "verification":
          await verify(link, token, user, context);
          return { purpose: "verification", opened: null };
        case "email_change":
          await changeEmail(link, token, user, context);
          return { purpose: "email_change", opened: null };
        case "password_reset":
          throw linkInvalid();
        default:
          return assertNever(link.purpose);
      }
    },
  };
}

function byPerson(user: UserRecord, { origin }: SignInContext) {
  return { ...origin, userId: user.userId };
}
