import type { Notice } from "#api/session.ts";

/** What a person must know of their account, a sentence each. */
export function noticesOf({ notices }: { notices?: readonly Notice[] }): string[] {
  // A server of an older version says nothing of them.
  return (notices ?? []).map(
    (notice) => `Notice: on ${notice.at.slice(0, 16).replace("T", " ")} UTC ${sentencesOf(notice)}`,
  );
}

function sentencesOf({ type, by }: Notice): string {
  return type === "password_set"
    ? "the operator of the server set the password of your account. If you did not ask for this, contact them and set a new password in your profile."
    : `${by ?? "an owner of your workspace"} created a link that sets a new password for your account. Anybody with the link can sign in as you. If you did not ask for it, contact them and check your sessions: kb open settings`;
}
