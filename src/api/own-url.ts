import { canParseUrl } from "./parse-url.ts";
import { cleanUrl } from "./clean.ts";

/**
 * Whether an address leads to this server: its pages and routes act for who is signed in, so nothing that others wrote links
 * there. Case, default ports, a final dot, user names and other spellings of the host count as the same, and so does the
 * other of http and https. Source: S30.
 *
 * @param base  where people reach this server, such as `https://kb.acme.test`
 */
export function isOwnUrl(text: string, base: string): boolean {
  // `https:x` leads to two places: by itself to the host x, and on a page of ours to a path.
  return [undefined, base].some((from) => canParseUrl(text, from) && isAtSameServer(new URL(text, from), base));
}

/** An address of an item as `cleanUrl` gives it; undefined for one that leads to this server, too. */
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

/** Without the dots of a full name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.+$/, "");
}

/** The names of one machine for itself; what listens there on one port is one server. */
function isLoopback(host: string): boolean {
  return (
    host === "localhost" || host.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(host) || OTHER_LOOPBACK.has(host)
  );
}

const OTHER_LOOPBACK = new Set(["[::1]", "[::]", "[::ffff:7f00:1]", "0.0.0.0"]);

function isWebPort({ protocol, port }: URL): boolean {
  return port === "" || (protocol === "http:" && port === "443") || (protocol === "https:" && port === "80");
}
