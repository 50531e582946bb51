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

/** Conditions in addition to the lists that decide whether a connector's items may be read at all. */
export interface ConnectorGate {
  connectorId: string;
  providerId: string;
  ownerUserId: string;
  state: string;
  /**
   * Epoch milliseconds of the last listing that would have shown a permission change; null = there was none, or it was
   * forgotten.
   */
  aclCheckedAt: number | null;
  /** The time at which its source began to refuse every request; null while the source responds. */
  refusedAt: number | null;
  /**
   * The time since which its items are hidden, because they were read elsewhere or for another owner; null = not
   * hidden.
   */
  withheldAt: number | null;
}

export type AccessStore = ReturnType<typeof makeAccessStore>;

/** Reads and writes the permission model's records of one workspace. Source: S1, S2, S4, S6. */
export function makeAccessStore(sql: SqlHandles, workspaceId: string) {
  const memberships = inWorkspace(sql, workspaceId, MEMBERSHIPS);
  const state = inWorkspace(sql, workspaceId, ACCESS_STATE);
  const memberRows = (group: Principal, reportedBy: string) =>
    // Read through the writer, because the next write depends on it.
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

    /**
     * Returns the epoch, which rises with every change to memberships, roles, connector access or state. It is part of
     * the keys of caches.
     */
    async epoch(): Promise<number> {
      const row = await state.select().select("epoch").executeTakeFirst();
      return row?.epoch ?? 0;
    },

    /** Raises the epoch. Call it in the transaction of the change. */
    raiseEpoch,

    /**
     * Returns the number of an item's own access with another clock: its connector's (null), or the item's own. A part
     * without its own access has a clock as its only list, which is ANDed with its parent's access.
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

    /**
     * Returns the lists of an access, for explanations and for the re-check; `[]` for 0 (no one) and for unknown
     * numbers.
     */
    async listsOf(aclId: number): Promise<Principal[][]> {
      const listIds = await listIdsOf(sql, workspaceId, [aclId]);
      const principals = await principalsOfLists(sql, workspaceId, listIds.get(aclId) ?? []);
      return (listIds.get(aclId) ?? []).map((id) => principals.get(id) ?? []);
    },

    /**
     * Returns the closure of these principals: every principal that they belong to through memberships, themselves
     * included, sorted. A membership is used only if its authority reported it: `group:<con>:…` by that connector,
     * everything else by `kb` (S2, N3).
     */
    async expand(principals: readonly Principal[]): Promise<Principal[]> {
      return (await store.expandAt(principals)).principals;
    },

    /**
     * Returns the closure at a time. Groups of a source, and its users linked to a member, are included only while they
     * are trusted. Without `at`, only principals that never expire are included.
     *
     * @returns also the instant from which the passage of time alone removes something
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

    /** Returns the direct memberships of these principals, by the rules of `expand` but without the clocks. */
    async groupsOf(principals: readonly Principal[]): Promise<{ member: Principal; group: Principal }[]> {
      const rows = await readInChunks(principals, (chunk) =>
        memberships
          .select()
          .select(["memberPrincipal as member", "groupPrincipal as group", "reportedBy"])
          .where("memberPrincipal", "in", chunk)
          // Not ordered in SQL, because SQLite would then walk the whole key instead of the index by member.
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

    /** Returns the gates of all connectors. */
    connectorGates(): Promise<ConnectorGate[]> {
      return inWorkspace(sql, workspaceId, CONNECTORS)
        .select()
        .select(["connectorId", "providerId", "ownerUserId", "state", "aclCheckedAt", "refusedAt", "withheldAt"])
        .execute();
    },

    /** Returns connectors that this user once owned and that still hold something that was read during that time. */
    async leftBehindBy(userId: string): Promise<Set<string>> {
      const rows = await inWorkspace(sql, workspaceId, FORMER_OWNERS)
        .select({ userId })
        .select("former_owners.connectorId")
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom("items")
              .select("items.kbId")
              .where(same(ITEMS, FORMER_OWNERS, "connectorId"))
              // Written exactly as in the partial index, so that SQLite uses the index.
              .where(rawSql<boolean>`"readElsewhere" = 1`)
              .where("items.removedAt", "is", null),
          ),
        )
        .execute();
      return new Set(rows.map(({ connectorId }) => connectorId));
    },

    /** Returns the highest numbers in use. Numbers only grow and never change their meaning. */
    async marks(): Promise<{ listId: number; aclId: number }> {
      const row = await state.select().select(["nextListId", "nextAclId"]).executeTakeFirst();
      return { listId: (row?.nextListId ?? 1) - 1, aclId: (row?.nextAclId ?? 1) - 1 };
    },

    /** Returns the lists numbered above `afterListId` that name one of `principals`, by the principal. */
    async listsHolding(principals: readonly Principal[], afterListId: number): Promise<Map<Principal, number[]>> {
      const rows = await readInChunks(principals, async (chunk) => {
        const query = CompiledQuery.raw(listsMet(chunk.length), [workspaceId, ...chunk, afterListId]);
        // `listsMet` selects these columns.
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

    /**
     * Returns accesses numbered above `afterAclId` as one text, at most `limit`; null = there are none. See
     * `AccessCodes`.
     */
    async accessTextAfter(afterAclId: number, limit: number): Promise<string | null> {
      const query = CompiledQuery.raw(newAccesses(limit), [workspaceId, afterAclId]);
      // `newAccesses` selects this column.
      const { rows } = await sql.read.executeQuery(query as CompiledQuery<{ text: string | null }>);
      return rows[0]?.text ?? null;
    },

    /** Returns those of these access numbers whose every list names one of `principals`. */
    async visibleOf(aclIds: readonly number[], principals: readonly Principal[]): Promise<Set<number>> {
      const held = new Set(principals);
      const wanted = [...new Set(aclIds)];
      const listIds = await listIdsOf(sql, workspaceId, wanted);
      const asked = new Set([...listIds.values()].flat());
      // No list has the number 0. An access that is open to no one has no lists, but it goes through the same
      // statements, so that it takes the same work.
      if (listIds.size < wanted.length) asked.add(0);
      const lists = await principalsOfLists(sql, workspaceId, [...asked]);
      const isMet = (listId: number) => meets(lists.get(listId) ?? [], held);
      return new Set(wanted.filter((id) => isOpen(listIds.get(id) ?? [], isMet)));
    },

    /**
     * Replaces the members of a group by these, on the report of `reportedBy`. Raises the epoch when something changed.
     */
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
     * Adds and removes members of a group, on the report of `reportedBy`. Raises the epoch when something changed.
     *
     * @returns which of the named members were in the group before
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
     * Ends every membership that this connector reported, and forgets the groups and users that it reported. Raises the
     * epoch.
     *
     * @param at  epoch milliseconds, for joins that end with it
     */
    async dropReported(reportedBy: string, at: number): Promise<void> {
      await memberships.remove({ reportedBy });
      await forgetPeopleOf(sql, { workspaceId, connectorId: reportedBy, at });
      await store.raiseEpoch();
    },

    /** Returns the direct members of the group. */
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
