import { ID_ALPHABET } from "#api/common.ts";

/** A name on an access list; grammar and authority: `core/principals.ts`. Parts are percent-encoded. */
export type Principal = string;

/**
 * Who may read an item at its source: an AND of ORs. Every inner list needs one match; an empty inner list matches no
 * one; `{known: false}` matches no one. At least one list. Source: S4.
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

/** The principals that a sync or a push may name in its access lists; made by `authorityOf`. Source: S2. */
export interface Authority {
  /** The connector; it owns the groups `group:<connectorId>:…`. */
  connectorId: string;
  /** The tenant whose users it knows, if any: `instance` as this service found it, never as the source reports it. */
  users?: { providerId: string; instance: string };
  /** Members and groups of the workspace, and `workspace` itself, that it may name; absent = none of them. */
  named?: Pick<ReadonlySet<Principal>, "has">;
}

/** The principals that a connector may name besides its own groups and `everyone`, as loaded. */
export interface Naming {
  connectorId: string;
  providerId: string;
  /** The instance whose users it names; absent = it knows none. */
  instance?: string | undefined;
  /** The connector's owner, if it may name them. */
  ownerUserId?: string;
  /**
   * Existing members and groups of the workspace, and `workspace`: those that its config names, or for a push all that
   * exist.
   */
  named?: Iterable<Principal>;
}

/** An access after the check: unchanged, narrowed, or for no one, with the faults. */
export interface JudgedAccess {
  access: SourceAccess;
  /** The principals it may not name, each once, unchanged (hostile text: never into a log unescaped). */
  offending: readonly Principal[];
}

/** Longer principals are refused: ids at sources are far shorter, and lists are interned by their text. */
export const MAX_PRINCIPAL_CHARS = 512;

/** The parts of a principal; `undefined` if it isn't exactly in the grammar and in canonical encoding. */
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
 * The canonical text of a principal: `parsePrincipal` returns the same parts.
 *
 * @throws RangeError when a part can't be part of a principal (empty, wrong id form, lone surrogate, too long): a
 * source builds principals from its provider's ids, so this is a bug or a reply that must not be trusted
 */
export function formatPrincipal(parsed: ParsedPrincipal): Principal {
  const text = joinParts(parsed);
  if (text === undefined || parsePrincipal(text) === undefined) {
    throw new RangeError(`Not a principal: ${JSON.stringify(parsed)}`);
  }
  return text;
}

/**
 * The authority of a connector: for its syncs, its pushes and the kit that checks its source. It names users of its own
 * instance, its own groups, `everyone`, its owner, and what its config names.
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
 * instance, and the principals of the workspace it was given. Never `group:connector:`, `group:connection:` or another
 * authority's. Source: S2.
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
 * The access if every principal in it may be named, else `{known: false}` (no one) with the offending ones: the check
 * for a push. An access without a list is for no one too. The caller makes the item `acl_unknown` and the line an
 * error.
 * Source: S2, S4.
 */
export function judgeAccess(access: SourceAccess, authority: Authority): JudgedAccess {
  const { access: narrowed, offending } = narrowAccess(access, authority);
  return { access: offending.length > 0 ? { known: false } : narrowed, offending };
}

/**
 * The access without the principals it may not name: the check for a sync. One stranger in a list doesn't exclude the
 * others; a list that is left empty matches no one. Source: S2, S4.
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

/** The workspace users and groups that an access names, each once: the authority of a push has to check these. */
export function membersNamed(access: SourceAccess): Principal[] {
  if (!access.known) return [];
  const named = access.all.flat().filter((principal) => {
    const type = parsePrincipal(principal)?.type;
    return type === "user" || type === "group";
  });
  return [...new Set(named)];
}

/** The common prefix of all users of the same instance of a source; undefined if it isn't a user of a source. */
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
    // A lone surrogate has no encoding: not a principal, so the result is undefined.
    return undefined;
  }
}

/** The decoded part if it isn't empty and is canonically encoded; two spellings of one id would be two principals. */
function decodePart(encoded: string): string | undefined {
  try {
    const decoded = decodeURIComponent(encoded);
    return decoded !== "" && encodePart(decoded) === encoded ? decoded : undefined;
  } catch {
    // decodeURIComponent throws on a truncated escape: not a principal, so the result is undefined.
    return undefined;
  }
}
