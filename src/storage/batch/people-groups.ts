import { hash } from "node:crypto";
import type { Principal } from "#core/principals.ts";
import { NEVER } from "#storage/access/item-clocks.ts";
import type { SqlRow } from "#storage/sqlite.ts";
import type { PeopleEvent, WholeGroup } from "./people-batch.ts";
import { isPast, type PeopleWork } from "./people-work.ts";

const CLOCK = "checkedAt as at, toldIn, followsFeed, neverAges, members, digest, toldPosition, toldBy";

interface KnownGroup {
  at: number;
  toldIn: string;
  followsFeed: boolean;
  neverAges: boolean;
  members: number;
  /** Of its members in their order, and as they were told; null = not known. */
  digest: string | null;
  toldPosition: number;
  /** The run that told it last. */
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

function requireOwn({ teller }: PeopleWork, group: Principal): void {
  if (!group.startsWith(`group:${teller.connectorId}:`)) throw new Error("A group of another connector's.");
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
 * Makes exactly these the members of each, unless they are already: what is unchanged is one row each, all of them by one
 * statement, however many members there are. No group twice.
 */
export function setGroups(work: PeopleWork, groups: readonly WholeGroup[]): void {
  const known = findGroups(
    work,
    groups.map(({ group }) => group),
  );
  const readings: Reading[] = [];
  for (const told of groups) {
    const before = known.get(told.group);
    if (before && isOvertaken(work, told, before)) continue;
    work.counts.groups++;
    const reading = readingOf(told, before);
    readings.push(reading);
    tally(work, before, reading.replaced === undefined);
    if (reading.replaced === undefined) work.counts.unchanged++;
    else replaceMembers(work, told.group, reading.replaced);
    // Its members get it back.
    if (before && isPast(work, before)) work.isChanged = true;
  }
  keepReadings(work, readings);
  for (const { group, homes } of groups) {
    // Only a sync tells where a group is at home.
    if (homes !== undefined || known.get(group)?.toldIn !== "identities") setHomes(work, group, homes ?? []);
  }
}

/**
 * Whether another run, which went on at the same time, has read the group later. What a look at everything tells of a group
 * may be as old as its beginning, since teams are read before the repositories that they are given; a look at some groups
 * reads each as it is told.
 */
function isOvertaken({ teller, all }: PeopleWork, told: WholeGroup, before: KnownGroup): boolean {
  const { begunAt, runId, mode, now } = teller;
  if (begunAt === undefined || before.toldBy === null || before.toldBy === runId) return false;
  // Noted by a clock that has gone back since.
  if (before.at > now) return false;
  if (mode !== "groups") return before.at > begunAt;
  const [other] = all("select startedAt from syncs where workspaceId = ? and syncId = ?", before.toldBy);
  return other !== undefined && Number(other["startedAt"] ?? 0) > told.at;
}

/** Counts a group once in a run, however many attempts tell it. */
function tally({ told, teller }: PeopleWork, before: KnownGroup | undefined, isUnchanged: boolean): void {
  if (before?.toldBy === teller.runId) return;
  told.groups++;
  if (isUnchanged) told.unchanged++;
}

interface Reading extends Pick<WholeGroup, "group" | "at" | "count" | "digest" | "etag"> {
  /** JSON array of the members that it has now, sorted, each once; undefined = it has them already. */
  replaced?: string;
}

/**
 * A reading compared with what is stored. Sources tell the same in the same order nearly always, and then nothing is sorted;
 * in another one it is the same all the same.
 */
function readingOf({ group, at, etag, digest: told, members }: WholeGroup, before: KnownGroup | undefined): Reading {
  const [sorted, last] = before?.digest?.split(" ") ?? [];
  if (before?.digest && last === told) return { group, at, etag, count: before.members, digest: before.digest };
  // Written by `makeGroupPages` only.
  const each = [...new Set(JSON.parse(members) as Principal[])].sort();
  const json = JSON.stringify(each);
  const digest = hash("sha256", json, "base64");
  const reading = { group, at, etag, count: each.length, digest: `${digest} ${told}` };
  return digest === sorted ? reading : { ...reading, replaced: json };
}

/** One row each: they were read whole now, and this is what was read. */
function keepReadings(work: PeopleWork, groups: readonly Reading[]): void {
  const { connectorId, toldIn, runId, neverAges = false } = work.teller;
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
 * Nobody stands for it until it is read whole: nothing is "the same" as what is stored. It was named, so no listing ends
 * it. Where access is set in kb it stays.
 */
export function refuseGroup(work: PeopleWork, group: Principal): void {
  const known = findGroup(work, group);
  if (!known || known.neverAges) return;
  if (!isPast(work, known)) work.isChanged = true;
  work.change(
    `update source_groups set checkedAt = ${NEVER}, followsFeed = 0, digest = null, etag = null, toldBy = ?3, seenBy = ?4
     where workspaceId = ?1 and groupPrincipal = ?2`,
    group,
    work.teller.runId,
    work.feed.runId,
  );
}

function replaceMembers(work: PeopleWork, group: Principal, members: string): void {
  const { connectorId } = work.teller;
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

/** Only what was read whole and not changed since can be the same. */
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
    work.teller.runId,
    work.feed.runId,
  );
}

/**
 * Takes somebody out whatever is known: replayed late, it may take out one who is in again. Lets somebody in only where
 * nothing newer is known. Where the two may differ, the group no longer follows its feed, until it is read whole.
 */
export function changeMember(
  work: PeopleWork,
  { group, member, isRemoved }: Extract<PeopleEvent, { t: "member" }>,
  since: number,
): void {
  const { connectorId } = work.teller;
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
