import { makeId } from "#api/common.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import type { CreateGroupBody, Group, PageQuery, PatchGroupBody } from "#api/workspace.ts";
import { listOpenings } from "#storage/policy/openings.ts";
import { cutPage, type CursorCodec } from "#server/http/cursor.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Clock, RandomBytes } from "#core/clock.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import type { Principal } from "#core/principals.ts";
import type { GroupRecord } from "#storage/records/groups.ts";
import { summarize } from "#storage/records/readers.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { orphansWith, requireSealed } from "./nesting.ts";
import { groupsOf, requireMayChange, requireNotPuttingInSelf } from "./rights.ts";

export type GroupService = ReturnType<typeof makeGroupService>;

/** The reporter of memberships in the workspace's own groups. */
const REPORTED_BY = "kb";

/** The workspace's own groups. They can be nested, but never contain themselves. */
export function makeGroupService(options: {
  store: Store;
  clock: Clock;
  randomBytes: RandomBytes;
  cursors: CursorCodec;
  audit: AuditRecorder;
}) {
  const { store, clock, randomBytes, cursors, audit } = options;
  return {
    /** Oldest first. */
    async list(actor: Actor, { limit, cursor }: PageQuery): Promise<{ groups: Group[]; nextCursor: string | null }> {
      const { workspaceId, userId } = actor;
      const scope = { workspaceId, userId, route: "GET /api/groups", args: {} };
      const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
      return store.snapshot(async (snapshot) => {
        const workspace = snapshot.in(workspaceId);
        const rows = await workspace.groups.list({
          limit: limit + 1,
          ...(after && { after: { value: after.value, id: `grp_${after.id}` } }),
        });
        const { page, nextCursor } = cutPage(
          rows,
          limit,
          (row) => ({ flags: 0, value: row.createdAt, id: row.groupId.slice(4) }),
          (position) => cursors.encode(scope, position),
        );
        const groups: Group[] = [];
        for (const row of page) groups.push(await toGroup(workspace, row));
        return { groups, nextCursor };
      });
    },

    /** @throws ApiError `not_found` */
    async get(actor: Actor, groupId: string): Promise<{ group: Group }> {
      const workspace = store.in(actor.workspaceId);
      const group = await toGroup(workspace, await requireGroup(workspace, groupId));
      if (group.ownerId !== actor.userId) return { group };
      const about = { id: groupId, ownerId: actor.userId, inside: group.groupIds };
      return { group: { ...group, openedByOthers: await listOpenings(workspace, about, clock.now()) } };
    },

    /**
     * @throws ApiError `unknown_member`, `unknown_group`, `group_closed` for a closed one that would contain groups its
     *   owner doesn't control
     */
    async create(actor: Actor, body: CreateGroupBody): Promise<{ group: Group }> {
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
        const target = { type: "group", id: record.groupId };
        await audit.record(tx, actor, { action: "group.created", target, details });
        return { group };
      });
    },

    /**
     * Changes a group. A closed group without an owner gets one together with the ownerless closed groups around and in
     * it.
     *
     * @throws ApiError `not_found`, `unknown_member`, `unknown_group`, `group_cycle`; `group_closed`, `forbidden` for
     *   actors who may not change it, or who would join someone else's group through it; `group_closed` as
     *   `requireSealed`
     */
    async update(actor: Actor, groupId: string, body: PatchGroupBody): Promise<{ group: Group }> {
      return store.transaction(async (tx) => {
        const workspace = tx.in(actor.workspaceId);
        const record = await requireGroup(workspace, groupId);
        requireMayChange(actor, record, body);
        const { name, isClosed, ownerId } = body;
        if (ownerId !== undefined) await requireMember(workspace, ownerId);
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
          await audit.record(tx, actor, { action: "group.changed", target: { type: "group", id }, details });
        }
        return { group };
      });
    },

    /** @throws ApiError `not_found`, `group_closed`, `forbidden` */
    async remove(actor: Actor, groupId: string): Promise<void> {
      await store.transaction(async (tx) => {
        const workspace = tx.in(actor.workspaceId);
        requireMayChange(actor, await requireGroup(workspace, groupId));
        await workspace.groups.remove(groupId);
        await audit.record(tx, actor, { action: "group.deleted", target: { type: "group", id: groupId } });
      });
    },
  };
}

/** Maximum ids of each kind in one audit row; the row also has their total number. */
const MAX_NAMED = 50;

/** The changes to a group: new values of changed fields, and the members added and removed. */
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

async function requireMember(workspace: WorkspaceStore, userId: string): Promise<void> {
  if (await workspace.members.find(userId)) return;
  throw new ApiError("unknown_member", { message: `${userId} is not a member of this workspace.`, field: "ownerId" });
}

async function setMembers(
  workspace: WorkspaceStore,
  groupId: string,
  { memberIds, groupIds }: { memberIds: readonly string[]; groupIds: readonly string[] },
): Promise<void> {
  const members = await workspace.members.whichOf(memberIds);
  const stranger = memberIds.find((id) => !members.has(id));
  if (stranger !== undefined) {
    throw new ApiError("unknown_member", {
      message: `${stranger} is not a member of this workspace.`,
      field: "memberIds",
    });
  }
  const groups = await workspace.groups.whichOf(groupIds);
  const unknown = groupIds.find((id) => !groups.has(id));
  if (unknown !== undefined) {
    throw new ApiError("unknown_group", { message: `${unknown} is not a group of this workspace.`, field: "groupIds" });
  }
  const self = `group:${groupId}`;
  // Groups that contain this one, itself included: none of them may become part of it.
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
  const record = await workspace.groups.find(groupId);
  if (!record) {
    throw noSuchThing();
  }
  return record;
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
