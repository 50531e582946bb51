import { canParseUrl } from "#api/parse-url.ts";
import { normalHost } from "./hosts.ts";

/**
 * Hosts with their ports that a person named in a configuration: of a connector, a server, a target, or this instance. Only
 * there the operator's list of private hosts counts, and nowhere that a document or an answer names. Source: S66.
 */
export type ConfiguredPlaces = ReadonlySet<string>;

/** Nobody configured anything: public addresses only. */
export const NO_PLACES: ConfiguredPlaces = new Set();

/**
 * The places of addresses that a configuration has, `scheme://host:port` each; a port that is left out is that of the scheme.
 * What is no address with a host is left out.
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
/** What `normalHost` takes. */
const HOST = /^(?:[^\s/\\?#@:[\]%]+|\[[0-9a-f:.]+\])$/i;
const USUAL_PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ssh:": 22,
  "imap:": 143,
  "imaps:": 993,
};
