import type { CursorCodec } from "#server/http/cursor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { requireMembers, requireGroups } from "#storage/records/known.ts";
import type { Parts } from "#storage/records/parts.ts";
import { readPage } from "#server/http/pages.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import { makeId } from "#api/common.ts";
import { ApiError, existing } from "#api/errors.ts";
import type { Group, groupRoutes } from "#api/workspace.ts";
import { listOpenings } from "#storage/policy/openings.ts";
import { actOn } from "#storage/audit-act.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import type { Principal } from "#core/principals.ts";
import type { GroupRecord } from "#storage/records/groups.ts";
import { summarize } from "#storage/records/readers.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { orphansWith, requireSealed } from "./nesting.ts";
import { groupsOf, requireMayChange, requireNotPuttingInSelf } from "./rights.ts";

/** The value that marks kb as the reporter of memberships in the workspace's own groups. */
const REPORTED_BY = "kb";

/** The workspace's own groups. They can be nested, but a group can't contain itself. */
export function makeGroupService(
  options: Pick<Parts, "store" | "clock" | "randomBytes"> & {
    audit: AuditRecorder;
    cursors: CursorCodec;
  },
): MemberHandlers<typeof groupRoutes> {
  const { store, clock, randomBytes, audit } = options;
  return {
    /** Lists groups, the oldest first. */
    async list({ actor, query }) {
      return store.snapshot(async (snapshot) => {
        const workspace = snapshot.in(actor.workspaceId);
        const { page, nextCursor } = await readPage(
          options,
          actor,
          {
            route: "GET /api/groups",
            kind: "group",
            read: (wanted) => workspace.groups.list(wanted),
            positionOf: ({ createdAt, groupId }) => ({ value: createdAt, id: groupId }),
          },
          query,
        );
        const groups: Group[] = [];
        for (const row of page) groups.push(await toGroup(workspace, row));
        return { groups, nextCursor };
      });
    },

    /** Returns a group. @throws ApiError `not_found` */
    async get({ actor, params: { id: groupId } }) {
      const workspace = store.in(actor.workspaceId);
      const group = await toGroup(workspace, await requireGroup(workspace, groupId));
      if (group.ownerId !== actor.userId) return { group };
      const about = { id: groupId, ownerId: actor.userId, inside: group.groupIds };
      return { group: { ...group, openedByOthers: await listOpenings(workspace, about, clock.now()) } };
    },

    /**
     * @throws ApiError `unknown_member`, `unknown_group`, `group_closed` if a closed group would contain groups that
     *   its owner doesn't control
     */
    async create({ actor, body }) {
      return store.transaction(async (tx) => {
        const workspace = tx.in(actor.workspaceId);
        const groupId = makeId("group", randomBytes);
        const { name, isClosed } = body;
        const record = { groupId, name, isClosed, ownerUserId: actor.userId, createdAt: clock.now() };
        await workspace.groups.insert(record);
        await setMembers(workspace, groupId, body);
        const group = await toGroup(workspace, record);
        await requireSealed(workspace, group);
        const details = { isClosed, members: body.memberIds.length, groups: body.groupIds.length };
        await audit.record(tx, actor, actOn(record.groupId, "group.created", details));
        return { group };
      });
    },

    /**
     * Changes a group. If a closed group without an owner gets one, so do the closed groups without an owner that
     * contain it or are contained in it.
     *
     * @throws ApiError `not_found`, `unknown_member`, `unknown_group`, `group_cycle`; `group_closed`, `forbidden` for
     *   actors who may not change it, or who would join someone else's group through it; `group_closed` as
     *   `requireSealed`
     */
    async update({ actor, params: { id: groupId }, body }) {
      return store.transaction(async (tx) => {
        const workspace = tx.in(actor.workspaceId);
        const record = await requireGroup(workspace, groupId);
        requireMayChange(actor, record, body);
        const { name, isClosed, ownerId } = body;
        if (ownerId !== undefined) await requireMembers(workspace, [ownerId], "ownerId");
        const change = {
          ...defined({ name, isClosed, ownerUserId: ownerId }),
        };
        await workspace.groups.update(groupId, change);
        const before = await toGroup(workspace, record);
        const wasIn = await groupsOf(workspace, actor.userId);
        await setMembers(workspace, groupId, {
          memberIds: body.memberIds ?? before.memberIds,
          groupIds: body.groupIds ?? before.groupIds,
        });
        await requireNotPuttingInSelf(workspace, actor, wasIn);
        const group = await toGroup(workspace, { ...record, ...change });
        const handedOn =
          ownerId !== undefined && record.ownerUserId === null ? await orphansWith(workspace, record) : [];
        for (const each of handedOn) await workspace.groups.update(each.groupId, { ownerUserId: group.ownerId });
        const isAboutOthers = body.groupIds !== undefined || isClosed !== undefined || ownerId !== undefined;
        if (isAboutOthers) await requireSealed(workspace, group);
        const owner = { from: null, to: group.ownerId };
        const acts = [
          { id: groupId, details: describeChange(before, group) },
          ...handedOn.map((each) => ({ id: each.groupId, details: { owner } })),
        ];
        for (const { id, details } of acts) {
          await audit.record(tx, actor, actOn(id, "group.changed", details));
        }
        return { group };
      });
    },

    /** Deletes a group. @throws ApiError `not_found`, `group_closed`, `forbidden` */
    async remove({ actor, params: { id: groupId } }) {
      await store.transaction(async (tx) => {
        const workspace = tx.in(actor.workspaceId);
        requireMayChange(actor, await requireGroup(workspace, groupId));
        await workspace.groups.remove(groupId);
        await audit.record(tx, actor, actOn(groupId, "group.deleted"));
      });
    },
  };
}

/** Maximum ids of each kind in an audit row. The row also has the total number. */
const MAX_NAMED = 50;

/** Returns the changes to a group: the new values of changed fields, and the members added and removed. */
function describeChange(before: Group, after: Group): Record<string, unknown> {
  const named = (ids: readonly string[]) => ({ count: ids.length, ids: ids.slice(0, MAX_NAMED) });
  const without = (ids: readonly string[], others: readonly string[]) => ids.filter((id) => !others.includes(id));
  const added = [...without(after.memberIds, before.memberIds), ...without(after.groupIds, before.groupIds)];
  const removed = [...without(before.memberIds, after.memberIds), ...without(before.groupIds, after.groupIds)];
  return {
    ...(before.name !== after.name && { isRenamed: true }),
    ...(before.isClosed !== after.isClosed && { isClosed: after.isClosed }),
    ...(before.ownerId !== after.ownerId && { owner: { from: before.ownerId, to: after.ownerId } }),
    before: { members: before.memberIds.length, groups: before.groupIds.length, ...summarize(principalsOf(before)) },
    after: { members: after.memberIds.length, groups: after.groupIds.length, ...summarize(principalsOf(after)) },
    added: named(added),
    removed: named(removed),
    isWidened: added.length > 0,
  };
}

async function setMembers(
  workspace: WorkspaceStore,
  groupId: string,
  { memberIds, groupIds }: { memberIds: readonly string[]; groupIds: readonly string[] },
): Promise<void> {
  await requireMembers(workspace, memberIds, "memberIds");
  await requireGroups(workspace, groupIds, "groupIds");
  const self = `group:${groupId}`;
  // The groups that contain this one, and the group itself. None of them may become a part of it.
  const above = new Set(await workspace.access.expand([self]));
  const looped = groupIds.find((id) => above.has(`group:${id}`));
  if (looped !== undefined) {
    throw new ApiError("group_cycle", { message: `${looped} already contains this group.`, field: "groupIds" });
  }
  await workspace.access.setMembers(self, principalsOf({ memberIds, groupIds }), REPORTED_BY);
}

function principalsOf({
  memberIds,
  groupIds,
}: {
  memberIds: readonly string[];
  groupIds: readonly string[];
}): Principal[] {
  return [...memberIds.map((id) => `user:${id}` as const), ...groupIds.map((id) => `group:${id}` as const)];
}

async function requireGroup(workspace: WorkspaceStore, groupId: string): Promise<GroupRecord> {
  return existing(await workspace.groups.find(groupId));
}

async function toGroup(workspace: WorkspaceStore, record: GroupRecord): Promise<Group> {
  const principals = await workspace.access.membersOf(`group:${record.groupId}`);
  const idsOf = (prefix: string) =>
    principals.filter((principal) => principal.startsWith(prefix)).map((principal) => principal.slice(prefix.length));
  return {
    id: record.groupId,
    name: record.name,
    ownerId: record.ownerUserId,
    isClosed: record.isClosed,
    memberIds: idsOf("user:"),
    groupIds: idsOf("group:"),
    createdAt: isoOf(record.createdAt),
  };
}
