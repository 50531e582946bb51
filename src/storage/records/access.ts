import { CompiledQuery, sql as rawSql } from "kysely";
import { inChunks } from "#core/in-chunks.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import { isOpen, meets } from "#storage/access/decision.ts";
import type { Believing } from "#storage/access/clocks.ts";
import { connectorPrincipal, isConnectorList } from "#storage/access/item-clocks.ts";
import { listsMet, newAccesses } from "#storage/access/decision-sql.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { authorityOf, believedOf } from "./believed-groups.ts";
import { forgetPeopleOf } from "./forget-people.ts";
import { makeItemClockStore } from "./item-clocks.ts";
import { same } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CHUNK, readInChunks } from "#storage/results.ts";
import { ACCESSES, ACCESS_LISTS, ACCESS_STATE, MEMBERSHIPS } from "#storage/tables/access.ts";
import { MEMBERS } from "#storage/tables/people.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";
import { FORMER_OWNERS, ITEMS } from "#storage/tables/items.ts";

/** Conditions besides the lists that decide whether a connector's items may be read at all. */
export interface ConnectorGate {
  connectorId: string;
  providerId: string;
  ownerUserId: string;
  state: string;
  /** Epoch milliseconds of the last listing that would have shown a permission change; null = never or forgotten. */
  aclCheckedAt: number | null;
  /** Since when its source has refused every request; null while it answers. */
  refusedAt: number | null;
  /** Since when its items are hidden, because they were read elsewhere or by someone else. */
  withheldAt: number | null;
}

export type AccessStore = ReturnType<typeof makeAccessStore>;

/** The permission model's records of one workspace. Source: S1, S2, S4, S6. */
export function makeAccessStore(sql: SqlHandles, workspaceId: string) {
  const memberships = inWorkspace(sql, workspaceId, MEMBERSHIPS);
  const state = inWorkspace(sql, workspaceId, ACCESS_STATE);
  const memberRows = (group: Principal, reportedBy: string) =>
    // Read through the writer: the next write depends on it.
    inWorkspace({ read: sql.write, write: sql.write }, workspaceId, MEMBERSHIPS)
      .select({ groupPrincipal: group, reportedBy })
      .select("memberPrincipal");

  async function writeMembers(
    group: Principal,
    { gone, fresh }: { gone: readonly Principal[]; fresh: readonly Principal[] },
    reportedBy: string,
  ): Promise<void> {
    for (const chunk of inChunks(gone, CHUNK)) {
      await memberships.deleting({ groupPrincipal: group, reportedBy }).where("memberPrincipal", "in", chunk).execute();
    }
    for (const chunk of inChunks(fresh, CHUNK)) {
      // Raw: many rows at once.
      await sql.write
        .insertInto("memberships")
        .values(chunk.map((memberPrincipal) => ({ workspaceId, groupPrincipal: group, memberPrincipal, reportedBy })))
        .execute();
    }
  }

  async function raiseEpoch(): Promise<void> {
    await state
      .inserting({ epoch: 1, nextListId: 1, nextAclId: 1 })
      .onConflict((oc) => oc.column("workspaceId").doUpdateSet((eb) => ({ epoch: eb("access_state.epoch", "+", 1) })))
      .execute();
  }

  const store = {
    ...makeItemClockStore(sql, workspaceId, raiseEpoch),

    workspaceId,

    /** Rises with every change to memberships, roles, connector access or state; keys the caches. */
    async epoch(): Promise<number> {
      const row = await state.select().select("epoch").executeTakeFirst();
      return row?.epoch ?? 0;
    },

    /** Raises the epoch; call it in the transaction of the change. */
    raiseEpoch,

    /**
     * Returns the number of an item's own access with another clock: its connector's (null), or its own. A part without
     * an access of its own has a clock as its only list, which is ANDed with its parent's access.
     */
    async reclock(
      ownAclId: number | null,
      connectorId: string,
      at: number | null,
      interner: { access(access: SourceAccess, always: readonly Principal[]): number; save(aclId: number): void },
    ): Promise<number> {
      if (ownAclId !== null && ownAclId <= 0) return ownAclId;
      if (ownAclId !== null) interner.save(ownAclId);
      const lists = ownAclId === null ? [] : await store.listsOf(ownAclId);
      const named = lists.filter((list) => !isConnectorList(list, connectorId));
      const clock = connectorPrincipal(connectorId, at);
      return interner.access({ known: true, all: [...named, [clock]] }, []);
    },

    /** The lists of an access, for explain and for the re-check; `[]` for 0 (no one) and for unknown numbers. */
    async listsOf(aclId: number): Promise<Principal[][]> {
      const listIds = await listIdsOf(sql, workspaceId, [aclId]);
      const principals = await principalsOfLists(sql, workspaceId, listIds.get(aclId) ?? []);
      return (listIds.get(aclId) ?? []).map((id) => principals.get(id) ?? []);
    },

    /**
     * The closure: every principal these stand for through memberships, themselves included, sorted. A membership
     * counts only as its authority reported it: `group:<con>:…` by that connector, everything else by `kb` (S2, N3).
     */
    async expand(principals: readonly Principal[]): Promise<Principal[]> {
      return (await store.expandAt(principals)).principals;
    },

    /**
     * The closure as of now: groups of a source, and its users linked to a member, count only while they are believed.
     * Without `at`, only those that never age count.
     *
     * @returns also the instant from which time alone removes something
     */
    async expandAt(
      principals: readonly Principal[],
      at?: Believing,
    ): Promise<{ principals: Principal[]; validUntil: number }> {
      const found = new Set(principals);
      let validUntil = Infinity;
      let edge = [...found];
      while (edge.length > 0) {
        const groups = new Set((await store.groupsOf(edge)).map((row) => row.group));
        for (const group of groups) if (found.has(group)) groups.delete(group);
        const believed = await believedOf(sql, workspaceId, [...groups], at);
        edge = [...believed.keys()];
        for (const group of edge) found.add(group);
        for (const until of believed.values()) validUntil = Math.min(validUntil, until);
      }
      return { principals: [...found].sort(), validUntil };
    },

    /** The direct memberships of these principals, counted as `expand` counts them but for the clocks. */
    async groupsOf(principals: readonly Principal[]): Promise<{ member: Principal; group: Principal }[]> {
      const rows = await readInChunks(principals, (chunk) =>
        memberships
          .select()
          .select(["memberPrincipal as member", "groupPrincipal as group", "reportedBy"])
          .where("memberPrincipal", "in", chunk)
          // Not ordered in SQL: SQLite would walk the whole key instead of the index by member.
          .execute(),
      );
      return rows
        .flatMap(({ member, group, reportedBy }) => (reportedBy === authorityOf(group) ? [{ member, group }] : []))
        .sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0));
    },

    /** True while this user is a member of the workspace. */
    async isMember(userId: string): Promise<boolean> {
      return (await inWorkspace(sql, workspaceId, MEMBERS).find({ userId })) !== undefined;
    },

    /** Every connector's gate. */
    connectorGates(): Promise<ConnectorGate[]> {
      return inWorkspace(sql, workspaceId, CONNECTORS)
        .select()
        .select(["connectorId", "providerId", "ownerUserId", "state", "aclCheckedAt", "refusedAt", "withheldAt"])
        .execute();
    },

    /** Connectors that this user once owned and that still hold something read during that time. */
    async leftBehindBy(userId: string): Promise<Set<string>> {
      const rows = await inWorkspace(sql, workspaceId, FORMER_OWNERS)
        .select({ userId })
        .select("former_owners.connectorId")
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom("items")
              .select("items.kbId")
              .where(same(ITEMS, FORMER_OWNERS, "connectorId"))
              // Written exactly as in the partial index.
              .where(rawSql<boolean>`"readElsewhere" = 1`)
              .where("items.removedAt", "is", null),
          ),
        )
        .execute();
      return new Set(rows.map(({ connectorId }) => connectorId));
    },

    /** The highest numbers given so far; numbers only grow and never change their meaning. */
    async marks(): Promise<{ listId: number; aclId: number }> {
      const row = await state.select().select(["nextListId", "nextAclId"]).executeTakeFirst();
      return { listId: (row?.nextListId ?? 1) - 1, aclId: (row?.nextAclId ?? 1) - 1 };
    },

    /** Of the lists numbered above `afterListId`, those that hold one of `principals`, by whom they hold. */
    async listsHolding(principals: readonly Principal[], afterListId: number): Promise<Map<Principal, number[]>> {
      const rows = await readInChunks(principals, async (chunk) => {
        const query = CompiledQuery.raw(listsMet(chunk.length), [workspaceId, ...chunk, afterListId]);
        // The columns that `listsMet` selects.
        return (await sql.read.executeQuery(query as CompiledQuery<{ principal: Principal; listId: number }>)).rows;
      });
      const found = new Map<Principal, number[]>();
      for (const { principal, listId } of rows) {
        const lists = found.get(principal);
        if (lists) lists.push(listId);
        else found.set(principal, [listId]);
      }
      return found;
    },

    /** Accesses numbered above `afterAclId` as one text, at most `limit`; null = none. See `AccessCodes`. */
    async accessTextAfter(afterAclId: number, limit: number): Promise<string | null> {
      const query = CompiledQuery.raw(newAccesses(limit), [workspaceId, afterAclId]);
      // The column that `newAccesses` selects.
      const { rows } = await sql.read.executeQuery(query as CompiledQuery<{ text: string | null }>);
      return rows[0]?.text ?? null;
    },

    /** Of these access numbers, those that every list of which holds one of `principals`. */
    async visibleOf(aclIds: readonly number[], principals: readonly Principal[]): Promise<Set<number>> {
      const held = new Set(principals);
      const wanted = [...new Set(aclIds)];
      const listIds = await listIdsOf(sql, workspaceId, wanted);
      const asked = new Set([...listIds.values()].flat());
      // No list has this number. The access of no one has no lists, but uses the same statements.
      if (listIds.size < wanted.length) asked.add(0);
      const lists = await principalsOfLists(sql, workspaceId, [...asked]);
      const isMet = (listId: number) => meets(lists.get(listId) ?? [], held);
      return new Set(wanted.filter((id) => isOpen(listIds.get(id) ?? [], isMet)));
    },

    /** Makes exactly these the members of a group, as `reportedBy` says; raises the epoch when something changed. */
    async setMembers(group: Principal, members: readonly Principal[], reportedBy: string): Promise<void> {
      const before = await memberRows(group, reportedBy).execute();
      const wanted = new Set(members);
      const present = new Set(before.map((row) => row.memberPrincipal));
      const gone = [...present].filter((member) => !wanted.has(member));
      const fresh = [...wanted].filter((member) => !present.has(member));
      if (gone.length === 0 && fresh.length === 0) return;
      await writeMembers(group, { gone, fresh }, reportedBy);
      await store.raiseEpoch();
    },

    /**
     * Adds and takes out members of a group, as `reportedBy` says; raises the epoch when something changed.
     *
     * @returns which of the named members were in it before
     */
    async changeMembers(
      group: Principal,
      { add, remove }: { add: readonly Principal[]; remove: readonly Principal[] },
      reportedBy: string,
    ): Promise<Set<Principal>> {
      const rows = await readInChunks([...new Set([...add, ...remove])], (chunk) =>
        memberRows(group, reportedBy).where("memberPrincipal", "in", chunk).execute(),
      );
      const present = new Set(rows.map((row) => row.memberPrincipal));
      const gone = [...new Set(remove)].filter((member) => present.has(member));
      const fresh = [...new Set(add)].filter((member) => !present.has(member));
      if (gone.length > 0 || fresh.length > 0) {
        await writeMembers(group, { gone, fresh }, reportedBy);
        await store.raiseEpoch();
      }
      return present;
    },

    /**
     * Ends every membership that this connector reported, and forgets the groups and users it reported; raises the
     * epoch.
     *
     * @param at  epoch milliseconds, for joins that end with it
     */
    async dropReported(reportedBy: string, at: number): Promise<void> {
      await memberships.remove({ reportedBy });
      await forgetPeopleOf(sql, { workspaceId, connectorId: reportedBy, at });
      await store.raiseEpoch();
    },

    /** Who is a direct member of the group. */
    async membersOf(group: Principal): Promise<Principal[]> {
      const rows = await memberships
        .select({ groupPrincipal: group })
        .select("memberPrincipal")
        .distinct()
        .orderBy("memberPrincipal")
        .execute();
      return rows.map((row) => row.memberPrincipal);
    },
  };
  return store;
}

async function listIdsOf(
  sql: SqlHandles,
  workspaceId: string,
  aclIds: readonly number[],
): Promise<Map<number, number[]>> {
  const accesses = inWorkspace(sql, workspaceId, ACCESSES);
  const rows = await readInChunks(aclIds, (chunk) =>
    accesses.select().select(["aclId", "listIds"]).where("aclId", "in", chunk).execute(),
  );
  return new Map(rows.map((row) => [row.aclId, row.listIds.split(",").map(Number)]));
}

async function principalsOfLists(
  sql: SqlHandles,
  workspaceId: string,
  listIds: readonly number[],
): Promise<Map<number, Principal[]>> {
  const lists = inWorkspace(sql, workspaceId, ACCESS_LISTS);
  const rows = await readInChunks(listIds, (chunk) =>
    lists.select().select(["listId", "principals"]).where("listId", "in", chunk).execute(),
  );
  return new Map(rows.map(ACCESS_LISTS.read).map(({ listId, principals }) => [listId, principals]));
}
