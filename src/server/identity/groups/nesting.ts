import { ApiError } from "#api/errors.ts";
import type { Group } from "#api/workspace.ts";
import type { GroupRecord } from "#storage/records/groups.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

type Workspace = Pick<WorkspaceStore, "access" | "groups">;

/**
 * A closed group may contain only closed groups of the same owner. Otherwise the owners of the other groups would
 * control its members. Checks both the groups in a changed group and the groups that contain it.
 *
 * @throws ApiError `group_closed`
 */
export async function requireSealed(workspace: Workspace, group: Group): Promise<void> {
  for (const groupId of group.isClosed ? group.groupIds : []) {
    const inner = await workspace.groups.find(groupId);
    if (!inner || fitsInto(inner, group.ownerId)) continue;
    throw new ApiError("group_closed", {
      message: `"${group.name}" is closed, so it can contain only closed groups of the same owner. "${inner.name}" is not one.`,
      hint: `Close "${inner.name}" if you own it, or add its members instead.`,
      field: "groupIds",
    });
  }
  for (const outer of await closedAround(workspace, group.id)) {
    if (fitsInto({ isClosed: group.isClosed, ownerUserId: group.ownerId }, outer.ownerUserId)) continue;
    throw new ApiError("group_closed", {
      message: `"${group.name}" is in the closed group "${outer.name}", so it must stay closed and keep its owner.`,
      hint: `Take it out of "${outer.name}" first.`,
    });
  }
}

/**
 * Returns the closed groups without an owner that contain this one or are contained in it, at any depth. They all get a
 * new owner together.
 */
export async function orphansWith(workspace: Workspace, group: GroupRecord): Promise<GroupRecord[]> {
  const found = new Map([[group.groupId, group]]);
  for (const each of found.values()) {
    const near = [
      ...(await closedAround(workspace, each.groupId)),
      ...(each.isClosed ? await groupsIn(workspace, each.groupId) : []),
    ];
    for (const other of near) if (other.isClosed && other.ownerUserId === null) found.set(other.groupId, other);
  }
  found.delete(group.groupId);
  return [...found.values()];
}

function fitsInto({ isClosed, ownerUserId }: Pick<GroupRecord, "isClosed" | "ownerUserId">, ownerId: string | null) {
  return isClosed && ownerUserId === ownerId;
}

async function closedAround(workspace: Workspace, groupId: string): Promise<GroupRecord[]> {
  const rows = await workspace.access.groupsOf([`group:${groupId}`]);
  const outer = await findAll(
    workspace,
    rows.map(({ group }) => group),
  );
  return outer.filter(({ isClosed }) => isClosed);
}

async function groupsIn(workspace: Workspace, groupId: string): Promise<GroupRecord[]> {
  return findAll(workspace, await workspace.access.membersOf(`group:${groupId}`));
}

/** Returns the workspace's own groups among these principals. */
async function findAll({ groups }: Workspace, principals: readonly string[]): Promise<GroupRecord[]> {
  const found: GroupRecord[] = [];
  for (const principal of principals) {
    if (!principal.startsWith("group:grp_")) continue;
    const record = await groups.find(principal.slice("group:".length));
    if (record) found.push(record);
  }
  return found;
}
