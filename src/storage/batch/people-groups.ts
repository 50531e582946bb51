import { hash } from "node:crypto";
import type { Principal } from "#core/principals.ts";
import { NEVER } from "#storage/access/item-clocks.ts";
import type { SqlRow } from "#storage/sqlite.ts";
import type { PeopleEvent, WholeGroup } from "#storage/people-batch.ts";
import { isPast, type PeopleWork } from "./people-work.ts";

const CLOCK = "checkedAt as at, toldIn, followsFeed, neverAges, members, digest, toldPosition, toldBy";

interface KnownGroup {
  at: number;
  toldIn: string;
  followsFeed: boolean;
  neverAges: boolean;
  members: number;
  /** Digests of the group's sorted members and of its members as reported, separated by a space; null = unknown. */
  digest: string | null;
  toldPosition: number;
  /** The run that last reported the group. */
  toldBy: string | null;
}

function findGroup(work: PeopleWork, group: Principal): KnownGroup | undefined {
  requireOwn(work, group);
  const [row] = work.all(`select ${CLOCK} from source_groups where workspaceId = ? and groupPrincipal = ?`, group);
  return row && toKnown(row);
}

function findGroups(work: PeopleWork, groups: readonly Principal[]): Map<Principal, KnownGroup> {
  for (const group of groups) requireOwn(work, group);
  const rows = work.all(
    `select groupPrincipal, ${CLOCK} from source_groups
     where workspaceId = ? and groupPrincipal in (select value from json_each(?))`,
    JSON.stringify(groups),
  );
  return new Map(rows.map((row) => [String(row["groupPrincipal"]), toKnown(row)]));
}

function requireOwn({ reporter }: PeopleWork, group: Principal): void {
  if (!group.startsWith(`group:${reporter.connectorId}:`)) throw new Error("A group of another connector's.");
}

function toKnown(row: SqlRow): KnownGroup {
  return {
    at: Number(row["at"]),
    toldIn: String(row["toldIn"]),
    followsFeed: row["followsFeed"] === 1,
    neverAges: row["neverAges"] === 1,
    members: Number(row["members"]),
    digest: row["digest"] === null ? null : String(row["digest"]),
    toldPosition: Number(row["toldPosition"]),
    toldBy: row["toldBy"] === null ? null : String(row["toldBy"]),
  };
}

/**
 * Sets the members of each group, unless they are already the same. Unchanged groups take one row each, written by one
 * statement, however many members there are. No group may be in `groups` twice.
 */
export function setGroups(work: PeopleWork, groups: readonly WholeGroup[]): void {
  const known = findGroups(
    work,
    groups.map(({ group }) => group),
  );
  const readings: Reading[] = [];
  for (const reported of groups) {
    const before = known.get(reported.group);
    if (before && isOvertaken(work, reported, before)) continue;
    work.counts.groups++;
    const reading = readingOf(reported, before);
    readings.push(reading);
    tally(work, before, reading.replaced === undefined);
    if (reading.replaced === undefined) work.counts.unchanged++;
    else replaceMembers(work, reported.group, reading.replaced);
    // The group's clock had expired, so its members regain it.
    if (before && isPast(work, before)) work.isChanged = true;
  }
  keepReadings(work, readings);
  for (const { group, homes } of groups) {
    // Only a sync reports the containers to which a group belongs.
    if (homes !== undefined || known.get(group)?.toldIn !== "identities") setHomes(work, group, homes ?? []);
  }
}

/**
 * Whether a concurrent run has read the group later. A whole run's report of a group may be as old as the run's
 * beginning, because teams are read before the repositories that they can access. A run over some groups reports each
 * group as soon as it is read.
 */
function isOvertaken({ reporter, all }: PeopleWork, reported: WholeGroup, before: KnownGroup): boolean {
  const { begunAt, runId, mode, now } = reporter;
  if (begunAt === undefined || before.toldBy === null || before.toldBy === runId) return false;
  // The time was recorded before the clock was set back.
  if (before.at > now) return false;
  if (mode !== "groups") return before.at > begunAt;
  const [other] = all("select startedAt from syncs where workspaceId = ? and syncId = ?", before.toldBy);
  return other !== undefined && Number(other["startedAt"] ?? 0) > reported.at;
}

/** Counts a group once per run, however many attempts report it. */
function tally({ tallied, reporter }: PeopleWork, before: KnownGroup | undefined, isUnchanged: boolean): void {
  if (before?.toldBy === reporter.runId) return;
  tallied.groups++;
  if (isUnchanged) tallied.unchanged++;
}

interface Reading extends Pick<WholeGroup, "group" | "at" | "count" | "digest" | "etag"> {
  /** JSON array of the group's new members, sorted, each once; undefined = they are unchanged. */
  replaced?: string;
}

/**
 * Compares a reading with the stored group. Sources nearly always report members in the same order, and then nothing is
 * sorted. Members in another order are still the same group.
 */
function readingOf(
  { group, at, etag, digest: reportedDigest, members }: WholeGroup,
  before: KnownGroup | undefined,
): Reading {
  const [sorted, last] = before?.digest?.split(" ") ?? [];
  if (before?.digest && last === reportedDigest)
    return { group, at, etag, count: before.members, digest: before.digest };
  // Only `makeGroupPages` writes this text.
  const each = [...new Set(JSON.parse(members) as Principal[])].sort();
  const json = JSON.stringify(each);
  const digest = hash("sha256", json, "base64");
  const reading = { group, at, etag, count: each.length, digest: `${digest} ${reportedDigest}` };
  return digest === sorted ? reading : { ...reading, replaced: json };
}

/** Writes one row per group, which records that it was read whole now, with this content. */
function keepReadings(work: PeopleWork, groups: readonly Reading[]): void {
  const { connectorId, toldIn, runId, neverAges = false } = work.reporter;
  const rows = groups.map(({ group, at, count, digest, etag }) => [group, at, count, digest, etag]);
  work.change(
    `insert into source_groups (workspaceId, groupPrincipal, connectorId, toldIn, checkedAt, followsFeed, neverAges, members,
       digest, etag, toldPosition, toldBy, seenBy)
     select ?1, value ->> 0, ?2, ?3, value ->> 1, 1, ?4, value ->> 2, value ->> 3, value ->> 4, ?5, ?6, ?7
     from json_each(?8) where true
     on conflict do update set toldIn = excluded.toldIn, checkedAt = excluded.checkedAt, followsFeed = 1,
       neverAges = excluded.neverAges, members = excluded.members, digest = excluded.digest, etag = excluded.etag,
       toldPosition = excluded.toldPosition, toldBy = excluded.toldBy, seenBy = excluded.seenBy`,
    connectorId,
    toldIn,
    neverAges ? 1 : 0,
    work.feed.position + 1,
    runId,
    work.feed.runId,
    JSON.stringify(rows),
  );
}

function setHomes(work: PeopleWork, group: Principal, homes: readonly string[]): void {
  const json = JSON.stringify(homes);
  work.change(
    `delete from group_homes where workspaceId = ? and groupPrincipal = ?
     and entityId not in (select value from json_each(?))`,
    group,
    json,
  );
  if (homes.length === 0) return;
  work.change(
    `insert or ignore into group_homes (workspaceId, entityId, groupPrincipal) select ?1, value, ?2 from json_each(?3)`,
    group,
    json,
  );
}

/**
 * Records that the source refused to show a group. The group has no members until it is read whole, so a "same" report
 * doesn't apply to the stored members. It was reported, so no listing ends it. Where access is set in kb, the group
 * stays as it is.
 */
export function refuseGroup(work: PeopleWork, group: Principal): void {
  const known = findGroup(work, group);
  if (!known || known.neverAges) return;
  if (!isPast(work, known)) work.isChanged = true;
  work.change(
    `update source_groups set checkedAt = ${NEVER}, followsFeed = 0, digest = null, etag = null, toldBy = ?3, seenBy = ?4
     where workspaceId = ?1 and groupPrincipal = ?2`,
    group,
    work.reporter.runId,
    work.feed.runId,
  );
}

function replaceMembers(work: PeopleWork, group: Principal, members: string): void {
  const { connectorId } = work.reporter;
  const removed = work.change(
    `delete from memberships where workspaceId = ?1 and groupPrincipal = ?2 and reportedBy = ?3
       and memberPrincipal not in (select value from json_each(?4))`,
    group,
    connectorId,
    members,
  );
  const added = work.change(
    `insert or ignore into memberships (workspaceId, groupPrincipal, memberPrincipal, reportedBy)
     select ?1, ?2, value, ?3 from json_each(?4)`,
    group,
    connectorId,
    members,
  );
  work.counts.removed += removed;
  work.counts.added += added;
  if (removed + added > 0) work.isChanged = true;
}

/** Records that a group is unchanged. That can apply only to a group that was read whole and hasn't changed since. */
export function keepGroup(work: PeopleWork, group: Principal, at: number): void {
  const known = findGroup(work, group);
  if (!known || known.digest === null) {
    work.unknown.push(group);
    return;
  }
  work.counts.same++;
  tally(work, known, true);
  if (isPast(work, known)) work.isChanged = true;
  work.change(
    `update source_groups set checkedAt = ?3, followsFeed = 1, toldPosition = ?4, toldBy = ?5,
       seenBy = ?6
     where workspaceId = ?1 and groupPrincipal = ?2`,
    group,
    at,
    work.feed.position + 1,
    work.reporter.runId,
    work.feed.runId,
  );
}

/**
 * Adds or removes a member. A removal always applies, although a late replay may remove someone who has joined again.
 * An addition applies only if nothing newer is known. If the stored group may then differ from the source's, it no
 * longer follows its feed until it is read whole.
 */
export function changeMember(
  work: PeopleWork,
  { group, member, isRemoved }: Extract<PeopleEvent, { t: "member" }>,
  since: number,
): void {
  const { connectorId } = work.reporter;
  const known = findGroup(work, group);
  if (!known) {
    work.counts.stale++;
    return;
  }
  const isNewer = since >= known.toldPosition;
  const key = [group, member, connectorId] as const;
  const where = "where workspaceId = ? and groupPrincipal = ? and memberPrincipal = ? and reportedBy = ?";
  let changed = 0;
  if (isRemoved) changed = work.change(`delete from memberships ${where}`, ...key);
  else if (isNewer) {
    changed = work.change(
      `insert or ignore into memberships (workspaceId, groupPrincipal, memberPrincipal, reportedBy) values (?, ?, ?, ?)`,
      ...key,
    );
  } else work.counts.stale++;
  work.counts[isRemoved ? "removed" : "added"] += changed;
  if (changed > 0) work.isChanged = true;
  if (changed === 0 && isNewer) return;
  work.change(
    `update source_groups set digest = null, etag = null, members = members + ?3, followsFeed = ?4
     where workspaceId = ?1 and groupPrincipal = ?2`,
    group,
    isRemoved ? -changed : changed,
    isNewer && known.followsFeed ? 1 : 0,
  );
}
