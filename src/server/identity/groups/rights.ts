import { ApiError, forbidden } from "#api/errors.ts";
import type { PatchGroupBody } from "#api/workspace.ts";
import { actsAsAdmin, type Actor } from "#storage/access/actor.ts";
import type { GroupRecord } from "#storage/records/groups.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

type Owned = Pick<GroupRecord, "name" | "ownerUserId" | "isClosed">;

/**
 * Checks that the actor may change the group: its owner may, and admins may while it is open. If the owner has left,
 * the owner of the workspace may name a new one.
 *
 * @throws ApiError `forbidden`, `group_closed`
 */
export function requireMayChange(actor: Actor, group: Owned, body: PatchGroupBody = {}): void {
  const { ownerId, isClosed, ...others } = body;
  if (group.ownerUserId === actor.userId) return;
  if (!actsAsAdmin(actor)) {
    throw forbidden("Only the owner of the group and admins of the workspace can change it.");
  }
  const isOrphan = group.ownerUserId === null;
  const isAboutOwner = ownerId !== undefined || isClosed !== undefined;
  if (isAboutOwner && !(isOrphan && actor.role === "owner")) {
    throw forbidden(
      isOrphan
        ? "The owner of this group left. Only the owner of the workspace can name a new one."
        : "Only the owner of a group can close, open or transfer it.",
    );
  }
  const isOnlyAboutOwner = isAboutOwner && Object.keys(others).length === 0;
  if (!group.isClosed || isOnlyAboutOwner) return;
  throw new ApiError("group_closed", {
    message: `"${group.name}" is closed: only its owner can change it.`,
    hint: isOrphan ? "Its owner left. The owner of the workspace can name a new one." : "Ask its owner.",
  });
}

/** Returns the workspace's own groups to which a person belongs, directly or through other groups. */
export async function groupsOf({ access }: Pick<WorkspaceStore, "access">, userId: string): Promise<Set<string>> {
  const principals = await access.expand([`user:${userId}`]);
  return new Set(principals.filter((name) => name.startsWith("group:grp_")).map((name) => name.slice("group:".length)));
}

/**
 * Refuses a change that adds the actor to someone else's group, directly or indirectly, since no one may give
 * themselves access.
 *
 * @throws ApiError `forbidden`
 */
export async function requireNotPuttingInSelf(
  workspace: Pick<WorkspaceStore, "access" | "groups">,
  actor: Actor,
  before: ReadonlySet<string>,
): Promise<void> {
  for (const groupId of await groupsOf(workspace, actor.userId)) {
    const group = before.has(groupId) ? undefined : await workspace.groups.find(groupId);
    if (group === undefined || group.ownerUserId === actor.userId) continue;
    throw new ApiError("forbidden", {
      message: `You can't add yourself to "${group.name}", which you don't own. Ask its owner or another admin.`,
      field: "memberIds",
    });
  }
}
