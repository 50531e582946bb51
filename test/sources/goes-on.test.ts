import { expect, test } from "vitest";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { KitFixture } from "../kit/fixture.ts";
import { copyReplica, makeReplica, type Replica, runInto, snapshotOf } from "../kit/replica.ts";
import { openSite as openConfluence } from "./confluence/fixture.ts";
import { openSite as openJira } from "./jira/fixture.ts";

const MANY = 250;

/** Sites, and what gives the project or space of the fixture another name, so that an increment reads it as a whole. */
const SITES: Readonly<Record<string, () => Promise<{ fixture: KitFixture; rename(): void }>>> = {
  async jira() {
    const { world, fixture } = await openJira();
    for (let at = 0; at < MANY; at++) world.add("LOBBY", `One of many, ${at}`);
    return { fixture, rename: () => void (world.project("LOBBY").name = "Entrance") };
  },
  async confluence() {
    const { world, fixture } = await openConfluence();
    for (let at = 0; at < MANY; at++) world.add("LOBBY", `One of many, ${at}`);
    return { fixture, rename: () => void (world.space("LOBBY").name = "Entrance") };
  },
};

function namedBy(event: SyncEvent): number {
  if (event.t === "seen") return event.externalIds.length;
  return event.t === "upsert" ? 1 : 0;
}

test.each(Object.entries(SITES))(
  "%s: an increment that is stopped in what it reads as a whole goes on where it stood",
  { timeout: 60_000 },
  async (_name, open) => {
    const { fixture, rename } = await open();
    const replica = makeReplica();
    await runInto(fixture, replica);
    rename();
    const named = async (into: Replica, options: Parameters<typeof runInto>[2]) => {
      const { events } = await runInto(fixture, into, { mode: "incremental", ...options });
      return events.reduce((count, event) => count + namedBy(event), 0);
    };
    const whole = await named(copyReplica(replica), {});
    await named(replica, { killAfter: MANY - 20 });
    expect(await named(replica, { isResume: true })).toBeLessThan(whole - MANY / 3);
    expect([...replica.items.values()].filter(({ title }) => title.startsWith("One of many"))).toHaveLength(MANY);
  },
);

test.each(Object.entries(SITES))(
  "%s: what has another name when a stopped listing goes on has it everywhere",
  { timeout: 60_000 },
  async (_name, open) => {
    const { fixture, rename } = await open();
    const [replica, whole] = [makeReplica(), makeReplica()];
    await runInto(fixture, replica, { killAfter: MANY - 20 });
    rename();
    await runInto(fixture, replica, { isResume: true });
    await runInto(fixture, whole);
    expect(snapshotOf(replica)).toEqual(snapshotOf(whole));
  },
);
