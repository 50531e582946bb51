import { describeBrowser } from "./browser-words.ts";

/**
 * Describes in a few words the credential of an action, from its name in the audit (`session:ses_…`, `pat:tok_…`,
 * `system`).
 *
 * @param names  by id: a token's or client's name, and the `User-Agent` that opened a session
 */
export function describeCredential(credential: string, names: ReadonlyMap<string, string> = NO_NAMES): string {
  const [kind = "", id = ""] = credential.split(":");
  const name = names.get(id);
  switch (kind) {
    case "session":
      return describeSession(name);
    case "pat":
      return name === undefined ? "with a token" : `with the token “${name}”`;
    case "oauth":
      return name === undefined ? "through a client" : `through ${name}`;
    case "key":
      return "with the connector's key";
    case "system":
      return "by the server";
    default:
      return credential;
  }
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** A session belongs to a browser or a program, because the command line signs in too. */
function describeSession(userAgent: string | undefined): string {
  if (userAgent === undefined) return "in a session";
  const program = describeBrowser(userAgent);
  if (userAgent.startsWith("Mozilla/")) return `in ${program}`;
  return userAgent.startsWith("kb/") ? `with the ${program}` : `with ${program}`;
}
