import { canParseUrl } from "./parse-url.ts";
/** The origin is arbitrary, because the URL is never requested. */
const BASE = "https://here.invalid";

/**
 * Returns the page of this server that a person wants to return to; `/` for anything that leads to another site or may be interpreted that way:
 * `//evil`, `/\evil`, `https:evil`, the same percent-encoded, control characters.
 */
export function safeReturnTo(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted) || !canParseUrl(wanted, BASE)) return "/";
  const url = new URL(wanted, BASE);
  const target = url.pathname + url.search + url.hash;
  // "/..//evil" is a path until its dots are resolved; some proxies decode once more.
  const isElsewhere = url.origin !== BASE || /^\/(?:[/\\]|%2f|%5c)/i.test(target);
  return isElsewhere ? "/" : target;
}

/** A signed-in person's start page. */
export const HOME_PATH = "/search";
