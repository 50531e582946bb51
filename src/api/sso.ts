import { answer, body, createRoute, problems, z } from "./route.ts";
import { Password } from "./session.ts";

/**
 * Why a person comes back from the identity provider without success: `/sign-in?error=<this>`, or
 * `/settings/profile?error=<this>` when they went to link it. A successful link ends at `/settings/profile?sso=linked`.
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
  /** No one here has this identity, and it doesn't grant access by itself. */
  "sign_up_closed",
  /** There is an account with its address: sign in with the password, then link. */
  "email_taken",
  /** The provider returns no address. */
  "no_email",
  /** The person is no longer in any workspace. */
  "no_workspace",
  /** The identity already opens another account. */
  "identity_taken",
  /** The session that requested the link has ended. */
  "session_ended",
]);
export type SsoProblem = z.infer<typeof SsoProblem>;

/** Single sign-on with OpenID Connect: addresses for a browser, which answer with redirects. */
export const ssoRoutes = {
  authorize: createRoute({
    method: "get",
    path: "/api/sso/authorize",
    summary: "Go to the identity provider",
    request: { query: z.object({ returnTo: z.string().max(2000).optional() }) },
    responses: {
      302: { description: "Redirect to the provider" },
      default: problems("sso_not_configured", "source_unavailable"),
    },
  }),
  callback: createRoute({
    method: "get",
    path: "/api/sso/callback",
    summary: "Return from the identity provider",
    request: {
      query: z.looseObject({ state: z.string().max(500).optional(), code: z.string().max(4000).optional() }),
    },
    responses: {
      302: { description: "Signed in, or redirected with a reason" },
      default: problems("sso_not_configured"),
    },
  }),
  link: createRoute({
    method: "post",
    path: "/api/sso/link",
    summary: "Link your account to the identity provider; returns the address to open",
    request: { body: body(z.object({ password: Password.optional() })) },
    responses: {
      200: answer("The address to open", z.object({ url: z.string() })),
      default: problems("sso_not_configured", "recent_sign_in_required", "password_wrong", "source_unavailable"),
    },
  }),
};
