import { assertNever } from "#api/errors.ts";
import type { Principal } from "#core/principals.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import type { PeopleBatch, PeopleEvent, PeopleResult, WholeGroup } from "#storage/people-batch.ts";
import { changeMember, keepGroup, refuseGroup, setGroups } from "./people-groups.ts";
import { savePeopleRun } from "./people-run.ts";
import { setIdentity } from "./people-users.ts";
import { makePeopleWork, type PeopleWork, refusalOf, settlePeople } from "./people-work.ts";

/**
 * Stores a connector's report of its groups and users in the open transaction. Repeating a report changes nothing, and
 * a report never restores what a newer one removed: an addition is stored only if every change that its feed may report
 * came after the group's last whole reading.
 */
export function applyPeople(connection: SqliteConnection, workspaceId: string, batch: PeopleBatch): PeopleResult {
  const refusal = refusalOf(connection, workspaceId, batch);
  if (refusal) return { isApplied: false, reason: refusal };
  const work = makePeopleWork(connection, workspaceId, batch);
  if (work.feed.position !== batch.since) return { isApplied: false, reason: "overtaken" };
  if (!batch.checkpoint && batch.events.some(({ t }) => t === "member")) {
    throw new Error("A change of members without a checkpoint would be stored twice.");
  }
  const readings = makeReadings(work);
  for (const event of batch.events) {
    if (event.t === "group") readings.add(event);
    else {
      readings.store();
      applyEvent(work, event, batch.since);
    }
  }
  readings.store();
  const isFurther = saveCursor(work, batch);
  settlePeople(work);
  if (batch.run) savePeopleRun(work, batch.run, { isCovered: batch.checkpoint !== undefined, isFurther });
  const { counts, endedJoins, unknown } = work;
  return { isApplied: true, counts, endedJoins, unknown };
}

/**
 * Saves the cursor. A whole run has its own cursor until its end; a run that reads only some groups has none.
 *
 * @returns true when the cursor has changed
 */
function saveCursor({ change }: PeopleWork, { checkpoint, mode, connectorId, toldIn }: PeopleBatch): boolean {
  if (!checkpoint || checkpoint.cursor === null || mode === "groups") return false;
  const column = mode === "whole" ? "runCursor" : "cursor";
  const changed = change(
    `insert into people_feeds (workspaceId, connectorId, toldIn, position, ${column}) values (?, ?, ?, 0, ?)
     on conflict do update set ${column} = excluded.${column} where ${column} is not excluded.${column}`,
    connectorId,
    toldIn,
    checkpoint.cursor,
  );
  return changed > 0;
}

/**
 * Collects consecutive whole readings of different groups and stores them together, before the event that follows them.
 */
function makeReadings(work: PeopleWork) {
  let waiting = new Map<Principal, WholeGroup>();
  const store = (): void => {
    const groups = [...waiting.values()];
    waiting = new Map();
    if (groups.length > 0) setGroups(work, groups);
  };
  return {
    add(group: WholeGroup): void {
      if (waiting.has(group.group)) store();
      waiting.set(group.group, group);
    },
    store,
  };
}

function applyEvent(work: PeopleWork, event: Exclude<PeopleEvent, WholeGroup>, since: number): void {
  switch (event.t) {
    case "group_same":
      for (const group of event.groups) keepGroup(work, group, event.at);
      return;
    case "group_refused":
      return refuseGroup(work, event.group);
    case "member":
      return changeMember(work, event, since);
    case "identity":
      return setIdentity(work, event);
    default:
      return assertNever(event);
  }
}
