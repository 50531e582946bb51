import { inChunks } from "#core/in-chunks.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { MEMBERSHIPS } from "#storage/tables/access.ts";
import { GROUPS } from "#storage/tables/people.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { makeAccessStore } from "./access.ts";
import { pageOf, type PageRequest } from "./pages.ts";
import { dropFromConnectors, dropFromGroups } from "./places.ts";

/** Instants are epoch milliseconds. */
export type GroupRecord = RecordOf<typeof GROUPS>;

/** The workspace's own groups; who is in them is `access.membersOf("group:<id>")`. */
export function makeGroupStore(sql: SqlHandles, workspaceId: string) {
  const groups = inWorkspace(sql, workspaceId, GROUPS);
  return {
    find: (groupId: string): Promise<GroupRecord | undefined> => groups.find({ groupId }),

    /** By (createdAt, groupId). */
    async list(page: PageRequest): Promise<GroupRecord[]> {
      const rows = await pageOf(groups.select().selectAll(), ["createdAt", "groupId"], "asc", page).execute();
      return rows.map(GROUPS.read);
    },

    async whichOf(groupIds: readonly string[]): Promise<Set<string>> {
      const found = new Set<string>();
      for (const chunk of inChunks(groupIds, 500)) {
        const rows = await groups.select().select("groupId").where("groupId", "in", chunk).execute();
        for (const row of rows) found.add(row.groupId);
      }
      return found;
    },

    insert: groups.insert,

    /** Changes the group's own fields, not its members. */
    async update(
      groupId: string,
      change: Partial<Pick<GroupRecord, "name" | "ownerUserId" | "isClosed">>,
    ): Promise<void> {
      await groups.update({ groupId }, change);
    },

    /** Deletes the group with its memberships in both directions; raises the access epoch. */
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
