/** Where a person wanted to go before they had to sign in. */

/**
 * The address to go to after signing in: a path of this site, or the front page for everything else. `//evil`,
 * `/\evil`, `https:evil`, other origins and tricks with control characters are everything else.
 *
 * Source: research "auth", test 38.
 */
export function safeReturnTo(asked: string | undefined): string {
  if (asked === undefined || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(asked)) return "/";
  // The base is never visited: an address that leaves it was not relative.
  const base = "https://here.invalid";
  if (!URL.canParse(asked, base)) return "/";
  const url = new URL(asked, base);
  const target = url.pathname + url.search + url.hash;
  // "/..//evil" is a path until its dots are resolved.
  return url.origin === base && !target.startsWith("//") ? target : "/";
}

/** The sign-in page's address for somebody who was on their way to `here` (path, query and fragment). */
export function signInAddress(here: string): string {
  const target = safeReturnTo(here);
  return target === "/" ? "/sign-in" : `/sign-in?returnTo=${encodeURIComponent(target)}`;
}
