/** Reasons why a person returned from the identity provider without signing in, by the code in the address. */
const FAILURES: Readonly<Record<string, string>> = {
  sso_failed: "The identity provider didn't confirm who you are. Try again, or use your password.",
  sso_denied: "The identity provider didn't sign you in. Try again, or use your password.",
  sso_expired: "The sign-in took too long, or you started it in another browser. Try again.",
  sso_unavailable: "The identity provider isn't responding. Try again later, or use your password.",
  no_email: "The identity provider didn't share your email address, and your account needs one.",
  no_workspace: "Your account no longer belongs to a workspace. Ask an admin for an invitation.",
  email_taken:
    "An account with this email address already exists. Sign in with its password, then link the provider in your profile.",
  identity_taken: "This provider account is already linked to another kb account.",
  sign_up_closed: "No account matches your sign-in. Ask an admin of your workspace for an invitation.",
  session_ended: "You were signed out. Sign in, then link the provider again.",
};

/**
 * Returns the message for the person; undefined without a code. An unknown code is a general failure. Codes are never
 * shown.
 */
export function describeSsoFailure(code: string | undefined): string | undefined {
  return code === undefined ? undefined : (FAILURES[code] ?? FAILURES["sso_failed"]);
}
