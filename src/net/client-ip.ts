import { makeAddressRanges, isLoopbackAddress, parseAddress, plainAddress } from "./addresses.ts";

/**
 * Makes the function that returns the client's address: the peer, or — behind trusted proxies — the last address of
 * `X-Forwarded-For` that isn't a trusted proxy itself. Null without a socket. Addresses are returned in one spelling.
 *
 * @throws Error for an entry that is neither an address nor a CIDR range
 */
export function makeClientIp(
  trustedProxies: readonly string[],
): (peer: string | undefined, forwardedFor: string | undefined) => string | null {
  const trusted = makeAddressRanges(trustedProxies);

  return (peer, forwardedFor) => {
    if (peer === undefined) return null;
    let client = readHop(peer);
    if (client === undefined) return peer;
    const hops = forwardedFor?.split(",") ?? [];
    while (trusted.has(client)) {
      const next = readHop(hops.pop()?.trim() ?? "");
      if (next === undefined) break;
      client = next;
    }
    return client.toString();
  };
}

/** True for a loopback address. */
export function isLocalAddress(ip: string | null): boolean {
  return ip !== null && isLoopbackAddress(ip);
}

/**
 * The key of a client's rate limit: an IPv4 address, or the /64 of an IPv6 one, all of which belongs to a single
 * customer.
 */
export function throttleKeyOfIp(ip: string | null): string {
  return networkOf(ip, 32);
}

/**
 * The network of a client: the first `v4Bits` of an IPv4 address (`203.0.113.0/24`; the whole address without a slash),
 * or the /64 of an IPv6 one; `none` without a socket.
 */
export function networkOf(ip: string | null, v4Bits: 24 | 32): string {
  if (ip === null) return "none";
  const parsed = parseAddress(ip);
  if (parsed === undefined) return ip;
  const address = plainAddress(parsed);
  if ("parts" in address) {
    const groups = address.parts.slice(0, 4).map((part) => part.toString(16));
    return `${groups.join(":")}::/64`;
  }
  return v4Bits === 32 ? address.toString() : `${address.octets.slice(0, 3).join(".")}.0/24`;
}

/** Parses a peer or a hop without its zone; a mapped IPv4 address becomes IPv4. Undefined if it isn't an address. */
function readHop(text: string) {
  const address = parseAddress(text.replace(/%.*$/, ""));
  return address && plainAddress(address);
}
