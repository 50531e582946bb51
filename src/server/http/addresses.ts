import { isIPv4, isIPv6 } from "node:net";

/**
 * What an address is for us. `public`: anybody may be sent there. `private`: only where the operator says so.
 * `never`: not even then, because it is a cloud's metadata service or no single host.
 */
export type AddressClass = "public" | "private" | "never";

/**
 * The class of an address in canonical or any other textual form; what can't be read is `never`.
 *
 * Forms that carry an IPv4 address (mapped, NAT64, 6to4, Teredo's server part apart) are judged by what they carry.
 * Source: IANA special-purpose registries; S39; research "auth" §3.3.
 */
export function classOfAddress(address: string): AddressClass {
  if (isIPv4(address)) return classOfV4(bytesOfV4(address));
  if (!isIPv6(address) || address.includes("%")) return "never";
  return classOfV6(bytesOfV6(address));
}

type Range = readonly [text: string, bits: number];

/** Never a host that a connector talks to, whoever allows it. */
const NEVER_V4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["168.63.129.16", 32],
  ["192.0.0.192", 32],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

const PRIVATE_V4: readonly Range[] = [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
];

const NEVER_V6: readonly Range[] = [
  ["fe80::", 10],
  ["ff00::", 8],
  ["fd00:ec2::", 32],
  ["fd20:ce::", 32],
];

/** Inside 2000::/3, and yet not the open internet. */
const PRIVATE_V6: readonly Range[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
];

/** Where forms that carry an IPv4 address keep it. */
const CARRIERS: readonly (readonly [...Range, offset: number])[] = [
  ["::ffff:0:0", 96, 12],
  ["64:ff9b::", 96, 12],
  ["2002::", 16, 2],
];

function classOfV4(bytes: Uint8Array): AddressClass {
  if (NEVER_V4.some((range) => isIn(bytes, range, bytesOfV4))) return "never";
  return PRIVATE_V4.some((range) => isIn(bytes, range, bytesOfV4)) ? "private" : "public";
}

function classOfV6(bytes: Uint8Array): AddressClass {
  for (const [text, bits, offset] of CARRIERS) {
    if (isIn(bytes, [text, bits], bytesOfV6)) return classOfV4(bytes.subarray(offset, offset + 4));
  }
  // ISATAP: the last 64 bits say 0:5efe or 200:5efe, then an IPv4 address.
  if (((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) {
    const carried = classOfV4(bytes.subarray(12));
    if (carried !== "public") return carried;
  }
  if (bytes.every((byte) => byte === 0) || NEVER_V6.some((range) => isIn(bytes, range, bytesOfV6))) return "never";
  const isGlobalUnicast = ((bytes[0] ?? 0) & 0xe0) === 0x20;
  return isGlobalUnicast && !PRIVATE_V6.some((range) => isIn(bytes, range, bytesOfV6)) ? "public" : "private";
}

function isIn(bytes: Uint8Array, [text, bits]: Range, parse: (text: string) => Uint8Array): boolean {
  const base = parse(text);
  for (let i = 0, left = bits; left > 0; i++, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if (((bytes[i] ?? 0) & mask) !== ((base[i] ?? 0) & mask)) return false;
  }
  return true;
}

function bytesOfV4(address: string): Uint8Array {
  return Uint8Array.from(address.split("."), Number);
}

/** Of a text that `isIPv6` took, without a zone. */
function bytesOfV6(address: string): Uint8Array {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const tail = dotted ? bytesOfV4(dotted[2] ?? "") : new Uint8Array();
  const [head = "", rest] = (dotted ? `${dotted[1] ?? ""}` : address).split("::");
  const groups = (text: string) => text.split(":").filter((group) => group !== "");
  const [left, right] = [groups(head), groups(rest ?? "")];
  const bytes = new Uint8Array(16);
  const end = 16 - tail.length;
  for (const [i, group] of left.entries()) writeGroup(bytes, i * 2, group);
  for (const [i, group] of right.entries()) writeGroup(bytes, end - (right.length - i) * 2, group);
  bytes.set(tail, end);
  return bytes;
}

function writeGroup(bytes: Uint8Array, at: number, group: string): void {
  const value = Number.parseInt(group, 16);
  bytes[at] = value >> 8;
  bytes[at + 1] = value & 0xff;
}
