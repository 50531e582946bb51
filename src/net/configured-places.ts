import { canParseUrl } from "#api/parse-url.ts";
import { normalHost } from "./hosts.ts";

/**
 * Hosts with ports that a person named in a configuration: of a connector, a server, a target, or this instance. The
 * operator's list of private hosts applies only to these, and not to hosts from a document or a response. Source: S66.
 */
export type ConfiguredPlaces = ReadonlySet<string>;

/** Nothing is configured: public addresses only. */
export const NO_PLACES: ConfiguredPlaces = new Set();

/**
 * Returns the places in a configuration's addresses, each as `scheme://host:port`. A missing port becomes the scheme's default. Addresses without a
 * host are left out.
 */
export function configuredPlaces(addresses: Iterable<string | URL>): ConfiguredPlaces {
  const places = new Set<string>();
  for (const address of addresses) {
    const { protocol, hostname, port } = canParseUrl(String(address)) ? new URL(address) : NOWHERE;
    const number = port === "" ? USUAL_PORTS[protocol] : Number(port);
    if (number !== undefined && HOST.test(hostname)) places.add(`${normalHost(hostname)}:${number}`);
  }
  return places;
}

const NOWHERE = { protocol: "", hostname: "", port: "" };
/** The hosts that `normalHost` accepts. */
const HOST = /^(?:[^\s/\\?#@:[\]%]+|\[[0-9a-f:.]+\])$/i;
const USUAL_PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ssh:": 22,
  "imap:": 143,
  "imaps:": 993,
};
