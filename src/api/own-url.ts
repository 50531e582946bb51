import { canParseUrl } from "./parse-url.ts";
import { cleanUrl } from "./clean.ts";

/**
 * Whether a URL leads to this server. Its pages and routes act for the signed-in person, so no foreign content may link
 * there. Case, default ports, a final dot, user names and other spellings of the host count as the same, and http and
 * https too.
 * Source: S30.
 *
 * @param base  the address at which people reach this server, such as `https://kb.acme.test`
 */
export function isOwnUrl(text: string, base: string): boolean {
  // `https:x` has two meanings: on its own the host x, and on a page of ours a path.
  return [undefined, base].some((from) => canParseUrl(text, from) && isAtSameServer(new URL(text, from), base));
}

/** An item's URL, cleaned by `cleanUrl`; also undefined if it leads to this server. */
export function outsideUrl(text: string | null | undefined, base: string): string | undefined {
  const url = cleanUrl(text);
  return url === undefined || isOwnUrl(url, base) ? undefined : url;
}

function isAtSameServer(url: URL, base: string): boolean {
  if (!canParseUrl(base)) return false;
  if (url.protocol !== "http:" && url.protocol !== "https:") return false;
  const own = new URL(base);
  const isSameHost = hostOf(url) === hostOf(own) || (isLoopback(hostOf(url)) && isLoopback(hostOf(own)));
  return isSameHost && (url.port === own.port || (isWebPort(url) && isWebPort(own)));
}

/** Without the final dots of a full name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.+$/, "");
}

/** Names of a machine for itself; all listeners there on one port are the same server. */
function isLoopback(host: string): boolean {
  return (
    host === "localhost" || host.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(host) || OTHER_LOOPBACK.has(host)
  );
}

const OTHER_LOOPBACK = new Set(["[::1]", "[::]", "[::ffff:7f00:1]", "0.0.0.0"]);

function isWebPort({ protocol, port }: URL): boolean {
  return port === "" || (protocol === "http:" && port === "443") || (protocol === "https:" && port === "80");
}
