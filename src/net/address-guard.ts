import { isIP } from "node:net";
import { ApiError } from "#api/errors.ts";
import { classOfAddress, parseAddress, plainAddress } from "./addresses.ts";
import type { ConfiguredPlaces } from "./configured-places.ts";
import { normalHost, refused } from "./hosts.ts";

/** The target of a connection, as written in a config or document. */
export interface NetworkTarget {
  /** A host name, or an IP address in any spelling; IPv6 with or without brackets. */
  host: string;
  port: number;
  /** The ports that are allowed without the operator's permission; 80 and 443 by default. */
  usualPorts?: readonly number[];
  /** The places that a person configured. The operator's list of private hosts applies only to these. Source: S66. */
  configured: ConfiguredPlaces;
}

/** An address that passed the check. The connection uses it without resolving again. */
export interface PinnedAddress {
  /** The host in one spelling: lower case, no trailing dot, no brackets. */
  host: string;
  port: number;
  address: string;
  family: 4 | 6;
  /** True when the operator has listed this host and port. */
  isListed: boolean;
}

/** Checks where connections may go. */
export interface AddressGuard {
  /**
   * Resolves once and checks every address in the result.
   *
   * @throws ApiError `address_not_allowed` when one of them is neither public nor allowed, or the port isn't;
   * `source_unavailable` when the name has no address
   */
  resolve(target: NetworkTarget): Promise<PinnedAddress>;
  /** Like `resolve`, for a host and port that a configuration itself names. */
  resolveConfigured(target: Omit<NetworkTarget, "configured">): Promise<PinnedAddress>;
}

/** All addresses of a name, from the system's resolver. */
export type Lookup = (host: string) => Promise<readonly { address: string; family: number }[]>;

export interface AddressGuardOptions {
  lookup: Lookup;
  /** `KB_ALLOW_PRIVATE_HOSTS`, each entry as `host:port`. @see parsePrivateHosts */
  privateHosts: readonly string[];
  /**
   * Whether this server itself listens at the address and port. Such an address is never a target for a connector. A mapped IPv4 address is passed as
   * IPv4.
   */
  isOwn(address: string, port: number): boolean;
}

/**
 * The only check for addresses that come from outside the program: those of connectors, servers, webhooks and client metadata documents. Resolves
 * once, checks every address, and returns the one to connect to, which is not resolved again. An address that isn't public is refused unless the
 * operator listed host and port and a person configured them; metadata services and this server itself are refused even then.
 *
 * Source: S39, S66.
 */
export function makeAddressGuard({ lookup, privateHosts, isOwn }: AddressGuardOptions): AddressGuard {
  const listed = new Set(privateHosts.map(normalEntry));
  const guard: AddressGuard = {
    resolveConfigured: async (target) =>
      guard.resolve({ ...target, configured: new Set([`${normalHost(target.host)}:${target.port}`]) }),
    async resolve({ host: written, port, usualPorts = USUAL_PORTS, configured }) {
      const host = normalHost(written);
      const isConfigured = configured.has(`${host}:${port}`);
      const isNamed = isConfigured && listed.has(`${host}:${port}`);
      const found = await addressesOf(host, lookup);
      const isListedAt = (address: string) => isNamed || (isConfigured && listed.has(`${address}:${port}`));
      const isListed = found.every(({ address }) => isListedAt(address));
      if (!usualPorts.includes(port) && !isListed) throw portRefused(host, port, isConfigured);
      for (const { address } of found) {
        const judged = classOfAddress(address);
        if (judged === "never" || isOwn(plainText(address), port)) throw neverAllowed(host);
        if (judged === "private" && !isListedAt(address)) throw privateRefused(host, port, isConfigured);
      }
      // IPv4 first: a machine without IPv6 would fail on the resolver's first address.
      const [chosen] = found.toSorted((a, b) => a.family - b.family);
      if (!chosen) throw unknownHost(host);
      return { host, port, address: chosen.address, family: chosen.family === 6 ? 6 : 4, isListed };
    },
  };
  return guard;
}

/**
 * Checks a URL; only http and https are allowed.
 *
 * @throws ApiError as `resolve`, and `address_not_allowed` for other schemes and for user names in the URL
 */
export async function resolveUrl(guard: AddressGuard, url: URL, configured: ConfiguredPlaces): Promise<PinnedAddress> {
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw refused(`kb does not fetch ${url.protocol} URLs. Use https.`);
  }
  if (url.username !== "" || url.password !== "") throw refused("The URL contains a user name or a password.");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return guard.resolve({ host: url.hostname, port, configured });
}

/** Describes the fault in the entries of `KB_ALLOW_PRIVATE_HOSTS`; undefined when they are valid. */
export function faultOfPrivateHosts(entries: readonly string[]): string | undefined {
  const bad = entries.find((entry) => {
    const [, host = "", port = ""] = ENTRY.exec(entry) ?? [];
    return host === "" || /[/*@]/.test(host) || Number(port) < 1 || Number(port) > 65_535;
  });
  if (bad === undefined) return undefined;
  return `${JSON.stringify(bad.slice(0, 100))} is not a host:port. Write each host with its port, such as git.corp.example:443. Ranges are not supported.`;
}

const USUAL_PORTS: readonly number[] = [80, 443];
const ENTRY = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):(\d{1,5})$/;

function normalEntry(entry: string): string {
  const [, host = "", port = ""] = ENTRY.exec(entry) ?? [];
  return `${normalHost(host)}:${Number(port)}`;
}

async function addressesOf(host: string, lookup: Lookup): Promise<readonly { address: string; family: number }[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const found = await lookup(host).catch((cause: unknown) => {
    throw unknownHost(host, cause);
  });
  if (found.length === 0) throw unknownHost(host);
  return found;
}

function plainText(address: string): string {
  const parsed = parseAddress(address);
  return parsed === undefined ? address : plainAddress(parsed).toString();
}

function unknownHost(host: string, cause?: unknown): ApiError {
  return new ApiError("source_unavailable", {
    message: `The host ${host} doesn't resolve to an address right now.`,
    cause,
  });
}

/** The message contains no address, so that the caller learns nothing about the network behind a name. */
function privateRefused(host: string, port: number, isConfigured: boolean): ApiError {
  return new ApiError("address_not_allowed", {
    message: `${host} is not a public address. Connectors can reach public addresses only.`,
    hint: hintOn(host, port, isConfigured),
  });
}

function portRefused(host: string, port: number, isConfigured: boolean): ApiError {
  return new ApiError("address_not_allowed", {
    message: `Connectors can't reach port ${port} of ${host}.`,
    hint: hintOn(host, port, isConfigured),
  });
}

/** Adding a host to the operator's list has no effect unless a configuration names that host. */
function hintOn(host: string, port: number, isConfigured: boolean): string {
  if (isConfigured) return `The operator can allow it: KB_ALLOW_PRIVATE_HOSTS=${host}:${port}`;
  return "A response named this address. kb reaches private addresses and other ports only where a configuration names them.";
}

function neverAllowed(host: string): ApiError {
  return refused(`No connector can reach ${host}.`);
}
