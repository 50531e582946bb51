import { z } from "zod";
import { narrowAccess } from "#core/principals.ts";
import { itemsOf, readAll, sameFaults, type SourceCheck } from "./check.ts";
import type { KitFixture } from "./fixture.ts";
import {
  authorityIn,
  heldBy,
  isReadable,
  makePeopleReplica,
  type PeopleReplica,
  peopleSnapshot,
  runPeopleInto,
  userOf,
} from "./people-replica.ts";
import { makeReplica, type Replica, runInto } from "./replica.ts";

export const access: SourceCheck = {
  id: "access",
  title: "every item but a part says who may read it, and names nobody whom its connector may not name",
  isReading: true,
  async run(fixture) {
    const { events } = await readAll(fixture);
    const authority = await authorityIn(fixture);
    return itemsOf(events).flatMap(({ externalId, access, partOf }) => {
      if (access === undefined && partOf !== undefined) return [];
      // Read as data: a source may hand over less than its types say.
      const { success } = AccessShape.safeParse(access);
      if (!success || access === undefined) return [`${externalId} has no access, or a known one without a list.`];
      const { offending } = narrowAccess(access, authority);
      return offending.map((principal) => `${externalId} names ${JSON.stringify(principal)}, which is not its own.`);
    });
  },
};

export const readers: SourceCheck = {
  id: "readers",
  title: "who can read an item here is who can read it at the remote; where kb says who may, a member of the workspace",
  isReading: true,
  async run(fixture) {
    const { replica } = await readAll(fixture);
    const people = makePeopleReplica();
    await runPeopleInto(fixture, people);
    return readerFaults(fixture, replica, people, [...replica.items.keys()]);
  },
};

export const accessChanges: SourceCheck = {
  id: "access-changes",
  title: "who may read an item changes with the next increments, though the item is as it was",
  async run(fixture) {
    if (!fixture.changeAccess || !fixture.whoSees) return [];
    const [replica, people] = [makeReplica(), makePeopleReplica()];
    await runInto(fixture, replica);
    await runPeopleInto(fixture, people);
    const changed: string[] = [];
    // Twice: taken away and given back, or the other way round.
    for (let times = 0; times < 2; times++) {
      const externalId = await fixture.changeAccess();
      changed.push(externalId);
      await runInto(fixture, replica, { mode: "incremental" });
      await runPeopleInto(fixture, people, { mode: "changes" });
      const faults = await readerFaults(fixture, replica, people, [externalId]);
      if (faults.length > 0) return faults;
    }
    return readerFaults(fixture, replica, people, changed);
  },
};

export const moved: SourceCheck = {
  id: "moved",
  title: "an item that moved has the readers of where it is, from the next increment and from the next full run",
  async run(fixture) {
    if (!fixture.moveItem) return [];
    const faults: string[] = [];
    const [replica, people] = [makeReplica(), makePeopleReplica()];
    await runInto(fixture, replica);
    await runPeopleInto(fixture, people);
    for (const mode of ["incremental", "full"] as const) {
      const externalId = await fixture.moveItem();
      await runInto(fixture, replica, { mode });
      if (!replica.items.has(externalId)) faults.push(`${externalId} is gone after it moved.`);
      faults.push(...(await readerFaults(fixture, replica, people, [...replica.items.keys()])));
    }
    return faults;
  },
};

export const peopleEnd: SourceCheck = {
  id: "people-end",
  title: "somebody who left the remote is nobody after the next whole identity run",
  async run(fixture) {
    if (!fixture.removePerson) return [];
    const people = makePeopleReplica();
    await runPeopleInto(fixture, people);
    const user = userOf(fixture, await fixture.removePerson());
    await runPeopleInto(fixture, people);
    return people.active.has(user) ? [`${user} left, and is active still.`] : [];
  },
};

export const groupsEnd: SourceCheck = {
  id: "groups-end",
  title: "a group that is gone lets nobody in after the next whole identity run",
  async run(fixture) {
    if (!fixture.removeGroup) return [];
    const [replica, people] = [makeReplica(), makePeopleReplica()];
    await runInto(fixture, replica);
    await runPeopleInto(fixture, people);
    const former = await fixture.removeGroup();
    await runPeopleInto(fixture, people);
    const faults = await readerFaults(fixture, replica, people, [...replica.items.keys()]);
    if (former.length === 0) faults.push("The fixture removed a group by which nobody read anything.");
    return faults;
  },
};

export const peopleChanges: SourceCheck = {
  id: "people-changes",
  title: "an identity run over changes ends in what a whole one finds, killed after any event and resumed as well",
  async run(fixture) {
    if (!fixture.source.syncIdentities || !fixture.changeAccess) return [];
    const before = makePeopleReplica();
    await runPeopleInto(fixture, before);
    await fixture.changeAccess();
    await fixture.removePerson?.();
    const expected = makePeopleReplica();
    await runPeopleInto(fixture, expected);
    const whole = copyPeople(before);
    const events = await runPeopleInto(fixture, whole, { mode: "changes" });
    const faults = sameFaults(peopleSnapshot(expected), peopleSnapshot(whole), "The changes end otherwise");
    for (let killAfter = 1; killAfter <= events.length && faults.length === 0; killAfter++) {
      const people = copyPeople(before);
      await runPeopleInto(fixture, people, { mode: "changes", killAfter });
      await runPeopleInto(fixture, people, { mode: "changes" });
      faults.push(...sameFaults(peopleSnapshot(expected), peopleSnapshot(people), `Killed after event ${killAfter}`));
    }
    return faults;
  },
};

const AccessShape = z.union([
  z.object({ known: z.literal(false) }),
  z.object({ known: z.literal(true), all: z.array(z.array(z.string())).min(1) }),
]);

function copyPeople({ groups, active, cursor }: PeopleReplica): PeopleReplica {
  return { groups: new Map(groups), active: new Set(active), cursor };
}

/** Who reads these items, against who reads them at the remote. */
async function readerFaults(
  fixture: KitFixture,
  replica: Replica,
  people: PeopleReplica,
  externalIds: readonly string[],
): Promise<string[]> {
  const authority = await authorityIn(fixture);
  const known = (await fixture.people?.()) ?? [];
  const held = new Map(known.map(({ id }) => [id, heldBy(people, userOf(fixture, id))]));
  const anybody = heldBy(people, undefined);
  const faults: string[] = [];
  for (const externalId of externalIds) {
    const item = replica.items.get(externalId);
    if (item === undefined) continue;
    if (!fixture.whoSees) {
      if (!isReadable(replica, item, anybody, authority)) faults.push(`Nobody can read ${externalId}.`);
      continue;
    }
    const there = [...(await fixture.whoSees(externalId))].sort();
    const here = [...held].flatMap(([id, all]) => (isReadable(replica, item, all, authority) ? [id] : [])).sort();
    if (there.join() !== here.join())
      faults.push(
        `${externalId} is for ${there.join(", ") || "nobody"} there, and for ${here.join(", ") || "nobody"} here.`,
      );
  }
  return faults.slice(0, 3);
}
