import { formatPrincipal, type Principal } from "#core/principals.ts";
import type { DriveContext } from "./client.ts";
import type { Me, Permission } from "./records.ts";

/** Whom permissions name, as principals. */
export interface Readers {
  user(permissionId: string): Principal[];
  group(id: string): Principal;
  me: readonly Principal[];
  /** Who reads by these; `within` leaves out addresses of other domains. */
  of(permissions: readonly Permission[], within?: ReadonlySet<string>): Principal[];
  /** Groups of Google that were named: their addresses by their ids. */
  groups: Map<string, string>;
  /** People that were, other than the account itself. */
  people: Map<string, { name: string | undefined; email: string | undefined }>;
}

/** Every role reads; one that is not known may not. */
const ROLES: ReadonlySet<string> = new Set(["owner", "organizer", "fileOrganizer", "writer", "commenter", "reader"]);
/** Permissions count this long at most without being read again. What ends sooner does not count: it would outlive its end. */
const LONGEST_MS = 720 * 3_600_000;
/** Who reads a folder may be told this much later in a run. */
const SPARE_MS = 3_600_000;

/** The group of everybody in the organization. */
export const ORGANIZATION = "org";
export const domainGroupId = (domain: string) => `domain:${domain.toLowerCase()}`;
export const googleGroupId = (permissionId: string) => `g:${permissionId}`;
export const folderGroupId = (id: string) => `f:${id}`;
export const membersGroupId = (driveId: string) => `d:${driveId}`;
export const managersGroupId = (driveId: string) => `dm:${driveId}`;
/** Whom a shared drive's restrictions let in at all. */
export const allowedGroupId = (driveId: string) => `r:${driveId}`;
/** Whom a shared drive lets in that may be restricted to the organization. */
export const insidersGroupId = (driveId: string) => `ro:${driveId}`;

export function makeReaders(
  { connector, now, maxAclAgeMs = LONGEST_MS }: Pick<DriveContext, "connector" | "now" | "maxAclAgeMs">,
  me: Me,
): Readers {
  const groups: Readers["groups"] = new Map();
  const people: Readers["people"] = new Map();
  const one = (id: string) => userPrincipal({ connector }, id);
  const group = (id: string) => formatPrincipal({ type: "source_group", connectorId: connector.id, id });
  const mine = [one(me.permissionId), ...(me.sub === undefined ? [] : [one(me.sub)])];
  const user = (id: string) => (id === me.permissionId ? mine : [one(id)]);

  function counts({ role, deleted, view, expirationTime }: Permission): boolean {
    if (deleted === true || view !== undefined || !ROLES.has(role)) return false;
    if (expirationTime === undefined) return true;
    return typeof expirationTime === "string" && Date.parse(expirationTime) > now() + maxAclAgeMs + SPARE_MS;
  }

  function read(permission: Permission, within: ReadonlySet<string> | undefined): Principal[] {
    const { id, type, emailAddress, displayName, domain, allowFileDiscovery } = permission;
    const isWithin = (name: string | undefined) => !within || (name !== undefined && within.has(name.toLowerCase()));
    switch (type) {
      case "user":
        if (!isWithin(domainOf(emailAddress))) return [];
        if (id !== me.permissionId) people.set(id, { name: displayName, email: emailAddress });
        return user(id);
      case "group":
        if (emailAddress === undefined || !isWithin(domainOf(emailAddress))) return [];
        groups.set(id, emailAddress);
        return [group(googleGroupId(id))];
      case "domain":
        // With a link only, somebody has to be given it.
        return domain !== undefined && allowFileDiscovery === true && isWithin(domain)
          ? [group(domainGroupId(domain))]
          : [];
      case "anyone":
        return allowFileDiscovery === true && !within ? ["everyone"] : [];
      default:
        return [];
    }
  }

  return {
    user,
    group,
    me: mine,
    groups,
    people,
    of: (permissions, within) => [
      ...new Set(permissions.filter(counts).flatMap((permission) => read(permission, within))),
    ],
  };
}

export function userPrincipal({ connector }: Pick<DriveContext, "connector">, id: string): Principal {
  const instance = connector.instance ?? connector.id;
  return formatPrincipal({ type: "source_user", providerId: "google-drive", instance, id });
}

export function domainOf(email: string | undefined): string | undefined {
  const at = email?.lastIndexOf("@") ?? -1;
  return at < 0 ? undefined : email?.slice(at + 1).toLowerCase();
}

/** Given on the item itself, not above it. */
export function isDirect({ permissionDetails }: Permission): boolean {
  return permissionDetails?.some(({ inherited }) => inherited === false) === true;
}
