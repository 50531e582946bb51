import { believedUntil } from "#storage/access/clocks.ts";
import type { Principal } from "#core/principals.ts";
import type { SqliteConnection, SqlRow, SqlValue } from "#storage/sqlite.ts";
import {
  type EndedJoin,
  NO_PEOPLE,
  type PeopleCounts,
  type PeopleRefusal,
  type PeopleReporter,
} from "#storage/people-batch.ts";

/** State of one change to groups and users while it is applied. */
export interface PeopleWork {
  workspaceId: string;
  reporter: PeopleReporter;
  feed: Feed;
  counts: PeopleCounts;
  endedJoins: EndedJoin[];
  unknown: Principal[];
  /** Groups that the run hadn't reported before, and how many of them were unchanged. */
  tallied: { groups: number; unchanged: number };
  /** Whether the principals of some person have changed. */
  isChanged: boolean;
  /** Runs a statement whose first parameter is the workspace. */
  all(sql: string, ...values: SqlValue[]): SqlRow[];
  change(sql: string, ...values: SqlValue[]): number;
}

export interface Feed {
  position: number;
  currentAt: number | null;
  runId: string | null;
}

const NO_FEED: Feed = { position: 0, currentAt: null, runId: null };

/** Returns why nothing may be stored; undefined when the change may be stored. */
export function refusalOf(
  connection: SqliteConnection,
  workspaceId: string,
  { connectorId, job, scopeVersion }: PeopleReporter,
): Exclude<PeopleRefusal, "overtaken"> | undefined {
  const one = (sql: string, ...values: string[]) => connection.execute(sql, values).rows[0];
  const connector = one(
    "select state, scopeVersion from connectors where workspaceId = ? and connectorId = ?",
    workspaceId,
    connectorId,
  );
  if (!connector || connector["state"] === "deleting") return "connector_inactive";
  if (scopeVersion !== undefined && connector["scopeVersion"] !== scopeVersion) return "scope_changed";
  if (!job) return undefined;
  const claimed = one("select leaseOwner from jobs where jobId = ?", job.jobId);
  return claimed?.["leaseOwner"] === job.leaseOwner ? undefined : "lease_lost";
}

export function makePeopleWork(
  connection: SqliteConnection,
  workspaceId: string,
  reporter: PeopleReporter,
): PeopleWork {
  const isAdminMade = `select 1 from connectors c join members m on m.workspaceId = c.workspaceId and m.userId = c.createdBy
    where c.workspaceId = ? and c.connectorId = ? and m.role <> 'member'`;
  // The connector's creator may have lost the admin role since the run began.
  const isTrusted =
    reporter.isTrusted && connection.execute(isAdminMade, [workspaceId, reporter.connectorId]).rows.length > 0;
  const work: PeopleWork = {
    workspaceId,
    reporter: { ...reporter, isTrusted },
    feed: NO_FEED,
    counts: { ...NO_PEOPLE },
    endedJoins: [],
    unknown: [],
    tallied: { groups: 0, unchanged: 0 },
    isChanged: false,
    all: (sql, ...values) => connection.execute(sql, [workspaceId, ...values]).rows,
    change: (sql, ...values) => connection.execute(sql, [workspaceId, ...values]).changes,
  };
  const [row] = work.all(
    `select position, currentAt, runId from people_feeds
     where workspaceId = ? and connectorId = ? and toldIn = ?`,
    reporter.connectorId,
    reporter.toldIn,
  );
  // The query selects exactly these columns.
  if (row) work.feed = { ...(row as unknown as Feed) };
  return work;
}

/** Rebuilds everyone's principals if any of them changed. Call it last. */
export function settlePeople({ isChanged, change }: PeopleWork): void {
  if (!isChanged) return;
  change(
    `insert into access_state (workspaceId, epoch, nextListId, nextAclId) values (?, 1, 1, 1)
     on conflict do update set epoch = epoch + 1`,
  );
}

/**
 * Whether the clock had expired. If so, no one held the group or user, and caches must be updated for the people who
 * regain it.
 */
export function isPast(
  { feed, reporter }: PeopleWork,
  { at, followsFeed, neverAges = false }: { at: number; followsFeed: boolean; neverAges?: boolean },
): boolean {
  return (
    !neverAges &&
    believedUntil(at, reporter) === undefined &&
    (!followsFeed || believedUntil(feed.currentAt, reporter) === undefined)
  );
}
