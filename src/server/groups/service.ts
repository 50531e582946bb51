import { makeId } from "#api/common.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import type { CreateGroupBody, Group, PageQuery, PatchGroupBody } from "#api/workspace.ts";
import { cutPage, type CursorCodec } from "#server/http/cursor.ts";
import type { Actor } from "#server/ports/actor.ts";
import type { AuditRecorder } from "#server/ports/audit.ts";
import type { Clock, RandomBytes } from "#server/ports/clock.ts";
import type { Store, WorkspaceStore } from "#server/ports/store.ts";
import type { GroupRecord } from "#server/ports/store/people.ts";

export interface GroupService {
  /** Oldest first. */
  list(actor: Actor, query: PageQuery): Promise<{ groups: Group[]; nextCursor: string | null }>;
  /** @throws ApiError `not_found` */
  get(actor: Actor, groupId: string): Promise<{ group: Group }>;
  /** @throws ApiError `unknown_member`, `unknown_group` */
  create(actor: Actor, body: CreateGroupBody): Promise<{ group: Group }>;
  /** @throws ApiError `not_found`, `unknown_member`, `unknown_group`, `group_cycle` */
  update(actor: Actor, groupId: string, body: PatchGroupBody): Promise<{ group: Group }>;
  /** @throws ApiError `not_found` */
  remove(actor: Actor, groupId: string): Promise<void>;
}

/** Who reports the memberships of the workspace's own groups. */
const REPORTED_BY = "kb";

/** The workspace's own groups. They nest, and never contain themselves. */
export function makeGroupService(options: {
  store: Store;
  clock: Clock;
  randomBytes: RandomBytes;
  cursors: CursorCodec;
  audit: AuditRecorder;
}): GroupService {
  const { store, clock, randomBytes, cursors, audit } = options;
  return {
    async list(actor, { limit, cursor }) {
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
          (row) => ({ flags: 0, value: row.createdAt.getTime(), id: row.groupId.slice(4) }),
          (position) => cursors.encode(scope, position),
        );
        const groups: Group[] = [];
        for (const row of page) groups.push(await toGroup(workspace, row));
        return { groups, nextCursor };
      });
    },

    async get(actor, groupId) {
      const workspace = store.in(actor.workspaceId);
      return { group: await toGroup(workspace, await requireGroup(workspace, groupId)) };
    },

    async create(actor, body) {
      return store.transaction(async (tx) => {
        const workspace = tx.in(actor.workspaceId);
        const record = { groupId: makeId("group", randomBytes), name: body.name, createdAt: new Date(clock.now()) };
        await workspace.groups.insert(record);
        await setMembers(workspace, record.groupId, body);
        const details = { members: body.memberIds.length, groups: body.groupIds.length };
        const target = { type: "group", id: record.groupId };
        await audit.record(tx, actor, { action: "group.created", target, details });
        return { group: await toGroup(workspace, record) };
      });
    },

    async update(actor, groupId, body) {
      return store.transaction(async (tx) => {
        const workspace = tx.in(actor.workspaceId);
        const record = await requireGroup(workspace, groupId);
        if (body.name !== undefined) await workspace.groups.rename(groupId, body.name);
        const before = await toGroup(workspace, record);
        await setMembers(workspace, groupId, {
          memberIds: body.memberIds ?? before.memberIds,
          groupIds: body.groupIds ?? before.groupIds,
        });
        const group = await toGroup(workspace, { ...record, name: body.name ?? record.name });
        const details = { fields: Object.keys(body), members: group.memberIds.length, groups: group.groupIds.length };
        await audit.record(tx, actor, { action: "group.changed", target: { type: "group", id: groupId }, details });
        return { group };
      });
    },

    async remove(actor, groupId) {
      await store.transaction(async (tx) => {
        const workspace = tx.in(actor.workspaceId);
        await requireGroup(workspace, groupId);
        await workspace.groups.remove(groupId);
        await audit.record(tx, actor, { action: "group.deleted", target: { type: "group", id: groupId } });
      });
    },
  };
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
      message: `${stranger} is no member of this workspace.`,
      field: "memberIds",
    });
  }
  const groups = await workspace.groups.whichOf(groupIds);
  const unknown = groupIds.find((id) => !groups.has(id));
  if (unknown !== undefined) {
    throw new ApiError("unknown_group", { message: `${unknown} is no group of this workspace.`, field: "groupIds" });
  }
  const self = `group:${groupId}`;
  // Whatever this group is part of, itself included, must not become part of it.
  const above = new Set(await workspace.access.expand([self]));
  const looped = groupIds.find((id) => above.has(`group:${id}`));
  if (looped !== undefined) {
    throw new ApiError("group_cycle", { message: `${looped} contains this group already.`, field: "groupIds" });
  }
  const principals = [...memberIds.map((id) => `user:${id}`), ...groupIds.map((id) => `group:${id}`)];
  await workspace.access.setMembers(self, principals, REPORTED_BY);
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
    memberIds: idsOf("user:"),
    groupIds: idsOf("group:"),
    createdAt: record.createdAt.toISOString(),
  };
}
