import { ID_ALPHABET } from "#api/common.ts";

/**
 * A name on an access list. `core/principals.ts` defines its grammar and who may use it. Its parts are percent-encoded.
 */
export type Principal = string;

/**
 * Who may read an item at its source, as an AND of OR lists. A person must match one principal of every inner list. An
 * empty inner list matches no one, and so does `{known: false}`. There is at least one list. Source: S4.
 */
export type SourceAccess = { known: false } | { known: true; all: readonly (readonly Principal[])[] };

/** A principal split into its parts, decoded. Source: docs/permissions.md#principals. */
export type ParsedPrincipal =
  | { type: "workspace" }
  | { type: "everyone" }
  | { type: "user"; userId: string }
  | { type: "group"; groupId: string }
  | { type: "connector"; connectorId: string }
  | { type: "connection"; connectionId: string }
  | { type: "source_user"; providerId: string; instance: string; id: string }
  | { type: "source_group"; connectorId: string; id: string };

/** The principals that a sync or a push may name in its access lists. Made by `authorityOf`. Source: S2. */
export interface Authority {
  /** The connector, which owns the groups `group:<connectorId>:…`. */
  connectorId: string;
  /**
   * The tenant whose users the connector may name, if any. `instance` is the one that kb found, never one that the
   * source reports.
   */
  users?: { providerId: string; instance: string };
  /** The workspace's members and groups, and `workspace` itself, that the connector may name; absent = none of them. */
  named?: Pick<ReadonlySet<Principal>, "has">;
}

/** The principals that a connector may name besides its own groups and `everyone`, as loaded from the records. */
export interface Naming {
  connectorId: string;
  providerId: string;
  /** The instance whose users the connector names; absent = it names no users. */
  instance?: string | undefined;
  /** The connector's owner, if the connector may name them. */
  ownerUserId?: string;
  /**
   * Members and groups of the workspace, and `workspace`: those that the connector's config names or, for a push, all
   * that exist.
   */
  named?: Iterable<Principal>;
}

/**
 * An access after the check of its principals: unchanged, narrowed, or open to no one. Lists the principals that failed
 * the check.
 */
export interface JudgedAccess {
  access: SourceAccess;
  /** The principals that may not be named, each once, unchanged. The text is hostile: never log it unescaped. */
  offending: readonly Principal[];
}

/** Limit of a principal's length. Ids at sources are far shorter, and lists are interned by their text. */
export const MAX_PRINCIPAL_CHARS = 512;

/**
 * Splits a principal into its parts; `undefined` if it doesn't match the grammar exactly or isn't in canonical
 * encoding.
 */
export function parsePrincipal(principal: string): ParsedPrincipal | undefined {
  if (typeof principal !== "string" || principal.length > MAX_PRINCIPAL_CHARS) return undefined;
  if (principal === "workspace" || principal === "everyone") return { type: principal };
  const [type, second, third, fourth, ...more] = principal.split(":");
  if (second === undefined || more.length > 0) return undefined;
  if (third === undefined) return parseOwn(type, second);
  if (type === "group" && fourth === undefined) return parseGroup(second, third);
  if (type === "user" && fourth !== undefined) return parseSourceUser(second, third, fourth);
  return undefined;
}

/**
 * Returns the canonical text of a principal, from which `parsePrincipal` returns the same parts.
 *
 * @throws RangeError when a part can't be part of a principal (empty, wrong id form, lone surrogate, too long). A
 * source builds principals from its provider's ids, so this is a bug or a response that must not be trusted
 */
export function formatPrincipal(parsed: ParsedPrincipal): Principal {
  const text = joinParts(parsed);
  if (text === undefined || parsePrincipal(text) === undefined) {
    throw new RangeError(`Not a principal: ${JSON.stringify(parsed)}`);
  }
  return text;
}

/**
 * Returns the authority of a connector, for its syncs, its pushes and the kit that checks its source. The connector may
 * name users of its own instance, its own groups, `everyone`, its owner, and the principals in its config.
 */
export function authorityOf({ connectorId, providerId, instance, ownerUserId, named = [] }: Naming): Authority {
  const owner = ownerUserId === undefined ? [] : [`user:${ownerUserId}`];
  return {
    connectorId,
    ...(instance !== undefined && { users: { providerId, instance } }),
    named: new Set([...named, ...owner]),
  };
}

/**
 * True when this authority may name this principal in an access list: `everyone`, its own groups, users of its own
 * instance, and the workspace's principals that it was given. Never `group:connector:`, `group:connection:` or another
 * authority's principals. Source: S2.
 */
export function mayName(principal: Principal, authority: Authority): boolean {
  const parsed = parsePrincipal(principal);
  if (parsed === undefined) return false;
  switch (parsed.type) {
    case "everyone":
      return true;
    case "workspace":
    case "user":
    case "group":
      return authority.named?.has(principal) === true;
    case "connector":
    case "connection":
      return false;
    case "source_user":
      return parsed.providerId === authority.users?.providerId && parsed.instance === authority.users.instance;
    case "source_group":
      return parsed.connectorId === authority.connectorId;
  }
}

/**
 * The check for a push: returns the access if every principal in it may be named, else `{known: false}` (no one) with
 * the offending principals. An access without a list is also open to no one. The caller makes the item `acl_unknown`
 * and reports the line as an error.
 * Source: S2, S4.
 */
export function judgeAccess(access: SourceAccess, authority: Authority): JudgedAccess {
  const { access: narrowed, offending } = narrowAccess(access, authority);
  return { access: offending.length > 0 ? { known: false } : narrowed, offending };
}

/**
 * The check for a sync: returns the access without the principals that may not be named. One such principal in a list
 * doesn't exclude the others; a list that becomes empty matches no one. Source: S2, S4.
 */
export function narrowAccess(access: SourceAccess, authority: Authority): JudgedAccess {
  if (!access.known) return { access, offending: [] };
  if (access.all.length === 0) return { access: { known: false }, offending: [] };
  const offending = new Set<Principal>();
  const all = access.all.map((list) =>
    list.filter((principal) => {
      const isFine = mayName(principal, authority);
      if (!isFine) offending.add(principal);
      return isFine;
    }),
  );
  return offending.size === 0 ? { access, offending: [] } : { access: { known: true, all }, offending: [...offending] };
}

/**
 * Returns the workspace's users and groups that an access names, each once. The authority of a push must check that
 * they exist.
 */
export function membersNamed(access: SourceAccess): Principal[] {
  if (!access.known) return [];
  const named = access.all.flat().filter((principal) => {
    const type = parsePrincipal(principal)?.type;
    return type === "user" || type === "group";
  });
  return [...new Set(named)];
}

/**
 * Returns the common prefix of all users of the same instance of a source; undefined if the principal isn't a user of a
 * source.
 */
export function instanceOf(principal: Principal): string | undefined {
  if (parsePrincipal(principal)?.type !== "source_user") return undefined;
  return principal.slice(0, principal.lastIndexOf(":") + 1);
}

const PROVIDER_ID = /^[a-z][a-z0-9-]{0,63}$/;
const OWN_ID = new RegExp(`^(usr|grp|con|cnx)_[${ID_ALPHABET}]{16}$`);

function parseOwn(type: string | undefined, id: string): ParsedPrincipal | undefined {
  if (type === "user" && isOwnId(id, "usr")) return { type: "user", userId: id };
  if (type === "group" && isOwnId(id, "grp")) return { type: "group", groupId: id };
  return undefined;
}

function parseGroup(owner: string, encodedId: string): ParsedPrincipal | undefined {
  if (owner === "connector") {
    return isOwnId(encodedId, "con") ? { type: "connector", connectorId: encodedId } : undefined;
  }
  if (owner === "connection") {
    return isOwnId(encodedId, "cnx") ? { type: "connection", connectionId: encodedId } : undefined;
  }
  const id = decodePart(encodedId);
  return isOwnId(owner, "con") && id !== undefined ? { type: "source_group", connectorId: owner, id } : undefined;
}

function parseSourceUser(providerId: string, instance: string, id: string): ParsedPrincipal | undefined {
  const decodedInstance = decodePart(instance);
  const decodedId = decodePart(id);
  if (!PROVIDER_ID.test(providerId) || decodedInstance === undefined || decodedId === undefined) return undefined;
  return { type: "source_user", providerId, instance: decodedInstance, id: decodedId };
}

function joinParts(parsed: ParsedPrincipal): string | undefined {
  switch (parsed.type) {
    case "workspace":
    case "everyone":
      return parsed.type;
    case "user":
      return `user:${parsed.userId}`;
    case "group":
      return `group:${parsed.groupId}`;
    case "connector":
      return `group:connector:${parsed.connectorId}`;
    case "connection":
      return `group:connection:${parsed.connectionId}`;
    case "source_user":
      return joinEncoded(`user:${parsed.providerId}`, parsed.instance, parsed.id);
    case "source_group":
      return joinEncoded(`group:${parsed.connectorId}`, parsed.id);
  }
}

function joinEncoded(head: string, ...parts: string[]): string | undefined {
  const encoded = parts.map(encodePart);
  return encoded.includes(undefined) ? undefined : [head, ...encoded].join(":");
}

function isOwnId(id: string, prefix: "usr" | "grp" | "con" | "cnx"): boolean {
  return id.startsWith(`${prefix}_`) && OWN_ID.test(id);
}

function encodePart(part: string): string | undefined {
  try {
    return encodeURIComponent(part);
  } catch {
    // A lone surrogate can't be encoded, so the text isn't a principal.
    return undefined;
  }
}

/**
 * Returns the decoded part, if it isn't empty and is in canonical encoding. Otherwise two spellings of one id would be
 * two principals.
 */
function decodePart(encoded: string): string | undefined {
  try {
    const decoded = decodeURIComponent(encoded);
    return decoded !== "" && encodePart(decoded) === encoded ? decoded : undefined;
  } catch {
    // `decodeURIComponent` throws on a truncated escape, so the text isn't a principal.
    return undefined;
  }
}
