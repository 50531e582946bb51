import { safeReturnTo } from "#api/return-to.ts";

/** Returns the sign-in page's address for a person who wanted to open `here` (path, query and fragment). */
export function signInAddress(here: string): string {
  const target = safeReturnTo(here);
  return target === "/" ? "/sign-in" : `/sign-in?returnTo=${encodeURIComponent(target)}`;
}
