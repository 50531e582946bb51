import type { Notice } from "#api/session.ts";
import type { Store } from "#server/ports/store.ts";

const DAY_MS = 86_400_000;
/** How long after the link each sign-in is told of it. */
const TOLD_MS = 90 * DAY_MS;
/** How long after a sign-in it is shown. */
const SHOWN_MS = DAY_MS;

/**
 * What a person must know of their account. A link that somebody else could sign in with is told at each sign-in after it,
 * for a day: whoever used the link is told too, and takes nothing from its person by that.
 */
export async function noticesOf(
  store: Pick<Store, "users">,
  userId: string,
  { signedInAt, now }: { signedInAt: number; now: number },
): Promise<Notice[]> {
  const link = await store.users.findResetLink(userId);
  if (link === undefined || now - link.at.getTime() > TOLD_MS) return [];
  const isDue = signedInAt < link.at.getTime() ? now - link.at.getTime() <= SHOWN_MS : now - signedInAt <= SHOWN_MS;
  if (!isDue) return [];
  const by = (await store.users.find(link.madeBy))?.name ?? null;
  return [{ type: "reset_link_made", at: link.at.toISOString(), by }];
}
