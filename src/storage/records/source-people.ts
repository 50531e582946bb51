import { sql as rawSql } from "kysely";
import type { Principal } from "#core/principals.ts";
import {
  type EndedJoin,
  NO_PEOPLE,
  type PeopleBatch,
  type PeopleCounts,
  type PeopleEnd,
  type PeopleRefusal,
  type PeopleResult,
  type PeopleReporter,
  type ReportingRun,
  type PeopleEndSlice,
} from "#storage/people-batch.ts";
import { NEVER } from "#storage/access/item-clocks.ts";
import { onSame, same } from "#storage/conditions.ts";
import { callWriter, type SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { readInChunks } from "#storage/results.ts";
import { IDENTITIES, IDENTITY_JOINS, PEOPLE_FEEDS, SOURCE_GROUPS } from "#storage/tables/identities.ts";

/** A group as it was last reported. */
export interface SourceGroup {
  group: Principal;
  connectorId: string;
  toldIn: ReportingRun;
  /** The group's clock or its feed's, whichever is later. */
  checkedAt: number;
  members: number;
  /**
   * The ETag of the last full reading; null once a change was stored, because no report can then say that the group is
   * unchanged.
   */
  etag: string | null;
}

export interface PeopleSummary {
  groups: number;
  memberships: number;
  /** Active users, and how many of them are linked to a member. */
  users: number;
  joined: number;
  /** The clock of the group that was checked least recently; null without groups. */
  oldestAt: number | null;
  /** The end of the last complete run of mode `whole`. */
  wholeAt: number | null;
}

export type PeopleEndResult =
  | { isApplied: true; counts: PeopleCounts; endedJoins: EndedJoin[] }
  | { isApplied: false; reason: PeopleRefusal };

/**
 * Reads and writes the groups and users that connectors report. Each write is a procedure of the writer in a separate
 * transaction, so it can't be part of another one. Reports of a sync are stored with its items, as `ItemBatch.people`.
 */
export function makeSourcePeopleStore(sql: SqlHandles, workspaceId: string) {
  const identities = inWorkspace(sql, workspaceId, IDENTITIES);
  const sourceGroups = inWorkspace(sql, workspaceId, SOURCE_GROUPS);
  const feeds = inWorkspace(sql, workspaceId, PEOPLE_FEEDS);
  const groups = (connectorId: string) =>
    sourceGroups
      .select({ connectorId })
      .leftJoin("people_feeds", onSame(PEOPLE_FEEDS, SOURCE_GROUPS, "connectorId", "toldIn"))
      .select([
        "source_groups.groupPrincipal",
        "source_groups.connectorId",
        "source_groups.toldIn",
        "source_groups.checkedAt",
        "source_groups.followsFeed",
        "source_groups.members",
        "source_groups.etag",
      ])
      .select("people_feeds.currentAt");

  const findFeed = (connectorId: string, toldIn: ReportingRun) => feeds.find({ connectorId, toldIn });

  /**
   * Makes the next run read everything. Until then no feed confirms anything, and groups that followed a feed keep
   * their clock. A run under way is superseded. Call it in a transaction.
   */
  async function restart(connectorId: string): Promise<void> {
    for (const [table, clock] of [
      ["source_groups", "checkedAt"],
      ["identities", "toldAt"],
    ] as const) {
      await rawSql`
        update ${rawSql.table(table)} set ${rawSql.ref(clock)} = f."currentAt"
        from people_feeds f
        where f."workspaceId" = ${workspaceId} and f."connectorId" = ${connectorId}
          and ${rawSql.table(table)}."workspaceId" = f."workspaceId"
          and ${rawSql.table(table)}."connectorId" = f."connectorId" and ${rawSql.table(table)}."toldIn" = f."toldIn"
          and ${rawSql.table(table)}."followsFeed" = 1 and f."currentAt" > ${rawSql.table(table)}.${rawSql.ref(clock)}
      `.execute(sql.write);
    }
    await feeds
      .updating({ connectorId })
      .set((eb) => ({
        position: eb("position", "+", 1),
        cursor: null,
        currentAt: null,
        runId: null,
        runCursor: null,
        wholeAt: null,
      }))
      .execute();
  }

  async function oldestGroupAt(connectorId: string): Promise<number | null> {
    const oldest = await groups(connectorId)
      .clearSelect()
      .select((eb) =>
        eb.fn
          .agg<number | null>("min", [
            eb.fn("max", [
              "source_groups.checkedAt",
              eb("source_groups.followsFeed", "*", eb.fn.coalesce("people_feeds.currentAt", eb.lit(0))),
            ]),
          ])
          .as("at"),
      )
      // Groups without a clock have no reading.
      .where("source_groups.checkedAt", ">", NEVER)
      .executeTakeFirst();
    return oldest?.at ?? null;
  }

  return {
    /** Returns when the least recently read group was read; null when none was. Refused groups have no reading. */
    oldestGroupAt,

    /**
     * Begins a run, or resumes it.
     *
     * @returns `since` for its batches, and the cursor from which to resume: for mode `whole` the run's own, else the
     * feed's
     */
    begin: (reporter: PeopleReporter): Promise<{ position: number; cursor: string | null }> =>
      callWriter(sql, "beginPeople", { workspaceId, what: reporter }),

    /** Returns the run of mode `whole` that reached a cursor but not its end. */
    async findUnfinished(connectorId: string): Promise<string | undefined> {
      const feed = await findFeed(connectorId, "identities");
      return feed && feed.runCursor !== null ? (feed.runId ?? undefined) : undefined;
    },

    /** Stores a batch of reports, in order and in one transaction. Idempotent. */
    apply: (batch: PeopleBatch): Promise<PeopleResult> => callWriter(sql, "applyPeople", { workspaceId, what: batch }),

    /**
     * Finishes a run, slice by slice: removes what a complete whole run (or a listed slice of a sync) did not report,
     * then sets clocks. If the process is killed in between, the worker that resumes the run repeats it.
     */
    async end(end: PeopleEnd): Promise<PeopleEndResult> {
      const counts = { ...NO_PEOPLE };
      const endedJoins: EndedJoin[] = [];
      for (;;) {
        const slice: PeopleEndSlice = await callWriter(sql, "endPeople", { workspaceId, what: end });
        if (!slice.isApplied) return slice;
        counts.ended += slice.counts.ended;
        endedJoins.push(...slice.endedJoins);
        if (slice.isDone) return { isApplied: true, counts, endedJoins };
      }
    },

    /** Whether this kind of run has reported anything. */
    async hasReported(connectorId: string, toldIn: ReportingRun): Promise<boolean> {
      const where = { connectorId, toldIn };
      return (await sourceGroups.find(where)) !== undefined || (await identities.find(where)) !== undefined;
    },

    /** Returns those of these groups that were reported in full. */
    async findGroups(connectorId: string, named: readonly Principal[]): Promise<Map<Principal, SourceGroup>> {
      const rows = await readInChunks(named, (chunk) =>
        groups(connectorId).where("source_groups.groupPrincipal", "in", chunk).execute(),
      );
      return new Map(
        rows.map(({ groupPrincipal: group, followsFeed, currentAt, checkedAt, ...row }) => {
          const feedAt = followsFeed === 1 ? (currentAt ?? 0) : 0;
          return [group, { group, ...row, checkedAt: Math.max(checkedAt, feedAt) }];
        }),
      );
    },

    /** Returns every group that this kind of run reported. */
    async listGroups(connectorId: string, toldIn: ReportingRun): Promise<Principal[]> {
      const rows = await sourceGroups.select({ connectorId, toldIn }).select("groupPrincipal").execute();
      return rows.map(({ groupPrincipal }) => groupPrincipal);
    },

    /** Returns groups and users that were last checked before a time, the oldest first, at most `limit` of each. */
    async listDue(
      connectorId: string,
      { before, limit, toldIn = "identities" }: { before: number; limit: number; toldIn?: ReportingRun },
    ): Promise<{ groups: Principal[]; users: Principal[] }> {
      const feed = await findFeed(connectorId, toldIn);
      // Groups that follow a feed which was read since then have the feed's clock.
      const isFollowed = feed !== undefined && feed.currentAt !== null && feed.currentAt >= before;
      const dueGroups = await sourceGroups
        .select({ connectorId, toldIn })
        .select("groupPrincipal as principal")
        .where("checkedAt", "<", before)
        .$if(isFollowed, (query) => query.where("followsFeed", "=", 0))
        .orderBy("checkedAt")
        .limit(limit)
        .execute();
      const dueUsers = await identities
        .select({ connectorId, toldIn })
        .select("principal")
        .where("toldAt", "<", before)
        .$if(isFollowed, (query) => query.where("followsFeed", "=", 0))
        .orderBy("toldAt")
        .limit(limit)
        .execute();
      const namesOf = (rows: readonly { principal: Principal }[]) => rows.map(({ principal }) => principal);
      return { groups: namesOf(dueGroups), users: namesOf(dueUsers) };
    },

    restart,

    /**
     * Like `restart`, but also distrusts all reports until they are repeated, because they are about another place, or
     * older than their times. Raise the epoch in the same transaction.
     */
    async invalidate(connectorId: string): Promise<void> {
      await restart(connectorId);
      await sourceGroups.updating({ connectorId }).set({ checkedAt: 0, etag: null }).execute();
      await identities.updating({ connectorId }).set({ toldAt: 0 }).execute();
    },

    /**
     * Records the group of the people named in a connector's config, whose members are these from now on. Set the
     * members in the same transaction. The next run reports the group again.
     */
    async nameGroup(group: Principal, of: { connectorId: string; members: number; now: number; neverAges: boolean }) {
      const row = { checkedAt: of.now, neverAges: of.neverAges, members: of.members, digest: null, etag: null };
      const fresh = { followsFeed: true, toldPosition: 0, toldBy: "", seenBy: null, toldIn: "identities" as const };
      await sourceGroups.insert({ groupPrincipal: group, connectorId: of.connectorId, ...fresh, ...row }, row);
    },

    /** Returns how many groups and users a connector reports in separate runs, and the age of the oldest. */
    async summaryOf(connectorId: string): Promise<PeopleSummary> {
      const feed = await findFeed(connectorId, "identities");
      const { groups: count, memberships } = await sourceGroups
        .select({ connectorId })
        .select((eb) => [eb.fn.countAll<number>().as("groups"), eb.fn.sum<number>("members").as("memberships")])
        .executeTakeFirstOrThrow();
      const users = await identities
        .select({ connectorId, state: "active" })
        .leftJoin("identity_joins as j", (on) =>
          on.on(same({ ...IDENTITY_JOINS, name: "j" }, IDENTITIES, "principal")).on("j.endedAt", "is", null),
        )
        .select((eb) => [eb.fn.countAll<number>().as("users"), eb.fn.count<number>("j.userId").as("joined")])
        .executeTakeFirstOrThrow();
      return {
        groups: count,
        memberships: memberships ?? 0,
        ...users,
        oldestAt: await oldestGroupAt(connectorId),
        wholeAt: feed?.wholeAt ?? null,
      };
    },
  };
}
