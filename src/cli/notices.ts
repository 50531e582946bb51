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
    ? "whoever runs the server set the password of your account there. If you did not ask for it, ask them, and set one of your own in your profile."
    : `${by ?? "an owner of a workspace of yours"} made a link that sets a new password for your account. Whoever holds such a link can sign in as you. If you did not ask for it, ask them, and look at: kb sessions list`;
}
