import { canParseUrl } from "./parse-url.ts";
/** Any origin: it is never visited. */
const BASE = "https://here.invalid";

/**
 * The page of this server that somebody wants to come back to; `/` for everything that leads elsewhere or may be read
 * so: `//evil`, `/\evil`, `https:evil`, the same in percent signs, control characters.
 */
export function safeReturnTo(wanted: string | undefined): string {
  if (wanted === undefined || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted) || !canParseUrl(wanted, BASE)) return "/";
  const url = new URL(wanted, BASE);
  const target = url.pathname + url.search + url.hash;
  // "/..//evil" is a path until its dots are resolved; some proxies decode once more.
  const isElsewhere = url.origin !== BASE || /^\/(?:[/\\]|%2f|%5c)/i.test(target);
  return isElsewhere ? "/" : target;
}

/** Where a signed-in person begins. */
export const HOME_PATH = "/search";
