import { z } from "zod";
import { formatPrincipal, narrowAccess, parsePrincipal } from "#core/principals.ts";
import { itemsOf, readAll, sameFaults, type SourceCheck } from "./check.ts";
import { contextOf, type KitFixture } from "./fixture.ts";
import { authorityIn } from "./authority.ts";
import { copyPeople, makePeopleReplica, type PeopleReplica, peopleSnapshot, runPeopleInto } from "./people-replica.ts";
import { heldBy, isReadable, userOf, withGroups } from "./readers.ts";
import { makeReplica, type Replica, runInto } from "./replica.ts";

export const access: SourceCheck = {
  id: "access",
  title: "every item but a part says who may read it, and names no one whom its connector may not name",
  isReading: true,
  async run(fixture) {
    const { events } = await readAll(fixture);
    const authority = await authorityIn(fixture);
    const { acl } = fixture.source.spec;
    return itemsOf(events).flatMap(({ externalId, access, partOf }) => {
      if (access === undefined && partOf !== undefined) return [];
      // Read as data: a source may hand over less than its types say.
      const { success } = AccessShape.safeParse(access);
      if (!success || access === undefined) return [`${externalId} has no access, or a known one without a list.`];
      const { offending } = narrowAccess(access, authority);
      const faults = offending.map(
        (principal) => `${externalId} names ${JSON.stringify(principal)}, which is not its own.`,
      );
      const all = access.known ? access.all.flat() : [];
      if (acl === "container" && all.some((principal) => parsePrincipal(principal)?.type === "source_user"))
        faults.push(`${externalId} names people one by one. Name a group of its container: who joins is one row then.`);
      return faults;
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

export const namedReaders: SourceCheck = {
  id: "named-readers",
  title: "whom the configuration names as readers reads, and no one else; the keys that name them are in namedIn",
  isReading: true,
  async run(fixture) {
    const { config: schema, namedIn = [], acl } = fixture.source.spec;
    const faults: string[] = [];
    for (const key of Object.keys(JsonKeys.parse(z.toJSONSchema(schema, { io: "input" })).properties)) {
      const config = configNaming(fixture, key);
      if (config === undefined) continue;
      if (!namedIn.includes(key)) {
        faults.push(`The key ${key} takes readers, and namedIn does not have it.`);
        continue;
      }
      if (acl !== "connector") continue;
      const asked = { ...fixture, config };
      const [replica, people] = [makeReplica(), makePeopleReplica()];
      await runInto(asked, replica);
      await runPeopleInto(asked, people);
      const authority = await authorityIn(asked);
      const told = [people, replica.told];
      const [reader, member] = [withGroups(told, ["everyone", "workspace", READER]), heldBy(told, undefined)];
      for (const [externalId, item] of replica.items) {
        if (!isReadable(replica, item, reader, authority)) faults.push(`${externalId} is not for whom ${key} names.`);
        if (isReadable(replica, item, member, authority)) faults.push(`${externalId} is for more than ${key} names.`);
      }
    }
    return faults.slice(0, 3);
  },
};

export const accessChanges: SourceCheck = {
  id: "access-changes",
  title: "who may read an item changes with the next increments, though the item is as it was",
  needs: "changeAccess",
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
  needs: "moveItem",
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
  title: "someone who left the remote is no one after the next whole identity run",
  needs: "removePerson",
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
  title: "a group that is gone lets no one in after the next whole run of where it was told",
  needs: "removeGroup",
  async run(fixture) {
    if (!fixture.removeGroup) return [];
    const [replica, people] = [makeReplica(), makePeopleReplica()];
    await runInto(fixture, replica);
    await runPeopleInto(fixture, people);
    const former = await fixture.removeGroup();
    await runPeopleInto(fixture, people);
    // Groups that are told between items end with those.
    if (replica.told.groups.size > 0) await runInto(fixture, replica);
    const faults = await readerFaults(fixture, replica, people, [...replica.items.keys()]);
    if (former.length === 0) faults.push("The fixture removed a group by which no one read anything.");
    return faults;
  },
};

export const peopleChanges: SourceCheck = {
  id: "people-changes",
  title: "an identity run over changes ends in what a whole one finds, killed after any event and resumed as well",
  needs: "changeAccess",
  async run(fixture) {
    if (!fixture.source.syncIdentities || !fixture.changeAccess) return [];
    const before = makePeopleReplica();
    await runPeopleInto(fixture, before);
    await fixture.changeAccess();
    // Without a feed nobody ends by silence before the next whole run.
    if (before.cursor !== null) await fixture.removePerson?.();
    const expected = makePeopleReplica();
    await runPeopleInto(fixture, expected);
    const whole = copyPeople(before);
    const events = await runPeopleInto(fixture, whole, { mode: "changes" });
    const faults = sameFaults(peopleSnapshot(expected), peopleSnapshot(whole), "The changes end otherwise");
    // What was said since a checkpoint is lost: wherever before the next one a run dies, it leaves the same.
    const deaths = events.flatMap(({ t }, at) => (at === 0 || t === "checkpoint" ? [at + 1] : []));
    for (const killAfter of deaths) {
      if (faults.length > 0) break;
      const people = copyPeople(before);
      await runPeopleInto(fixture, people, { mode: "changes", killAfter });
      await runPeopleInto(fixture, people, { mode: "changes" });
      faults.push(...sameFaults(peopleSnapshot(expected), peopleSnapshot(people), `Killed after event ${killAfter}`));
    }
    return faults;
  },
};

const GROUP_ID = "grp_kkkkkkkkkkkkkkkk";
const READER = formatPrincipal({ type: "group", groupId: GROUP_ID });
const JsonKeys = z.object({ properties: z.record(z.string(), z.unknown()) });

/** The configuration with a group of the workspace as this key's value; undefined when the key takes none, or any text. */
function configNaming({ source, config }: KitFixture, key: string): unknown {
  const parse = (value: unknown) => source.spec.config.safeParse({ ...Object(config), [key]: value });
  for (const wrap of [(value: string) => value, (value: string) => [value]]) {
    const [named, other] = [parse(wrap(GROUP_ID)), parse(wrap("nobody-of-kb-kit"))];
    if (named.success && !other.success) return named.data;
  }
  return undefined;
}

const AccessShape = z.union([
  z.object({ known: z.literal(false) }),
  z.object({ known: z.literal(true), all: z.array(z.array(z.string())).min(1) }),
]);

/** Who reads these items, against who reads them at the remote. */
async function readerFaults(
  fixture: KitFixture,
  replica: Replica,
  people: PeopleReplica,
  externalIds: readonly string[],
): Promise<string[]> {
  const authority = await authorityIn(fixture);
  const known = (await fixture.people?.()) ?? [];
  const told = [people, replica.told];
  const held = new Map(known.map(({ id }) => [id, heldBy(told, userOf(fixture, id))]));
  const [member, stranger] = [heldBy(told, undefined), withGroups(told, ["everyone"])];
  const owner = withGroups(told, [...member, contextOf(fixture).connector.owner ?? "everyone"]);
  const faults: string[] = [];
  for (const externalId of externalIds) {
    const item = replica.items.get(externalId);
    if (item === undefined) continue;
    const isPublic = fixture.source.spec.acl !== "connector" && (await fixture.isPublic?.(externalId)) === true;
    if (!isPublic && isReadable(replica, item, stranger, authority))
      faults.push(`${externalId} is for everyone, and isPublic of the fixture does not say that it is public.`);
    if (fixture.source.spec.isForOwner) {
      if (isReadable(replica, item, member, authority)) faults.push(`${externalId} is for more than the owner.`);
      if (!isReadable(replica, item, owner, authority)) faults.push(`${externalId} is not for the owner.`);
      continue;
    }
    if (!fixture.whoSees) {
      if (!isReadable(replica, item, member, authority)) faults.push(`No one can read ${externalId}.`);
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
