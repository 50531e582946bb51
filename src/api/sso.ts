import { ProviderReturn, ReturnTo } from "./common.ts";
import { answer, get, post, z } from "./route.ts";
import { Password } from "./session.ts";

/**
 * Why a person returns from the identity provider without success: `/sign-in?error=<this>`, or `/settings/profile?error=<this>` when they went to
 * link it. A successful link ends at `/settings/profile?sso=linked`.
 */
export const SsoProblem = z.enum([
  /** The person or the provider refused. */
  "sso_denied",
  /** The flow took over 10 minutes, was already used, or began in another browser. */
  "sso_expired",
  /** The provider can't be reached now. */
  "sso_unavailable",
  /** The provider's answer is invalid. */
  "sso_failed",
  /** No account has this identity, and the identity doesn't allow signing up. */
  "sign_up_closed",
  /** An account already has this address: sign in with the password, then link the identity. */
  "email_taken",
  /** The provider returns no address. */
  "no_email",
  /** The person is no longer a member of any workspace. */
  "no_workspace",
  /** The identity already opens another account. */
  "identity_taken",
  /** The session that requested the link has ended. */
  "session_ended",
]);
export type SsoProblem = z.infer<typeof SsoProblem>;

/** Single sign-on with OpenID Connect. A browser opens these addresses, and they answer with redirects. */
export const ssoRoutes = {
  authorize: get("/api/sso/authorize", "Go to the identity provider", {
    query: { returnTo: ReturnTo.optional() },
    302: { description: "Redirect to the provider" },
    problems: ["sso_not_configured", "source_unavailable"],
  }),
  callback: get("/api/sso/callback", "Return from the identity provider", {
    query: ProviderReturn,
    302: { description: "Signed in, or redirected with a reason" },
    problems: ["sso_not_configured"],
  }),
  link: post("/api/sso/link", "Link your account to the identity provider; returns the address to open", {
    body: z.object({ password: Password.optional() }),
    200: answer("The address to open", { url: z.string() }),
    problems: ["sso_not_configured", "recent_sign_in_required", "password_wrong", "source_unavailable"],
  }),
};
