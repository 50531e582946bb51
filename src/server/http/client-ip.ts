import { BlockList, isIP } from "node:net";

/**
 * Makes the function that names the client: the peer, or — behind trusted proxies — the last address of
 * `X-Forwarded-For` that is not a trusted proxy itself. Null without a socket.
 *
 * @throws Error for an entry that is neither an address nor a CIDR range
 */
export function makeClientIp(
  trustedProxies: readonly string[],
): (peer: string | undefined, forwardedFor: string | undefined) => string | null {
  const trusted = new BlockList();
  for (const entry of trustedProxies) addTrusted(trusted, entry);
  const isTrusted = (ip: string) => isIP(ip) !== 0 && trusted.check(ip, isIP(ip) === 6 ? "ipv6" : "ipv4");

  return (peer, forwardedFor) => {
    if (peer === undefined) return null;
    let client = plainAddress(peer);
    if (!isTrusted(client) || forwardedFor === undefined) return client;
    for (const hop of forwardedFor.split(",").toReversed()) {
      const address = plainAddress(hop.trim());
      if (isIP(address) === 0) break;
      client = address;
      if (!isTrusted(client)) break;
    }
    return client;
  };
}

/** True when the client sits at this very machine: a loopback peer, and nothing says that somebody stands behind it. */
export function isLocalClient(clientIp: string | null, headers: Headers): boolean {
  if (!isLocalAddress(clientIp)) return false;
  return !["forwarded", "x-forwarded-for", "x-real-ip"].some((name) => headers.has(name));
}

/** True for a loopback address. */
export function isLocalAddress(ip: string | null): boolean {
  return ip !== null && (ip === "::1" || ip.startsWith("127."));
}

/** What is throttled together: an IPv4 address, or the /64 of an IPv6 one, which a single customer holds whole. */
export function throttleKeyOfIp(ip: string | null): string {
  if (ip === null) return "none";
  if (isIP(ip) !== 6) return ip;
  const [head = "", tail] = ip.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: gap }, () => "0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

/** `::ffff:10.0.0.1` is 10.0.0.1. */
function plainAddress(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address.replace(/%.*$/, "");
}

function addTrusted(list: BlockList, entry: string): void {
  const [address = "", prefix] = entry.split("/");
  const family = isIP(address);
  if (family === 0) throw new Error(`"${entry}" is neither an address nor a range like 10.0.0.0/8.`);
  const type = family === 6 ? "ipv6" : "ipv4";
  if (prefix === undefined) list.addAddress(address, type);
  else list.addSubnet(address, Number(prefix), type);
}
