import { principalsOf } from "#sources/principals.ts";
import { type Principal } from "#core/principals.ts";
import type { DriveContext } from "./client.ts";
import type { Me, Permission } from "./records.ts";

/** Converts the people and groups in permissions into principals. */
export interface Readers {
  user(permissionId: string): Principal[];
  group(id: string): Principal;
  me: readonly Principal[];
  /** Returns the readers according to these permissions. `within` leaves out addresses of other domains. */
  of(permissions: readonly Permission[], within?: ReadonlySet<string>): Principal[];
  /** The addresses of the Google groups that permissions named, by the groups' ids. */
  groups: Map<string, string>;
  /** The people that permissions named, except the account itself. */
  people: Map<string, { name: string | undefined; email: string | undefined }>;
}

/** The known roles, each of which can read. An unknown role grants no access. */
const ROLES: ReadonlySet<string> = new Set(["owner", "organizer", "fileOrganizer", "writer", "commenter", "reader"]);
/**
 * The longest time for which permissions stay valid without being read again. A permission that ends sooner is ignored,
 * because it would otherwise stay in effect after its end.
 */
const LONGEST_MS = 720 * 3_600_000;
/** How much later in a run the readers of a folder may be reported. */
const SPARE_MS = 3_600_000;

/** The group of everyone in the organization. */
export const ORGANIZATION = "org";
export const domainGroupId = (domain: string) => `domain:${domain.toLowerCase()}`;
export const googleGroupId = (permissionId: string) => `g:${permissionId}`;
export const folderGroupId = (id: string) => `f:${id}`;
export const membersGroupId = (driveId: string) => `d:${driveId}`;
export const managersGroupId = (driveId: string) => `dm:${driveId}`;
/** Returns the id of the group of people who pass a shared drive's restrictions. */
export const allowedGroupId = (driveId: string) => `r:${driveId}`;
/** Returns the id of the group of people in a shared drive that may be restricted to the organization. */
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
        // If a link is required, a person has to receive the link first, so the permission doesn't make them a reader.
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

/** Whether a permission is granted on the item itself, and not on a folder above it. */
export function isDirect({ permissionDetails }: Permission): boolean {
  return permissionDetails?.some(({ inherited }) => inherited === false) === true;
}
