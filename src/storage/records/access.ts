import type { Principal, SourceAccess } from "#core/principals.ts";
import type { AccessStore } from "#storage/records-types/access.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** Parameters per statement stay below SQLite's limit. */
const CHUNK = 500;

/** The permission model's records of one workspace, on SQL. */
export function makeAccessStore(sql: SqlHandles, workspaceId: string): AccessStore {
  const memberRows = (group: Principal, reportedBy: string) =>
    sql.write
      .selectFrom("memberships")
      .select("memberPrincipal")
      .where("workspaceId", "=", workspaceId)
      .where("groupPrincipal", "=", group)
      .where("reportedBy", "=", reportedBy);

  async function writeMembers(
    group: Principal,
    { gone, fresh }: { gone: readonly Principal[]; fresh: readonly Principal[] },
    reportedBy: string,
  ): Promise<void> {
    for (const part of chunks(gone)) {
      await sql.write
        .deleteFrom("memberships")
        .where("workspaceId", "=", workspaceId)
        .where("groupPrincipal", "=", group)
        .where("reportedBy", "=", reportedBy)
        .where("memberPrincipal", "in", part)
        .execute();
    }
    for (const part of chunks(fresh)) {
      await sql.write
        .insertInto("memberships")
        .values(part.map((memberPrincipal) => ({ workspaceId, groupPrincipal: group, memberPrincipal, reportedBy })))
        .execute();
    }
  }

  const store: AccessStore = {
    async epoch() {
      const row = await sql.read
        .selectFrom("access_state")
        .select("epoch")
        .where("workspaceId", "=", workspaceId)
        .executeTakeFirst();
      return row?.epoch ?? 0;
    },

    async raiseEpoch() {
      await sql.write
        .insertInto("access_state")
        .values({ workspaceId, epoch: 1, nextListId: 1, nextAclId: 1 })
        .onConflict((oc) => oc.column("workspaceId").doUpdateSet((eb) => ({ epoch: eb("access_state.epoch", "+", 1) })))
        .execute();
    },

    async intern(access, always) {
      const lists = allLists(access, always);
      if (!lists) return 0;
      const listIds: number[] = [];
      for (const list of lists) listIds.push(await internList(sql, workspaceId, list));
      const key = [...new Set(listIds)].sort((a, b) => a - b).join(",");
      const known = await sql.write
        .selectFrom("accesses")
        .select("aclId")
        .where("workspaceId", "=", workspaceId)
        .where("listIds", "=", key)
        .executeTakeFirst();
      if (known) return known.aclId;
      const aclId = await takeNumber(sql, workspaceId, "nextAclId");
      await sql.write.insertInto("accesses").values({ workspaceId, aclId, listIds: key }).execute();
      return aclId;
    },

    async listsOf(aclId) {
      const listIds = await listIdsOf(sql, workspaceId, [aclId]);
      const principals = await principalsOfLists(sql, workspaceId, listIds.get(aclId) ?? []);
      return (listIds.get(aclId) ?? []).map((id) => principals.get(id) ?? []);
    },

    async expand(principals) {
      const found = new Set(principals);
      let edge = [...found];
      while (edge.length > 0) {
        const groups = new Set((await store.groupsOf(edge)).map((row) => row.group));
        edge = [...groups].filter((group) => !found.has(group));
        for (const group of edge) found.add(group);
      }
      return [...found].sort();
    },

    async groupsOf(principals) {
      const found: { member: Principal; group: Principal }[] = [];
      for (const part of chunks(principals)) {
        const rows = await sql.read
          .selectFrom("memberships")
          .select(["memberPrincipal as member", "groupPrincipal as group", "reportedBy"])
          .where("workspaceId", "=", workspaceId)
          .where("memberPrincipal", "in", part)
          // Not ordered there: for the sake of it SQLite would walk the whole key instead of the index by member.
          .execute();
        for (const { member, group, reportedBy } of rows) {
          if (reportedBy === authorityOf(group)) found.push({ member, group });
        }
      }
      found.sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0));
      return found;
    },

    async isMember(userId) {
      const row = await sql.read
        .selectFrom("members")
        .select("userId")
        .where("workspaceId", "=", workspaceId)
        .where("userId", "=", userId)
        .executeTakeFirst();
      return row !== undefined;
    },

    connectorGates() {
      return sql.read
        .selectFrom("connectors")
        .select(["connectorId", "providerId", "ownerUserId", "state", "aclCheckedAt"])
        .where("workspaceId", "=", workspaceId)
        .execute();
    },

    async marks() {
      const row = await sql.read
        .selectFrom("access_state")
        .select(["nextListId", "nextAclId"])
        .where("workspaceId", "=", workspaceId)
        .executeTakeFirst();
      return { listId: (row?.nextListId ?? 1) - 1, aclId: (row?.nextAclId ?? 1) - 1 };
    },

    async listsHolding(principals, afterListId) {
      const found = new Set<number>();
      for (const part of chunks(principals)) {
        const rows = await sql.read
          .selectFrom("access_list_principals")
          .select("listId")
          .where("workspaceId", "=", workspaceId)
          .where("principal", "in", part)
          .where("listId", ">", afterListId)
          .execute();
        for (const row of rows) found.add(row.listId);
      }
      return [...found];
    },

    async accessesAfter(afterAclId, limit) {
      const rows = await sql.read
        .selectFrom("accesses")
        .select(["aclId", "listIds"])
        .where("workspaceId", "=", workspaceId)
        .where("aclId", ">", afterAclId)
        .orderBy("aclId")
        .limit(limit)
        .execute();
      return rows.map((row) => ({ aclId: row.aclId, listIds: row.listIds.split(",").map(Number) }));
    },

    async visibleOf(aclIds, principals) {
      const held = new Set(principals);
      const wanted = [...new Set(aclIds)];
      const listIds = await listIdsOf(sql, workspaceId, wanted);
      const asked = new Set([...listIds.values()].flat());
      // No list has this number. The access of nobody, which has no lists, takes the statements of any other.
      if (listIds.size < wanted.length) asked.add(0);
      const lists = await principalsOfLists(sql, workspaceId, [...asked]);
      const isOpen = (listId: number) => (lists.get(listId) ?? []).some((principal) => held.has(principal));
      // An access without lists can't exist; if one did, it must be nobody's (`every` on [] is true).
      return new Set(
        wanted.filter((id) => {
          const ids = listIds.get(id) ?? [];
          return ids.length > 0 && ids.every(isOpen);
        }),
      );
    },

    async setMembers(group, members, reportedBy) {
      const before = await memberRows(group, reportedBy).execute();
      const wanted = new Set(members);
      const present = new Set(before.map((row) => row.memberPrincipal));
      const gone = [...present].filter((member) => !wanted.has(member));
      const fresh = [...wanted].filter((member) => !present.has(member));
      if (gone.length === 0 && fresh.length === 0) return;
      await writeMembers(group, { gone, fresh }, reportedBy);
      await store.raiseEpoch();
    },

    async changeMembers(group, { add, remove }, reportedBy) {
      const present = new Set<Principal>();
      for (const part of chunks([...new Set([...add, ...remove])])) {
        const rows = await memberRows(group, reportedBy).where("memberPrincipal", "in", part).execute();
        for (const row of rows) present.add(row.memberPrincipal);
      }
      const gone = [...new Set(remove)].filter((member) => present.has(member));
      const fresh = [...new Set(add)].filter((member) => !present.has(member));
      if (gone.length > 0 || fresh.length > 0) {
        await writeMembers(group, { gone, fresh }, reportedBy);
        await store.raiseEpoch();
      }
      return present;
    },

    async dropReported(reportedBy) {
      await sql.write
        .deleteFrom("memberships")
        .where("workspaceId", "=", workspaceId)
        .where("reportedBy", "=", reportedBy)
        .execute();
      await store.raiseEpoch();
    },

    async membersOf(group) {
      const rows = await sql.read
        .selectFrom("memberships")
        .select("memberPrincipal")
        .distinct()
        .where("workspaceId", "=", workspaceId)
        .where("groupPrincipal", "=", group)
        .orderBy("memberPrincipal")
        .execute();
      return rows.map((row) => row.memberPrincipal);
    },
  };
  return store;
}

/** Every OR list that must be met, or undefined for nobody. Source: S4. */
function allLists(access: SourceAccess, always: readonly Principal[]): Principal[][] | undefined {
  if (!access.known || access.all.length === 0) return undefined;
  const lists = [...access.all.map((list) => [...list]), ...always.map((principal) => [principal])];
  if (lists.some((list) => list.length === 0)) return undefined;
  return lists;
}

async function internList(sql: SqlHandles, workspaceId: string, list: readonly Principal[]): Promise<number> {
  const principals = [...new Set(list)].sort();
  const text = JSON.stringify(principals);
  const known = await sql.write
    .selectFrom("access_lists")
    .select("listId")
    .where("workspaceId", "=", workspaceId)
    .where("principals", "=", text)
    .executeTakeFirst();
  if (known) return known.listId;
  const listId = await takeNumber(sql, workspaceId, "nextListId");
  await sql.write.insertInto("access_lists").values({ workspaceId, listId, principals: text }).execute();
  for (const part of chunks(principals)) {
    await sql.write
      .insertInto("access_list_principals")
      .values(part.map((principal) => ({ workspaceId, principal, listId })))
      .execute();
  }
  return listId;
}

/** The next number of a counter that only grows. */
async function takeNumber(sql: SqlHandles, workspaceId: string, counter: "nextListId" | "nextAclId"): Promise<number> {
  await sql.write
    .insertInto("access_state")
    .values({ workspaceId, epoch: 1, nextListId: 1, nextAclId: 1 })
    .onConflict((oc) => oc.column("workspaceId").doNothing())
    .execute();
  const row = await sql.write
    .updateTable("access_state")
    .set((eb) => ({ [counter]: eb(counter, "+", 1) }))
    .where("workspaceId", "=", workspaceId)
    .returning(counter)
    .executeTakeFirstOrThrow();
  return row[counter] - 1;
}

async function listIdsOf(
  sql: SqlHandles,
  workspaceId: string,
  aclIds: readonly number[],
): Promise<Map<number, number[]>> {
  const found = new Map<number, number[]>();
  for (const part of chunks(aclIds)) {
    const rows = await sql.read
      .selectFrom("accesses")
      .select(["aclId", "listIds"])
      .where("workspaceId", "=", workspaceId)
      .where("aclId", "in", part)
      .execute();
    for (const row of rows) found.set(row.aclId, row.listIds.split(",").map(Number));
  }
  return found;
}

async function principalsOfLists(
  sql: SqlHandles,
  workspaceId: string,
  listIds: readonly number[],
): Promise<Map<number, Principal[]>> {
  const found = new Map<number, Principal[]>();
  for (const part of chunks(listIds)) {
    const rows = await sql.read
      .selectFrom("access_lists")
      .select(["listId", "principals"])
      .where("workspaceId", "=", workspaceId)
      .where("listId", "in", part)
      .execute();
    // Written by `internList` only.
    for (const row of rows) found.set(row.listId, JSON.parse(row.principals) as Principal[]);
  }
  return found;
}

/**
 * Who may say who belongs to this group, or who a user of a pusher's system is: the connector that owns it, else this
 * service. Source: S2, N3.
 */
function authorityOf(group: Principal): string {
  return /^(?:group|user:push):(con_[^:]+):/.exec(group)?.[1] ?? "kb";
}

function* chunks<T>(values: readonly T[]): Generator<T[]> {
  for (let i = 0; i < values.length; i += CHUNK) yield values.slice(i, i + CHUNK);
}
