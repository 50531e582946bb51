import type { Principal } from "#core/principals.ts";
import { NEVER } from "#storage/access/item-clocks.ts";
import type { PeopleEvent, WholeGroup } from "./people-batch.ts";
import { isPast, type PeopleWork } from "./people-work.ts";

const CLOCK = "checkedAt as at, followsFeed, neverAges, digest, toldPosition";

function findGroup(work: PeopleWork, group: Principal) {
  if (!group.startsWith(`group:${work.teller.connectorId}:`)) throw new Error("A group of another connector's.");
  const [row] = work.all(`select ${CLOCK} from source_groups where workspaceId = ? and groupPrincipal = ?`, group);
  if (!row) return undefined;
  return {
    at: Number(row["at"]),
    followsFeed: row["followsFeed"] === 1,
    neverAges: row["neverAges"] === 1,
    digest: row["digest"],
    toldPosition: Number(row["toldPosition"]),
  };
}

/** Makes exactly these its members, unless they are already: then it costs one row, however many there are. */
export function setGroup(work: PeopleWork, { group, members, count, digest, etag, at, homes = [] }: WholeGroup): void {
  const { connectorId, toldIn, runId, neverAges = false } = work.teller;
  const known = findGroup(work, group);
  work.counts.groups++;
  if (known?.digest === digest) {
    work.counts.unchanged++;
  } else replaceMembers(work, group, members);
  // Its members get it back.
  if (known && isPast(work, known)) work.isChanged = true;
  work.change(
    `insert into source_groups (workspaceId, groupPrincipal, connectorId, toldIn, checkedAt, followsFeed, neverAges, members,
       digest, etag, toldPosition, toldBy, seenBy) values (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
     on conflict do update set toldIn = excluded.toldIn, checkedAt = excluded.checkedAt, followsFeed = 1,
       neverAges = excluded.neverAges, members = excluded.members, digest = excluded.digest, etag = excluded.etag,
       toldPosition = excluded.toldPosition, toldBy = excluded.toldBy, seenBy = excluded.seenBy`,
    group,
    connectorId,
    toldIn,
    at,
    neverAges ? 1 : 0,
    count,
    digest,
    etag,
    work.feed.position + 1,
    runId,
    work.feed.runId,
  );
  setHomes(work, group, homes);
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
