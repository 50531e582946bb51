import { canParseUrl } from "#api/parse-url.ts";
import { mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import type { Site } from "./config.ts";

/** The most characters of a path. No real page has a longer address. */
const MAX_PATH_CHARS = 1_024;
const MAX_QUERY_CHARS = 512;
const MAX_SEGMENTS = 24;
/** The most repetitions of a segment in a path. A path that repeats itself more often links to itself endlessly. */
const MAX_REPEATS = 3;

/**
 * Returns the address of a page in its canonical form, used as an id: absolute, without a fragment, and without
 * parameters that only track visitors. Undefined if it isn't a page of the site: another origin or protocol, an address
 * outside the prefix, or an address that only a trap has. Source: S40.
 */
export function pageUrl(href: string, base: URL, site: Site): URL | undefined {
  const url = sameOrigin(href, base, site);
  return url !== undefined && isBelow(url, site) && !isTrap(url) ? url : undefined;
}

/** Returns the canonical form of any address of the origin, such as that of a sitemap. */
export function sameOrigin(href: string, base: URL, { origin }: Pick<Site, "origin">): URL | undefined {
  const trimmed = href.trim();
  if (trimmed.length > 4_096 || !canParseUrl(trimmed, base.href)) return undefined;
  const url = new URL(trimmed, base);
  if (url.origin !== origin || url.username !== "" || url.password !== "") return undefined;
  url.hash = "";
  url.pathname = plainPath(url.pathname);
  url.search = plainQuery(url.search);
  return url;
}

export function isBelow({ pathname }: URL, { prefix }: Pick<Site, "prefix">): boolean {
  return pathname.startsWith(prefix) || `${pathname}/` === prefix;
}

/**
 * Returns the path that the scope's patterns are matched against: without its first slash. The page of a folder itself
 * is the folder's `index`.
 */
export function scopePath({ pathname }: URL): string {
  const path = pathname.slice(1);
  return decoded(path === "" || path.endsWith("/") ? `${path}index` : path);
}

/** Returns the names in the path of a page. */
export function segmentsOf({ pathname }: URL): string[] {
  return pathname
    .split("/")
    .filter((segment) => segment !== "")
    .map(decoded);
}

/** Returns other addresses under which a server may return the same page. */
export function twinsOf(url: URL): string[] {
  const { pathname } = url;
  const at = (path: string) => Object.assign(new URL(url), { pathname: path }).href;
  if (/\/index\.html?$/.test(pathname)) return [at(pathname.replace(/[^/]+$/, ""))];
  if (!pathname.endsWith("/")) return [at(`${pathname}/`)];
  const files = [at(`${pathname}index.html`), at(`${pathname}index.htm`)];
  return pathname === "/" ? files : [at(pathname.slice(0, -1)), ...files];
}

/** Whether an address can be that of a page or a document, based on its name. */
export function mayBeRead(url: URL, documents: boolean): boolean {
  const name = url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
  if (/\.(?:css|m?js|map|xml|rss|atom|json|ics|ico|zip|gz|tgz|bz2|xz|exe|dmg|deb|rpm|apk|iso)$/i.test(name))
    return false;
  const type = mimeHintOf(name);
  if (type === undefined || isHtml(type)) return true;
  return documents && isDocument(type);
}

export function isHtml(type: string): boolean {
  return type === "text/html" || type === "application/xhtml+xml";
}

/** Whether a type is one in which people write documents. */
export function isDocument(type: string): boolean {
  return DOCUMENTS.has(type) || /^application\/vnd\.(?:openxmlformats-officedocument|oasis\.opendocument)\./.test(type);
}

const DOCUMENTS: ReadonlySet<string> = new Set([
  "application/pdf",
  "application/rtf",
  "application/epub+zip",
  "application/msword",
  "application/vnd.ms-excel",
  "application/vnd.ms-powerpoint",
  "text/plain",
  "text/markdown",
  "text/csv",
]);

/** Whether an address is one that a program generates endlessly, or that no person gave to a page. */
function isTrap({ pathname, search }: URL): boolean {
  if (pathname.length > MAX_PATH_CHARS || search.length > MAX_QUERY_CHARS) return true;
  const counts = new Map<string, number>();
  const segments = pathname.split("/").filter((segment) => segment !== "");
  for (const segment of segments) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  return segments.length > MAX_SEGMENTS || [...counts.values()].some((count) => count > MAX_REPEATS);
}

/** Removes a session id from a path. */
function plainPath(pathname: string): string {
  const plain = plainEscapes(pathname.replace(/;(?:jsessionid|phpsessid|sid)=[^/;]*/gi, ""));
  return plain === "" ? "/" : plain;
}

/** Normalizes escapes, so that rules and addresses can be compared. Source: RFC 3986 §6.2.2. */
export function plainEscapes(text: string): string {
  let plain = "";
  let from = 0;
  for (let at = text.indexOf("%"); at !== -1; at = text.indexOf("%", at + 1)) {
    const code = digitAt(text, at + 1) * 16 + digitAt(text, at + 2);
    const by = PLAIN[code];
    if (by === undefined) continue;
    plain += text.slice(from, at) + by;
    from = at + 3;
  }
  return from === 0 ? text : plain + text.slice(from);
}

/** The normalized form of each byte: the character if it needs no escape, otherwise the escape. */
const PLAIN: readonly string[] = Array.from({ length: 256 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[\w.~-]/.test(char) ? char : `%${code.toString(16).toUpperCase().padStart(2, "0")}`;
});

/** Returns the value of a hexadecimal digit; NaN for other characters. */
function digitAt(text: string, at: number): number {
  const unit = text.charCodeAt(at) | 0x20;
  if (unit >= 0x61 && unit <= 0x66) return unit - 0x57;
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : NaN;
}

/**
 * Removes the parameters that only track visits. The others keep their order, because rules of robots.txt depend on it.
 */
function plainQuery(search: string): string {
  const pairs = search.slice(1).split("&");
  const kept = pairs.filter((pair) => pair !== "" && !TRACKING.test(pair));
  return kept.length === 0 ? "" : `?${kept.join("&")}`;
}

const TRACKING =
  /^(?:utm_[a-z]+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|_hs(?:enc|mi)|mkt_tok|vero_(?:id|conv)|phpsessid|jsessionid|replytocom)(?:=|$)/i;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
