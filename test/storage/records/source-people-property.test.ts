import { test } from "vitest";
import type { PeopleEvent } from "#storage/people-batch.ts";
import type { Principal } from "#core/principals.ts";
import { makePeopleKit, type PeopleKit } from "./source-people-kit.ts";

const GROUPS = ["a", "b", "c"];
const USERS = ["1", "2", "3"];

/** A source with a gapless feed; a tick is one change. `spans` are the ticks at which somebody was in a group. */
function makeSource(pick: (below: number) => number) {
  const groups = new Map<string, Set<string>>();
  const feed: { group: string; user: string; isRemoved: boolean }[] = [];
  const spans: { group: string; user: string; until: number }[] = [];
  const set = (group: string, user: string, isRemoved: boolean) => {
    const members = groups.get(group);
    if (!members || members.has(user) !== isRemoved) return;
    if (isRemoved) members.delete(user);
    else members.add(user);
    feed.push({ group, user, isRemoved });
    if (isRemoved) spans.push({ group, user, until: feed.length });
  };
  return {
    groups,
    feed,
    change() {
      const group = GROUPS[pick(GROUPS.length)] ?? "a";
      const members = groups.get(group);
      if (!members) return void groups.set(group, new Set());
      if (pick(12) === 0) {
        for (const user of USERS) set(group, user, true);
        return void groups.delete(group);
      }
      const user = USERS[pick(USERS.length)] ?? "1";
      set(group, user, members.has(user));
    },
    /** Was somebody in a group at that tick or later? */
    wasIn: (group: string, user: string, since: number) =>
      groups.get(group)?.has(user) === true ||
      spans.some((span) => span.group === group && span.user === user && span.until > since),
  };
}

async function storedIn({ database }: PeopleKit): Promise<Map<string, { members: string[]; followsFeed: boolean }>> {
  const rows = await database.read.selectFrom("source_groups").select(["groupPrincipal", "followsFeed"]).execute();
  const found = new Map(
    rows.map((row) => [idOf(row.groupPrincipal), { members: [] as string[], followsFeed: row.followsFeed === 1 }]),
  );
  const members = await database.read
    .selectFrom("memberships")
    .selectAll()
    .where("groupPrincipal", "like", "group:con%")
    .where("groupPrincipal", "not like", "group:connector:%")
    .orderBy("memberPrincipal")
    .execute();
  for (const row of members) {
    const known = found.get(idOf(row.groupPrincipal));
    if (!known) throw new Error("Members of a group that is not known.");
    known.members.push(idOf(row.memberPrincipal));
  }
  return found;
}

const idOf = (principal: Principal) => principal.slice(principal.lastIndexOf(":") + 1);

function makeWorldOf(kb: PeopleKit, pick: (below: number) => number) {
  const source = makeSource(pick);
  /** The tick at which the run began that last read a group whole. */
  const readSince = new Map<string, number>();
  let runs = 0;
  let open: { runId: string; since: number } | undefined;

  const read = (group: string, since: number): PeopleEvent => {
    readSince.set(group, since);
    return kb.whole(group, [...(source.groups.get(group) ?? [])].map(kb.user));
  };
  const maybeChange = () => {
    for (let i = pick(6); i > 0; i--) source.change();
  };

  /** @returns true when nothing changed at the source meanwhile and the run came to its end */
  async function whole(): Promise<boolean> {
    const run = (open ??= { runId: `run${runs++}`, since: source.feed.length });
    const who = kb.teller({ runId: run.runId });
    const { position } = await kb.sourcePeople.begin(who);
    const from = source.feed.length;
    const existing = [...source.groups.keys()];
    for (const group of existing) {
      if (pick(10) === 0) return false;
      const events = source.groups.has(group) ? [read(group, run.since)] : [];
      const checkpoint = { cursor: JSON.stringify(run.since) };
      await kb.sourcePeople.apply({ ...who, since: position, events, ...(pick(2) === 0 && { checkpoint }) });
      if (pick(3) === 0) maybeChange();
    }
    await kb.sourcePeople.apply({
      ...who,
      since: position,
      events: [],
      checkpoint: { cursor: JSON.stringify(run.since) },
    });
    if (pick(6) === 0) return false;
    await kb.sourcePeople.end({ ...who, isComplete: true, notLookedAt: [] });
    open = undefined;
    return from === source.feed.length && run.since === from && existing.length === source.groups.size;
  }

  async function some(): Promise<void> {
    const events = GROUPS.filter((group) => source.groups.has(group) && pick(2) === 0);
    await kb.run(
      events.map((group) => read(group, source.feed.length)),
      { mode: "groups", runId: `run${runs++}` },
    );
  }

  async function follow(): Promise<boolean> {
    const who = kb.teller({ runId: `run${runs++}`, mode: "changes" });
    const { position, cursor } = await kb.sourcePeople.begin(who);
    if (cursor === null) return false;
    let at = Number(cursor);
    while (at < source.feed.length) {
      const slice = source.feed.slice(at, at + 1 + pick(4));
      at += slice.length;
      const events = slice.map(({ group, user, isRemoved }) => kb.delta(group, kb.user(user), isRemoved));
      if (pick(12) === 0) return false;
      const checkpoint = { cursor: JSON.stringify(at) };
      await kb.sourcePeople.apply({ ...who, since: position, events, checkpoint });
      if (pick(4) === 0) return false;
      if (pick(6) === 0) source.change();
    }
    await kb.sourcePeople.end({ ...who, isComplete: true, notLookedAt: [], currentAt: kb.clock.ms });
    return true;
  }

  return { source, readSince, maybeChange, whole, some, follow };
}

test("after any sequence of runs, kills and changes no one is in a group who was not in it since it was last read", async ({
  expect,
}) => {
  let exact = 0;
  for (let seed = 1; seed <= 6; seed++) {
    const pick = makePick(seed);
    const kb = await makePeopleKit();
    const world = makeWorldOf(kb, pick);
    for (let step = 0; step < 50; step++) {
      world.maybeChange();
      kb.clock.ms += 1_000;
      const kind = pick(4);
      const isWhole = kind < 2 && (await world.whole());
      if (kind === 2) await world.some();
      const isFollowed = kind === 3 && (await world.follow());
      const stored = await storedIn(kb);
      const trace = `seed ${seed}, step ${step}`;
      for (const [group, { members }] of stored) {
        const since = world.readSince.get(group) ?? 0;
        const foreign = members.filter((user) => !world.source.wasIn(group, user, since));
        expect({ trace, group, foreign }).toEqual({ trace, group, foreign: [] });
      }
      const truth = (group: string) => [...(world.source.groups.get(group) ?? [])].sort();
      if (isWhole) {
        exact++;
        expect([...stored.keys()].sort(), trace).toEqual([...world.source.groups.keys()].sort());
      }
      for (const [group, { members, followsFeed }] of stored) {
        if (isWhole || (isFollowed && followsFeed))
          expect({ trace, group, members }).toEqual({ trace, group, members: truth(group) });
      }
    }
  }
  expect(exact).toBeGreaterThan(10);
});

/** Numbers below a bound, the same for the same seed. */
function makePick(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 3_266_489_917);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % below;
  };
}
