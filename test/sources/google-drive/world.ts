import { createHash } from "node:crypto";

export const FOLDER = "application/vnd.google-apps.folder";
export const DOC = "application/vnd.google-apps.document";

/** A permission as somebody gave it. */
export interface Grant {
  type: "user" | "group" | "domain" | "anyone" | (string & {});
  /** An address, or a domain. */
  who?: string;
  role: string;
  /** Of whom it was given to, no matter who has the address by now. */
  id?: string;
  allowFileDiscovery?: boolean;
  expirationTime?: string;
  view?: string;
  pendingOwner?: boolean;
}

export interface Item {
  id: string;
  name: string;
  mimeType: string;
  parent?: string;
  driveId?: string;
  owner?: string;
  grants: Grant[];
  isLimited: boolean;
  content: string;
  /** What it is without its pictures, in the forms that have none. */
  plain?: string;
  modified: number;
  created: number;
  isTrashed: boolean;
  canDownload?: boolean;
}

export interface Shared {
  id: string;
  name: string;
  grants: Grant[];
  restrictions: { domainUsersOnly?: boolean; driveMembersOnly?: boolean };
}

interface User {
  permissionId: string;
  directoryId: string;
  name: string;
  suspended: boolean;
  /** The account is no more; its permissions stay behind. */
  isGone: boolean;
}

const READ_ROLES = ["owner", "organizer", "fileOrganizer", "writer", "commenter", "reader"];

/** What a Google Workspace has, and who may read it: the rules as Google's guides tell them, not as the source applies them. */
export class World {
  users = new Map<string, User>();
  groups = new Map<string, { permissionId: string; members: string[] }>();
  drives = new Map<string, Shared>();
  items = new Map<string, Item>();
  log: { at: number; key: string; id: string }[] = [];
  /** Tokens of before are not known any more. */
  floor = 0;
  domains = ["acme.test"];
  private count = 0;
  now = Date.parse("2026-03-01T08:00:00Z");

  id(prefix: string): string {
    return `${prefix}-${String(++this.count).padStart(5, "0")}`;
  }

  user(email: string): void {
    this.users.set(email, {
      permissionId: `10${String(++this.count).padStart(18, "0")}`,
      directoryId: `20${String(this.count).padStart(18, "0")}`,
      name: email.split("@")[0] ?? email,
      suspended: false,
      isGone: false,
    });
  }

  group(email: string, members: string[]): void {
    this.groups.set(email, { permissionId: `30${String(++this.count).padStart(18, "0")}`, members });
  }

  drive(name: string, grants: Grant[], restrictions: Shared["restrictions"] = {}): string {
    const id = this.id("drive");
    this.drives.set(id, { id, name, grants, restrictions });
    return id;
  }

  add(name: string, where: string, more: Partial<Item> = {}): string {
    const id = this.id(more.mimeType === FOLDER ? "folder" : "file");
    const above = this.items.get(where);
    const driveId = this.drives.has(where) ? where : above?.driveId;
    const at = (this.now += 1_000);
    this.items.set(id, {
      id,
      name,
      mimeType: "text/plain",
      parent: where,
      ...(driveId === undefined ? { owner: above?.owner ?? "kb@acme.test" } : { driveId }),
      grants: [],
      isLimited: false,
      content: `Content of ${name}.`,
      modified: at,
      created: at,
      isTrashed: false,
      ...more,
    });
    this.touch(id);
    return id;
  }

  folder(name: string, where: string, more: Partial<Item> = {}): string {
    return this.add(name, where, { mimeType: FOLDER, ...more });
  }

  at(id: string): Item {
    const item = this.items.get(id);
    if (!item) throw new Error(`There is no ${id}.`);
    return item;
  }

  /** Only what changed itself is in a log: nothing of what is below it. */
  touch(id: string, key = this.items.get(id)?.driveId ?? ""): void {
    this.log = this.log.filter((entry) => entry.id !== id || entry.key !== key);
    this.log.push({ at: ++this.count, key, id });
  }
  get latest(): number {
    return this.count;
  }

  change(id: string, change: Partial<Item>): void {
    const item = this.at(id);
    const before = item.driveId ?? "";
    if ("content" in change) change = { modified: (this.now += 1_000), ...change };
    Object.assign(item, change);
    if (change.parent !== undefined) {
      const driveId = this.drives.has(change.parent) ? change.parent : this.items.get(change.parent)?.driveId;
      if (driveId === undefined) delete item.driveId;
      else item.driveId = driveId;
    }
    this.touch(id);
    if (before !== (item.driveId ?? "")) this.touch(id, before);
  }

  destroy(id: string): void {
    const key = this.at(id).driveId ?? "";
    for (const item of this.items.values()) if (item.parent === id) this.destroy(item.id);
    this.items.delete(id);
    this.touch(id, key);
  }

  isTrashed(item: Item | undefined): boolean {
    return item !== undefined && (item.isTrashed || this.isTrashed(this.items.get(item.parent ?? "")));
  }

  /** Everything that lets somebody in, with where it is from. */
  grantsOf(item: Item): { grant: Grant; isInherited: boolean }[] {
    const own = item.grants.map((grant) => ({ grant, isInherited: false }));
    const owner =
      item.owner === undefined ? [] : [{ grant: { type: "user", who: item.owner, role: "owner" }, isInherited: false }];
    const drive = this.drives.get(item.parent ?? "");
    const above = this.items.get(item.parent ?? "");
    const from = drive ? drive.grants : above ? this.grantsOf(above).map(({ grant }) => grant) : [];
    const kept = item.isLimited ? this.alwaysOf(item) : from;
    const seen = from
      .filter((grant) => item.isLimited && !kept.includes(grant))
      .map((grant) => ({ ...grant, view: "metadata" }));
    return [...own, ...owner, ...[...kept, ...seen].map((grant) => ({ grant, isInherited: true }))];
  }

  private alwaysOf({ driveId }: Item): Grant[] {
    return (this.drives.get(driveId ?? "")?.grants ?? []).filter(({ role }) => role === "organizer");
  }

  isIn(group: string, email: string, depth = 0): boolean {
    const members = this.groups.get(group)?.members ?? [];
    return depth < 10 && members.some((member) => member === email || this.isIn(member, email, depth + 1));
  }

  private lets(grant: Grant, email: string, now: number): boolean {
    if (!READ_ROLES.includes(grant.role) || grant.view !== undefined) return false;
    if (grant.expirationTime !== undefined && !(Date.parse(grant.expirationTime) > now)) return false;
    if (grant.type === "user")
      return grant.who === email && (grant.id === undefined || this.users.get(email)?.permissionId === grant.id);
    if (grant.type === "group") {
      const isSame = grant.id === undefined || this.groups.get(grant.who ?? "")?.permissionId === grant.id;
      return isSame && this.isIn(grant.who ?? "", email);
    }
    // With a link only, nobody finds it.
    if (grant.type === "domain") return grant.allowFileDiscovery === true && email.endsWith(`@${grant.who}`);
    return grant.type === "anyone" && grant.allowFileDiscovery === true;
  }

  mayRead(item: Item, email: string, now = Date.now()): boolean {
    const user = this.users.get(email);
    if (!user || user.isGone || user.suspended) return false;
    const drive = this.drives.get(item.driveId ?? "");
    const isMember = (shared: Shared) => shared.grants.some((grant) => this.lets(grant, email, now));
    if (drive?.restrictions.driveMembersOnly && !isMember(drive)) return false;
    if (drive?.restrictions.domainUsersOnly && !this.domains.some((domain) => email.endsWith(`@${domain}`)))
      return false;
    return this.grantsOf(item).some(({ grant }) => this.lets(grant, email, now));
  }

  isPublic(item: Item): boolean {
    const drive = this.drives.get(item.driveId ?? "");
    if (drive?.restrictions.driveMembersOnly || drive?.restrictions.domainUsersOnly) return false;
    return this.grantsOf(item).some(
      ({ grant }) => grant.type === "anyone" && grant.allowFileDiscovery === true && grant.view === undefined,
    );
  }

  isMemberOf(drive: Shared, email: string): boolean {
    return drive.grants.some((grant) => this.lets(grant, email, Date.now()));
  }

  /** A permission as Google gives it. */
  permission({ grant, isInherited }: { grant: Grant; isInherited: boolean }, isOfDrive: boolean) {
    const { who, ...told } = grant;
    const user = grant.type === "user" ? this.users.get(who ?? "") : undefined;
    const group = grant.type === "group" ? this.groups.get(who ?? "") : undefined;
    const id =
      grant.id ??
      user?.permissionId ??
      group?.permissionId ??
      (grant.type === "anyone" ? (grant.allowFileDiscovery ? "anyone" : "anyoneWithLink") : `40${digits(who ?? "")}`);
    return {
      kind: "drive#permission",
      id,
      ...told,
      ...((grant.type === "user" || grant.type === "group") && { emailAddress: who, displayName: who }),
      ...(grant.type === "domain" && { domain: who }),
      ...(user?.isGone && { deleted: true }),
      ...(isOfDrive && {
        permissionDetails: [
          { permissionType: isInherited ? "member" : "file", role: grant.role, inherited: isInherited },
        ],
      }),
    };
  }
}

function digits(text: string): string {
  return BigInt(`0x${createHash("md5").update(text).digest("hex").slice(0, 14)}`).toString();
}
