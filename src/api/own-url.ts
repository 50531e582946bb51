import { canParseUrl } from "./parse-url.ts";
import { cleanUrl } from "./clean.ts";

/**
 * Whether a URL leads to this server. The server's pages and routes act for the signed-in person, so no foreign content may link there. Case, default
 * ports, a final dot, user names and other spellings of the host are ignored, and so is the difference between http and https. Source: S30.
 *
 * @param base  the address at which people reach this server, such as `https://kb.acme.test`
 */
export function isOwnUrl(text: string, base: string): boolean {
  // `https:x` has two meanings: without a base it is the host x, and on a page of ours it is a path.
  return [undefined, base].some((from) => canParseUrl(text, from) && isAtSameServer(new URL(text, from), base));
}

/** Returns an item's URL, cleaned by `cleanUrl`; undefined also if it leads to this server. */
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

/** Returns the host without the final dots of a fully qualified name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.+$/, "");
}

/** Names that a machine has for itself. All listeners on one port of these names are the same server. */
function isLoopback(host: string): boolean {
  return (
    host === "localhost" || host.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(host) || OTHER_LOOPBACK.has(host)
  );
}

const OTHER_LOOPBACK = new Set(["[::1]", "[::]", "[::ffff:7f00:1]", "0.0.0.0"]);

function isWebPort({ protocol, port }: URL): boolean {
  return port === "" || (protocol === "http:" && port === "443") || (protocol === "https:" && port === "80");
}
