/** Why somebody came back from the identity provider without what they went for, by the code in the address. */
const FAILURES: Readonly<Record<string, string>> = {
  sso_failed: "The identity provider did not say who you are. Try again, or use your password.",
  sso_denied: "You were not signed in there. Try again, or use your password.",
  sso_expired: "That took too long, or began in another browser. Try again.",
  sso_unavailable: "The identity provider does not answer. Try again later, or use your password.",
  no_email: "The identity provider gave no e-mail address, which an account here needs.",
  no_workspace: "Your account is in no workspace any more. Ask an admin for an invitation.",
  email_taken:
    "There is an account with this e-mail address already. Sign in with its password, then link the provider in your profile.",
  identity_taken: "This account at the provider opens another account here already.",
  sign_up_closed: "Nobody here knows this account. Ask an admin of your workspace for an invitation.",
  session_ended: "You were signed out meanwhile. Sign in, then link the provider again.",
};

/** What to tell the person; undefined without a code. An unknown code is a plain failure: codes are never shown. */
export function describeSsoFailure(code: string | undefined): string | undefined {
  return code === undefined ? undefined : (FAILURES[code] ?? FAILURES["sso_failed"]);
}
