import { safeReturnTo } from "#api/return-to.ts";

/** The sign-in page's address for a person who was on their way to `here` (path, query and fragment). */
export function signInAddress(here: string): string {
  const target = safeReturnTo(here);
  return target === "/" ? "/sign-in" : `/sign-in?returnTo=${encodeURIComponent(target)}`;
}
