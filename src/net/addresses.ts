import { isIP } from "node:net";
import ipaddr, { type IPv4, type IPv6 } from "ipaddr.js";

/**
 * The class of an address. `public`: any connection is allowed. `private`: only where the operator allows it. `never`: refused even if the operator
 * allows it, because it is a cloud's metadata service or not a single host.
 */
export type AddressClass = "public" | "private" | "never";

/**
 * Parses an address literal: four decimal parts, or IPv6 without a zone; undefined for anything else.
 *
 * The library accepts more than resolvers do, so `isIP` goes first: `017.0.0.1` and `0x7f.1` aren't literals, and the deprecated `::1.2.3.4` isn't
 * the mapped `::ffff:1.2.3.4`, although the library treats it as that.
 */
export function parseAddress(text: string): IPv4 | IPv6 | undefined {
  const family = isIP(text);
  if (family === 4) return ipaddr.IPv4.parse(text);
  if (family === 0 || text.includes("%")) return undefined;
  return ipaddr.IPv6.parse(text.replace(/[\d.]+\.[\d.]+$/, groupsOfDotted));
}

/** Returns the address itself: IPv4 for a mapped IPv6 address (`::ffff:10.0.0.1`). */
export function plainAddress(address: IPv4 | IPv6): IPv4 | IPv6 {
  return isV6(address) && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * The class of an address in canonical or any other textual form; `never` if it can't be parsed.
 *
 * Forms that embed an IPv4 address (mapped, NAT64, 6to4, but not Teredo's server part) have the class of that address.
 * Source: IANA special-purpose registries; S39.
 */
export function classOfAddress(address: string): AddressClass {
  const parsed = parseAddress(address);
  if (parsed === undefined) return "never";
  return isV6(parsed) ? classOfV6(parsed) : classOfV4(parsed);
}

/** True for an address of this very machine: 127.0.0.0/8, mapped or not, and `::1`. */
export function isLoopbackAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && plainAddress(address).range() === "loopback";
}

/** A set of addresses. */
export interface AddressRanges {
  has(address: IPv4 | IPv6): boolean;
}

/**
 * Describes the faults in the entries of a set of addresses, beginning with the first bad one; undefined when they are
 * valid.
 */
export function faultOfAddressRanges(entries: readonly string[]): string | undefined {
  const bad = entries.find((entry) => readRange(entry) === undefined);
  return bad === undefined ? undefined : `${JSON.stringify(bad)} is neither an address nor a range like 10.0.0.0/8`;
}

/**
 * Makes a set of addresses and ranges (`10.0.0.0/8`). IPv4 is matched in its mapped form, so entries and addresses may
 * be written either way.
 *
 * @throws Error for an entry that is neither an address nor a CIDR range
 */
export function makeAddressRanges(entries: readonly string[]): AddressRanges {
  const ranges = entries.map((entry) => {
    const range = readRange(entry);
    if (range === undefined) throw new Error(`${faultOfAddressRanges([entry])}.`);
    return range;
  });
  return { has: (address) => ranges.some(([base, bits]) => mapped(address).match(base, bits)) };
}

function readRange(entry: string): readonly [IPv6, number] | undefined {
  const [text = "", prefix, more] = entry.split("/");
  const address = parseAddress(text);
  if (address === undefined || more !== undefined) return undefined;
  const width = isV6(address) ? 128 : 32;
  const bits = prefix === undefined ? width : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
  return bits > width ? undefined : [mapped(address), 128 - width + bits];
}

type Range<T> = readonly [address: T, bits: number];

const v4 = (...ranges: string[]): Range<IPv4>[] => ranges.map((range) => ipaddr.IPv4.parseCIDR(range));
const v6 = (...ranges: string[]): Range<IPv6>[] => ranges.map((range) => ipaddr.IPv6.parseCIDR(range));

/** Never allowed for a connector, even if an operator lists it. */
const NEVER_V4 = v4(
  "0.0.0.0/8",
  "169.254.0.0/16",
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "224.0.0.0/4",
  "240.0.0.0/4",
);

const PRIVATE_V4 = v4(
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
);

const NEVER_V6 = v6("::/128", "fe80::/10", "ff00::/8", "fd00:ec2::/32", "fd20:ce::/32");

/** Only addresses in this range, and in none of the ranges below, are public. */
const GLOBAL_UNICAST = v6("2000::/3");
const PRIVATE_V6 = v6("2001::/23", "2001:db8::/32", "3fff::/20");

/** Position of the IPv4 address in forms that embed one: mapped, NAT64, 6to4. */
const CARRIERS = [
  { ranges: v6("::ffff:0:0/96"), offset: 12 },
  { ranges: v6("64:ff9b::/96"), offset: 12 },
  { ranges: v6("2002::/16"), offset: 2 },
];

/** The two groups of an ISATAP address before the IPv4 one: 0:5efe, or 200:5efe. Source: RFC 5214 §6.1. */
const ISATAP = { firsts: [0, 0x200], second: 0x5efe, offset: 12 };

function classOfV4(address: IPv4): AddressClass {
  if (isIn(address, NEVER_V4)) return "never";
  return isIn(address, PRIVATE_V4) ? "private" : "public";
}

function classOfV6(address: IPv6): AddressClass {
  const carrier = CARRIERS.find(({ ranges }) => isIn(address, ranges));
  if (carrier !== undefined) return classOfV4(carriedBy(address, carrier.offset));
  const [first = -1, second] = address.parts.slice(4, 6);
  if (ISATAP.firsts.includes(first) && second === ISATAP.second) {
    const carried = classOfV4(carriedBy(address, ISATAP.offset));
    if (carried !== "public") return carried;
  }
  if (isIn(address, NEVER_V6)) return "never";
  return isIn(address, GLOBAL_UNICAST) && !isIn(address, PRIVATE_V6) ? "public" : "private";
}

function isIn<T extends IPv4 | IPv6>(address: T, ranges: readonly Range<T>[]): boolean {
  return ranges.some(([base, bits]) => address.match(base, bits));
}

function carriedBy(address: IPv6, offset: number): IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(offset, offset + 4));
}

function mapped(address: IPv4 | IPv6): IPv6 {
  return isV6(address) ? address : address.toIPv4MappedAddress();
}

function isV6(address: IPv4 | IPv6): address is IPv6 {
  return address.kind() === "ipv6";
}

/** `1.2.3.4` at the end of an IPv6 address as its two groups, `102:304`. */
function groupsOfDotted(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split(".").map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
