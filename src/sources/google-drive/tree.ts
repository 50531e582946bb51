import type { Principal, SourceAccess } from "#core/principals.ts";
import type { ContainerRef } from "#sources/item.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { orNothing } from "#sources/failures.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import { type DriveClient } from "./client.ts";
import {
  allowedGroupId,
  domainOf,
  folderGroupId,
  isDirect,
  insidersGroupId,
  managersGroupId,
  membersGroupId,
  ORGANIZATION,
  type Readers,
} from "./readers.ts";
import type { DriveFile, Me, Permission, SharedDrive } from "./records.ts";

/** A folder, a shared drive, or the place of files that are in neither. */
export interface Folder {
  id: string;
  name: string;
  parentId?: string;
  /** The group of the readers of the folder's contents. */
  group: Principal;
  /** The members of the group. */
  members: readonly Principal[];
  /** All readers among the members, if Google reports them, as it does in My Drive. */
  readers?: ReadonlySet<Principal>;
  /** The folder's ancestors, the outermost first, and the folder itself last. */
  chain: readonly Folder[];
}

export interface TreeOptions {
  client: DriveClient;
  readers: Readers;
  me: Me;
  root: { id: string; name: string };
  /** The shared drives that the account is a member of, by id. */
  drives: ReadonlyMap<string, SharedDrive>;
  /** The organization's domains; undefined if the account can't see them. */
  domains: readonly string[] | undefined;
}

export const SHARED_WITH_ME = "shared-with-me";
export type Tree = ReturnType<typeof makeTree>;

/**
 * Keeps the locations of files, and the readers at these locations. A folder that contains something but was not listed
 * is requested.
 */
export function makeTree({ client, readers, me, root, drives, domains }: TreeOptions) {
  const listed = new Map<string, DriveFile>();
  const opened = new Map<string, Promise<Folder | undefined>>();
  const inside = new Set(domains ?? [domainOf(me.emailAddress)].filter((domain) => domain !== undefined));
  const shared = placeOf(SHARED_WITH_ME, "Shared with me", readers.group(folderGroupId(SHARED_WITH_ME)));

  function placeOf(id: string, name: string, group: Principal): Folder {
    const place: Omit<Folder, "chain"> = { id, name, group, members: [] };
    const chain: Folder[] = [];
    const made = Object.assign(place, { chain });
    chain.push(made);
    return made;
  }

  /**
   * Returns a folder. `below` is the path from which the folder was reached: folders that were moved during the listing
   * can contain each other, and then there is no result.
   */
  function folder(id: string, below: readonly string[] = []): Promise<Folder | undefined> {
    if (below.includes(id)) return Promise.resolve(undefined);
    const known = opened.get(id);
    if (known) return known;
    const made = open(id, below);
    opened.set(id, made);
    return made;
  }

  async function open(id: string, below: readonly string[]): Promise<Folder | undefined> {
    const drive = drives.get(id);
    if (drive) return placeOf(id, readableName(drive.name), readers.group(membersGroupId(id)));
    const record = listed.get(id) ?? (await orNothing(() => client.get(id)));
    if (!record || record.trashed === true) return undefined;
    const above = await aboveOf(record, [...below, id]);
    const grants = await grantsOf(record, above);
    const parts: Omit<Folder, "chain"> = {
      id,
      name: id === root.id ? "My Drive" : readableName(record.name),
      group: readers.group(folderGroupId(id)),
      members: grants.list,
      ...(above && { parentId: above.id }),
      ...(grants.readers && { readers: grants.readers }),
    };
    const chain: Folder[] = [...(above?.chain ?? [])];
    const made = Object.assign(parts, { chain });
    chain.push(made);
    return made;
  }

  /** Returns the folder that contains a file. In a shared drive, an unknown folder is treated as the drive's top. */
  async function aboveOf(
    { id, parents, driveId }: DriveFile,
    below: readonly string[] = [],
  ): Promise<Folder | undefined> {
    if (id === root.id) return undefined;
    const [parent] = parents ?? [];
    const above = parent === undefined || parent === id ? undefined : await folder(parent, below);
    if (above) return above;
    return driveId !== undefined && drives.has(driveId) ? folder(driveId) : shared;
  }

  interface Grants {
    list: Principal[];
    /** True = only readers of the folder can read the file. */
    follows: boolean;
    readers?: ReadonlySet<Principal>;
  }

  async function grantsOf(file: DriveFile, above: Folder | undefined): Promise<Grants> {
    const drive = file.driveId === undefined ? undefined : drives.get(file.driveId);
    const isLimited = file.inheritedPermissionsDisabled === true;
    if (drive) {
      const [parent] = file.parents ?? [];
      // The readers of a folder that the account can't see are unknown.
      const isKnown = above !== undefined && above.id === parent;
      const from = isLimited ? [readers.group(managersGroupId(drive.id))] : isKnown ? [above.group] : [];
      const hasOwn = isLimited || file.hasAugmentedPermissions !== false;
      const own = hasOwn ? await orNothing(() => client.permissions(file.id)) : [];
      const direct = readersIn(drive, (own ?? []).filter(isDirect));
      return { list: [...from, ...direct], follows: !isLimited && isKnown && direct.length === 0 };
    }
    const permissions =
      file.driveId === undefined ? file.permissions : await orNothing(() => client.permissions(file.id));
    // Google shows a file's permissions only to people who may share it. It is known that the account itself can read
    // the file.
    if (permissions === undefined) return { list: [...readers.me], follows: false };
    const all = new Set(readers.of(permissions));
    const byFolder = isLimited ? undefined : above?.readers;
    if (!above || !byFolder || ![...byFolder].every((reader) => all.has(reader))) {
      return { list: [...all], follows: false, readers: all };
    }
    const direct = [...all].filter((reader) => !byFolder.has(reader));
    return { list: [above.group, ...direct], follows: direct.length === 0, readers: all };
  }

  /**
   * Returns the people who get access by the permissions of a shared drive. Without the directory, a group gives no
   * access, because it can have outside members.
   */
  function readersIn(drive: SharedDrive, permissions: readonly Permission[]): Principal[] {
    if (!isForInsiders(drive)) return readers.of(permissions);
    return readers.of(domains ? permissions : permissions.filter(({ type }) => type !== "group"), inside);
  }

  return {
    /** Adds a folder of a listing, so that it isn't requested again. */
    add(record: DriveFile): void {
      listed.set(record.id, record);
      opened.delete(record.id);
    },
    folder,

    async placeOf(file: DriveFile): Promise<{ chain: readonly Folder[]; access: SourceAccess; follows: boolean }> {
      const above = await aboveOf(file);
      const { list, follows } = await grantsOf(file, above);
      const drive = file.driveId === undefined ? undefined : drives.get(file.driveId);
      const limits = drive
        ? [[readers.group(allowedGroupId(drive.id))], [readers.group(insidersGroupId(drive.id))]]
        : [];
      const all = [list, ...limits];
      return { chain: above?.chain ?? [], access: { known: true, all }, follows };
    },

    /** Yields the groups of a shared drive: its members, its managers, and the people who pass its restrictions. */
    async *driveGroups(drive: SharedDrive): AsyncGenerator<Extract<Outcome, { t: "group" | "refused" }>, void> {
      const [members, managers, allowed, insiders] = [
        membersGroupId,
        managersGroupId,
        allowedGroupId,
        insidersGroupId,
      ].map((idOf) => readers.group(idOf(drive.id))) as [Principal, Principal, Principal, Principal];
      const containers = [folderRef(drive.id)];
      const permissions = await orNothing(() => client.permissions(drive.id));
      if (!permissions) {
        for (const group of [members, managers, allowed, insiders])
          yield { t: "refused", what: { group }, code: "source_forbidden" };
        return;
      }
      const factOf = (group: Principal, people: readonly Principal[]) =>
        ({ t: "group", group, members: people, containers }) as const;
      yield factOf(members, readersIn(drive, permissions));
      yield factOf(
        managers,
        readersIn(
          drive,
          permissions.filter(({ role }) => role === "organizer"),
        ),
      );
      yield factOf(allowed, drive.restrictions?.driveMembersOnly === true ? [members] : ["everyone"]);
      yield factOf(insiders, isForInsiders(drive) && domains ? [readers.group(ORGANIZATION)] : ["everyone"]);
    },

    groupOf: ({ group, members, chain }: Folder) =>
      ({ t: "group", group, members, containers: chain.map(({ id }) => folderRef(id)) }) as const,
  };
}

export function folderRef(id: string): ContainerRef {
  return { type: "folder", id };
}

function isForInsiders({ restrictions }: SharedDrive): boolean {
  return restrictions?.domainUsersOnly === true;
}
