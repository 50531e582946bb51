import { principalsOf } from "#sources/principals.ts";
import { type Principal } from "#core/principals.ts";
import type { DriveContext } from "./client.ts";
import type { Me, Permission } from "./records.ts";

/** The people and groups in permissions, as principals. */
export interface Readers {
  user(permissionId: string): Principal[];
  group(id: string): Principal;
  me: readonly Principal[];
  /** The readers by these permissions; `within` leaves out addresses of other domains. */
  of(permissions: readonly Permission[], within?: ReadonlySet<string>): Principal[];
  /** Google groups that were named: their addresses by their ids. */
  groups: Map<string, string>;
  /** People that were named, other than the account itself. */
  people: Map<string, { name: string | undefined; email: string | undefined }>;
}

/** Every role reads; an unknown one may not. */
const ROLES: ReadonlySet<string> = new Set(["owner", "organizer", "fileOrganizer", "writer", "commenter", "reader"]);
/**
 * Permissions are valid this long at most without being read again. One that ends sooner does not count: it would
 * outlive its end.
 */
const LONGEST_MS = 720 * 3_600_000;
/** The readers of a folder may be reported this much later in a run. */
const SPARE_MS = 3_600_000;

/** The group of everyone in the organization. */
export const ORGANIZATION = "org";
export const domainGroupId = (domain: string) => `domain:${domain.toLowerCase()}`;
export const googleGroupId = (permissionId: string) => `g:${permissionId}`;
export const folderGroupId = (id: string) => `f:${id}`;
export const membersGroupId = (driveId: string) => `d:${driveId}`;
export const managersGroupId = (driveId: string) => `dm:${driveId}`;
/** The people that a shared drive's restrictions admit at all. */
export const allowedGroupId = (driveId: string) => `r:${driveId}`;
/** The people that a shared drive admits when it may be restricted to the organization. */
export const insidersGroupId = (driveId: string) => `ro:${driveId}`;

export function makeReaders(
  { connector, now, maxAclAgeMs = LONGEST_MS }: Pick<DriveContext, "connector" | "now" | "maxAclAgeMs">,
  me: Me,
): Readers {
  const groups: Readers["groups"] = new Map();
  const people: Readers["people"] = new Map();
  const { user: one, group } = principalsOf({ connector }, "google-drive");
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
        // With a link only, a person has to get the link first.
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

export function domainOf(email: string | undefined): string | undefined {
  const at = email?.lastIndexOf("@") ?? -1;
  return at < 0 ? undefined : email?.slice(at + 1).toLowerCase();
}

/** Granted on the item itself, not above it. */
export function isDirect({ permissionDetails }: Permission): boolean {
  return permissionDetails?.some(({ inherited }) => inherited === false) === true;
}
