import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { readInChunks, recordsOf } from "#storage/results.ts";
import { MEMBERSHIPS } from "#storage/tables/access.ts";
import { GROUPS } from "#storage/tables/people.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { makeAccessStore } from "./access.ts";
import { pageOf, type PageRequest } from "./pages.ts";
import { dropFromConnectors, dropFromGroups } from "./places.ts";

/** Instants are epoch milliseconds. */
export type GroupRecord = RecordOf<typeof GROUPS>;

/** Reads and writes the workspace's own groups. `access.membersOf("group:<id>")` returns a group's members. */
export function makeGroupStore(sql: SqlHandles, workspaceId: string) {
  const groups = inWorkspace(sql, workspaceId, GROUPS);
  return {
    find: (groupId: string) => groups.find({ groupId }),

    /** Returns groups by (createdAt, groupId). */
    list: (page: PageRequest) =>
      recordsOf(GROUPS, pageOf(groups.select().selectAll(), ["createdAt", "groupId"], "asc", page)),

    async whichOf(groupIds: readonly string[]): Promise<Set<string>> {
      const rows = await readInChunks(groupIds, (chunk) =>
        groups.select().select("groupId").where("groupId", "in", chunk).execute(),
      );
      return new Set(rows.map((row) => row.groupId));
    },

    insert: groups.insert,

    /** Changes the group's own fields, not its members. */
    update: (groupId: string, change: Partial<Pick<GroupRecord, "name" | "ownerUserId" | "isClosed">>) =>
      groups.update({ groupId }, change),

    /** Deletes the group with its memberships in both directions. Raises the access epoch. */
    async remove(groupId: string): Promise<void> {
      const principal = `group:${groupId}`;
      await inWorkspace(sql, workspaceId, MEMBERSHIPS).remove({ groupPrincipal: principal });
      await dropFromGroups(sql, workspaceId, principal);
      await dropFromConnectors(sql, workspaceId, "groupIds", groupId);
      await groups.remove({ groupId });
      await makeAccessStore(sql, workspaceId).raiseEpoch();
    },
  };
}
