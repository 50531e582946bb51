import type { Notice } from "#api/session.ts";
import { isoOf } from "#core/instant.ts";
import type { Store } from "#storage/store.ts";

const DAY_MS = 86_400_000;
/** How long after it each sign-in is told of it. */
const TOLD_MS = 90 * DAY_MS;
/** How long after a sign-in it is shown. */
const SHOWN_MS = DAY_MS;

/**
 * What a person must know of their account. A link that somebody else could sign in with, or a password that the operator
 * set, is told at each sign-in after it, for a day: the person who used it is told too, and takes nothing from its person by that.
 */
export async function noticesOf(
  store: Pick<Store, "users">,
  userId: string,
  { signedInAt, now }: { signedInAt: number; now: number },
): Promise<Notice[]> {
  const isDue = (at: number) => {
    const age = now - at;
    return age <= TOLD_MS && (signedInAt < at ? age : now - signedInAt) <= SHOWN_MS;
  };
  const notices: Notice[] = [];
  const setAt = await store.users.findPasswordSet(userId);
  if (setAt !== undefined && isDue(setAt)) notices.push({ type: "password_set", at: isoOf(setAt), by: null });
  const link = await store.users.findResetLink(userId);
  if (link && isDue(link.at)) {
    const by = (await store.users.find(link.madeBy))?.name ?? null;
    notices.push({ type: "reset_link_made", at: isoOf(link.at), by });
  }
  return notices;
}
