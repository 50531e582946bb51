import { cleanUrl, cut } from "#api/clean.ts";
import type { MetadataFault } from "#api/metadata-fault.ts";

export type MetadataEndpoint = Extract<MetadataFault["field"], `${string}_endpoint`>;

/** Maximum number of characters of a URL in a message. */
const MAX_SHOWN_CHARS = 200;

/**
 * A third party's URL made safe to show: http(s), printable ASCII, without user name, query and fragment, at most 200
 * characters. Keeps its spelling where possible, since two issuers can differ by a slash alone. null for anything else.
 */
export function shownUrl(text: string): string | null {
  const clean = cleanUrl(text);
  if (clean === undefined) return null;
  const isPlain = /^https?:\/\/[!-~]+$/.test(text) && !/[?#@\\|<>"'`]/.test(text);
  const { origin, pathname } = new URL(clean);
  return cut(isPlain ? text : `${origin}${pathname}`, MAX_SHOWN_CHARS);
}

/** Describes the differing values in one sentence for people. */
export function describeFault({ field, problem, found, expected }: MetadataFault): string {
  switch (field) {
    case "metadata":
      return `There is no usable OAuth metadata for ${expected}.`;
    case "resource":
      return found === null || found === expected
        ? `The metadata describes a different resource than the server, which is ${expected}.`
        : `The metadata names the resource ${found}, but the server is ${expected}.`;
    case "authorization_servers":
      return problem === "missing"
        ? "The metadata names no authorization server."
        : "The metadata names an authorization server whose URL kb can't use.";
    case "issuer":
      return found === null || found === expected
        ? `The metadata of the authorization server ${expected} names a different issuer.`
        : `The metadata of the authorization server ${expected} names the issuer ${found}.`;
    case "code_challenge_methods_supported":
      return `The authorization server ${expected} doesn't say that it supports PKCE with S256.`;
    default:
      return found === null
        ? `The ${field.replace("_", " ")} isn't a URL that kb can use.`
        : `The ${field.replace("_", " ")} ${found} doesn't use https.`;
  }
}
