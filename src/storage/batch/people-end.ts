import type { SqliteConnection } from "#storage/sqlite.ts";
import type { PeopleEnd, PeopleEndSlice, PeopleReporter } from "#storage/people-batch.ts";
import { endJoin, isJoined, setAliases } from "./people-users.ts";
import { savePeopleRun } from "./people-run.ts";
import { isPast, makePeopleWork, type PeopleWork, refusalOf, settlePeople } from "./people-work.ts";

/** Approximate number of memberships, and of users, that one slice ends. */
const SLICE_MEMBERS = 20_000;
const SLICE_USERS = 1_000;

/**
 * Begins or resumes a run. Anything that is reported from now on, by a whole run or while it is under way, isn't swept
 * at its end.
 *
 * @returns the feed position that its batches pass back, and the cursor from which it continues
 */
export function beginPeople(
  connection: SqliteConnection,
  workspaceId: string,
  reporter: PeopleReporter,
): { position: number; cursor: string | null } {
  const { feed, change, all } = makePeopleWork(connection, workspaceId, reporter);
  const { connectorId, toldIn, runId, mode } = reporter;
  if (mode === "whole" && feed.runId !== runId) {
    change(
      `insert into people_feeds (workspaceId, connectorId, toldIn, position, runId) values (?, ?, ?, 0, ?)
       on conflict do update set runId = excluded.runId, runCursor = null`,
      connectorId,
      toldIn,
      runId,
    );
  }
  const where = "where workspaceId = ? and connectorId = ? and toldIn = ?";
  const [row] = all(`select cursor, runCursor from people_feeds ${where}`, connectorId, toldIn);
  const cursor = row?.[mode === "whole" ? "runCursor" : "cursor"];
  return { position: feed.position, cursor: typeof cursor === "string" ? cursor : null };
}

/**
 * Runs one slice of a run's end. First, groups and users that the run should have reported but didn't are ended. Then
 * everything that follows the feed gets the feed's clock. Anything that any run reported since this run began stays.
 */
export function endPeople(connection: SqliteConnection, workspaceId: string, asked: PeopleEnd): PeopleEndSlice {
  const refusal = refusalOf(connection, workspaceId, asked);
  if (refusal) return { isApplied: false, reason: refusal };
  const work = makePeopleWork(connection, workspaceId, asked);
  const end = { ...asked, notLookedAt: [...asked.notLookedAt, ...unnamedIn(work, asked)] };
  // The listing of a container may be completed in a run of any mode.
  const sweeps = end.isComplete && (end.mode === "whole" || end.home !== undefined);
  if (end.mode === "whole" && work.feed.runId !== end.runId) return { isApplied: false, reason: "overtaken" };
  keepBack(work, end);
  const isDone = !sweeps || (sweepGroups(work, end) && (end.home !== undefined || sweepUsers(work, end)));
  if (isDone && end.home === undefined) close(work, end);
  settlePeople(work);
  if (end.run) savePeopleRun(work, end.run, { isCovered: false, isFurther: false });
  return { isApplied: true, isDone, counts: work.counts, endedJoins: work.endedJoins };
}

/** Returns the groups of containers that couldn't be checked, without those that the run reported anyway. */
function unnamedIn(work: PeopleWork, { connectorId, toldIn, runId, homesNotLookedAt = [] }: PeopleEnd): string[] {
  if (homesNotLookedAt.length === 0) return [];
  const rows = work.all(
    `select distinct groupPrincipal from group_homes join source_groups using (workspaceId, groupPrincipal)
     where workspaceId = ?1 and connectorId = ?2 and toldIn = ?3 and seenBy is not ?4
     and entityId in (select value from json_each(?5))`,
    connectorId,
    toldIn,
    runId,
    JSON.stringify(homesNotLookedAt),
  );
  return rows.map((row) => String(row["groupPrincipal"]));
}

/** Keeps the clocks of groups and users that couldn't be checked until they are read whole. */
function keepBack(work: PeopleWork, { notLookedAt }: PeopleEnd): void {
  if (notLookedAt.length === 0) return;
  const names = JSON.stringify(notLookedAt);
  const { feed, reporter } = work;
  // Groups and users that followed the feed until now get its current clock.
  const follow = (table: string, clock: string, principal: string) =>
    work.change(
      `update ${table} set followsFeed = 0, ${clock} = max(${clock}, coalesce(?2, 0))
       where workspaceId = ?1 and connectorId = ?3 and toldIn = ?4 and followsFeed = 1
         and ${principal} in (select value from json_each(?5))`,
      feed.currentAt,
      reporter.connectorId,
      reporter.toldIn,
      names,
    );
  follow("source_groups", "checkedAt", "groupPrincipal");
  follow("identities", "toldAt", "principal");
}

/** Ends groups that the run didn't report. @returns true when none is left */
function sweepGroups(work: PeopleWork, { connectorId, toldIn, runId, notLookedAt, home }: PeopleEnd): boolean {
  const isInside =
    "groupPrincipal in (select groupPrincipal from group_homes where workspaceId = ?1 and entityId = ?6)";
  const unnamed = home === undefined ? "seenBy is not ?4" : `toldBy is not ?4 and ${isInside}`;
  const rows = work.all(
    `select groupPrincipal from source_groups where workspaceId = ?1 and connectorId = ?2 and toldIn = ?3 and ${unnamed}
     and groupPrincipal not in (select value from json_each(?5))`,
    connectorId,
    toldIn,
    runId,
    JSON.stringify(notLookedAt),
    ...(home === undefined ? [] : [home]),
  );
  let left = SLICE_MEMBERS;
  for (const row of rows) {
    if (left <= 0) return false;
    const group = String(row["groupPrincipal"]);
    left -= 1 + work.change("delete from memberships where workspaceId = ? and groupPrincipal = ?", group);
    work.change("delete from source_groups where workspaceId = ? and groupPrincipal = ?", group);
    work.counts.ended++;
    work.isChanged = true;
  }
  return true;
}

/** Ends users that the run didn't report. @returns true when none is left */
function sweepUsers(work: PeopleWork, { connectorId, toldIn, runId, notLookedAt }: PeopleEnd): boolean {
  const rows = work.all(
    `select principal from identities where workspaceId = ? and connectorId = ? and toldIn = ? and seenBy is not ?
     and principal not in (select value from json_each(?)) limit ${SLICE_USERS}`,
    connectorId,
    toldIn,
    runId,
    JSON.stringify(notLookedAt),
  );
  for (const row of rows) forgetUser(work, String(row["principal"]));
  return rows.length < SLICE_USERS;
}

/**
 * Deletes a user of a source. A join ends with the connector that reported it; the report of another connector doesn't
 * continue it.
 */
function forgetUser(work: PeopleWork, principal: string): void {
  const { connectorId } = work.reporter;
  setAliases(work, principal, []);
  work.change(
    "delete from identities where workspaceId = ? and principal = ? and connectorId = ?",
    principal,
    connectorId,
  );
  const [join] = work.all(
    "select connectorId from identity_joins where workspaceId = ? and principal = ? and endedAt is null",
    principal,
  );
  if (join?.["connectorId"] === connectorId) endJoin(work, principal, "vanished");
  else if (isJoined(work, principal)) work.isChanged = true;
}

/** Closes the run. A whole run leaves the cursor from which changes to its groups and users continue, or no cursor. */
function close(work: PeopleWork, { mode, isComplete, currentAt, now, connectorId, toldIn }: PeopleEnd): void {
  if (mode === "groups") return;
  if (currentAt !== undefined && isPast(work, { at: work.feed.currentAt ?? 0, followsFeed: false }))
    work.isChanged = true;
  work.change(
    `insert into people_feeds (workspaceId, connectorId, toldIn, position, currentAt) values (?1, ?2, ?3, 1, ?4)
     on conflict do update set position = position + 1, currentAt = coalesce(?4, currentAt)`,
    connectorId,
    toldIn,
    currentAt ?? null,
  );
  if (mode !== "whole") return;
  work.change(
    `update people_feeds set cursor = runCursor, runCursor = null, runId = null, wholeAt = coalesce(?4, wholeAt)
     where workspaceId = ?1 and connectorId = ?2 and toldIn = ?3`,
    connectorId,
    toldIn,
    isComplete ? now : null,
  );
}
