import { inChunks } from "#core/in-chunks.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { makeAccessStore } from "./access.ts";
import { dropFromConnectors, dropFromGroups } from "./places.ts";
import type { PageRequest } from "./people.ts";

/** Instants are epoch milliseconds. */
export interface GroupRecord {
  groupId: string;
  name: string;
  /** Null where its owner left. */
  ownerUserId: string | null;
  /** Only its owner changes it. */
  isClosed: boolean;
  createdAt: number;
}

/** The workspace's own groups; who is in them is `access.membersOf("group:<id>")`. */
export function makeGroupStore(sql: SqlHandles, workspaceId: string) {
  const columns = ["groupId", "name", "ownerUserId", "isClosed", "createdAt"] as const;
  return {
    async find(groupId: string): Promise<GroupRecord | undefined> {
      const row = await sql.read
        .selectFrom("groups")
        .select(columns)
        .where("workspaceId", "=", workspaceId)
        .where("groupId", "=", groupId)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    /** By (createdAt, groupId). */
    async list({ limit, after }: PageRequest): Promise<GroupRecord[]> {
      let query = sql.read.selectFrom("groups").select(columns).where("workspaceId", "=", workspaceId);
      if (after) {
        query = query.where((eb) =>
          eb.or([eb("createdAt", ">", after.value), eb("createdAt", "=", after.value).and("groupId", ">", after.id)]),
        );
      }
      const rows = await query.orderBy("createdAt").orderBy("groupId").limit(limit).execute();
      return rows.map(toRecord);
    },

    async whichOf(groupIds: readonly string[]): Promise<Set<string>> {
      const found = new Set<string>();
      for (const chunk of inChunks(groupIds, 500)) {
        const rows = await sql.read
          .selectFrom("groups")
          .select("groupId")
          .where("workspaceId", "=", workspaceId)
          .where("groupId", "in", chunk)
          .execute();
        for (const row of rows) found.add(row.groupId);
      }
      return found;
    },

    async insert(group: GroupRecord): Promise<void> {
      await sql.write
        .insertInto("groups")
        .values({ ...group, workspaceId, isClosed: Number(group.isClosed) })
        .execute();
    },

    /** Changes what is said of the group; who is in it is another matter. */
    async update(
      groupId: string,
      { isClosed, ...change }: Partial<Pick<GroupRecord, "name" | "ownerUserId" | "isClosed">>,
    ): Promise<void> {
      if (isClosed === undefined && Object.keys(change).length === 0) return;
      await sql.write
        .updateTable("groups")
        .set({ ...change, ...(isClosed !== undefined && { isClosed: Number(isClosed) }) })
        .where("workspaceId", "=", workspaceId)
        .where("groupId", "=", groupId)
        .execute();
    },

    /** Deletes the group with its memberships in both directions; raises the access epoch. */
    async remove(groupId: string): Promise<void> {
      const principal = `group:${groupId}`;
      await sql.write
        .deleteFrom("memberships")
        .where("workspaceId", "=", workspaceId)
        .where("groupPrincipal", "=", principal)
        .execute();
      await dropFromGroups(sql, workspaceId, principal);
      await dropFromConnectors(sql, workspaceId, "groupIds", groupId);
      await sql.write
        .deleteFrom("groups")
        .where("workspaceId", "=", workspaceId)
        .where("groupId", "=", groupId)
        .execute();
      await makeAccessStore(sql, workspaceId).raiseEpoch();
    },
  };
}

function toRecord(row: {
  groupId: string;
  name: string;
  ownerUserId: string | null;
  isClosed: number;
  createdAt: number;
}): GroupRecord {
  return { ...row, isClosed: row.isClosed === 1 };
}
