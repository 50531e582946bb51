import { ApiError } from "#api/errors.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { Rewrite } from "./answers.ts";
import { failureOf, readAll, type SourceCheck } from "./check.ts";
import type { KitFixture, KitList } from "./fixture.ts";
import { makePeopleReplica, runPeopleInto } from "./people-replica.ts";
import { isAbout, makeReplica, type Replica, runInto } from "./replica.ts";

export const oneList: SourceCheck = {
  id: "one-list",
  title: "a list at which the remote fails for ever keeps no other list away: what it holds stays and grows old alone",
  isReading: true,
  needs: "lists",
  async run(fixture) {
    const faults: string[] = [];
    for (const list of fixture.lists ?? []) {
      const found = [
        ...(await ofFirst(fixture, list)),
        ...(await ofNext(fixture, list)),
        ...(await ofPeople(fixture, list)),
      ];
      faults.push(...found.map((fault) => `While ${list.at} fails: ${fault}`));
    }
    return faults;
  },
};

const failing = ({ at }: KitList): Rewrite => {
  return (url, value) => {
    if (!at.test(url)) return value;
    throw new ApiError("source_unavailable", { message: "The remote fails (HTTP 502).", details: { status: 502 } });
  };
};

async function ofFirst(fixture: KitFixture, list: KitList): Promise<string[]> {
  const { replica: all } = await readAll(fixture);
  const replica = makeReplica();
  const events: SyncEvent[] = [];
  const onEvent = (event: SyncEvent) => void events.push(event);
  const error = await failureOf(runInto({ ...fixture, rewrite: failing(list) }, replica, { onEvent }));
  if (error !== undefined) return [`a first run ends with ${String(error)}.`];
  const missing = [...all.items.keys()].filter((id) => !list.has(id) && !replica.items.has(id));
  const faults = missing.slice(0, 3).map((id) => `a first run doesn't read ${id}.`);
  const isTold = events.some((event) => event.t === "skip" && event.reason === "failed") || events.some(isPartial);
  return list.isOfNames || isTold ? faults : [...faults, "no one is told."];
}

function isPartial(event: SyncEvent): boolean {
  return event.t === "end" && event.why !== undefined;
}

async function ofNext(fixture: KitFixture, list: KitList): Promise<string[]> {
  const { replica } = await readAll(fixture);
  const before = new Map(replica.items);
  const { events } = await runInto({ ...fixture, rewrite: failing(list) }, replica);
  const lost = [...before.keys()].filter((id) => !replica.items.has(id));
  const end = events.find((event) => event.t === "end");
  const old = [...before].filter(([id, item]) => !list.has(id) && growsOld(replica, end, id, item));
  return [
    ...lost.slice(0, 3).map((id) => `the next run removes ${id}.`),
    ...old.slice(0, 3).map(([id]) => `the permissions of ${id} grow old.`),
  ];
}

function growsOld(
  replica: Replica,
  end: Extract<SyncEvent, { t: "end" }> | undefined,
  id: string,
  item: Parameters<typeof isAbout>[2],
): boolean {
  return (end?.notLookedAt ?? []).some((what) => {
    const isNamed = "container" in what && what.isRest === true && replica.named.has(id);
    return !isNamed && isAbout(what, id, item);
  });
}

async function ofPeople(fixture: KitFixture, list: KitList): Promise<string[]> {
  if (!fixture.source.syncIdentities) return [];
  const error = await failureOf(runPeopleInto({ ...fixture, rewrite: failing(list) }, makePeopleReplica()));
  return error === undefined ? [] : [`people are not read: ${String(error)}.`];
}
