import { ApiError } from "#api/errors.ts";
import { FEW_DEATHS, freshFaults, runWithDeaths } from "./change-checks.ts";
import { failureOf, readAll, type SourceCheck } from "./check.ts";
import { during } from "./failure-checks.ts";
import { copyReplica, makeReplica, runInto, type Replica } from "./replica.ts";

export const failedThenKilled: SourceCheck = {
  id: "failed-then-killed",
  title: "what failed in an attempt that was killed is not gone after the next attempt",
  isReading: true,
  async run(fixture) {
    const faults: string[] = [];
    for (const kind of ["one_container", "two_containers", "one_item"] as const) {
      for (const isHealed of [false, true]) {
        const deaths: { replica: Replica; after: number }[] = [];
        const killed = await during(fixture, kind, async (base) => {
          deaths.push(...(await runWithDeaths(fixture, copyReplica(base), "full", FEW_DEATHS)).deaths);
          if (isHealed) return [];
          return lostAfter(deaths, (replica) => runInto(fixture, replica, { isResume: true }), `${kind}, going on`);
        });
        const healed = await lostAfter(
          isHealed ? deaths : [],
          (replica) => runInto(fixture, replica, { isResume: true }),
          `${kind}, healed`,
        );
        faults.push(...killed, ...healed);
      }
    }
    return faults;

    async function lostAfter(
      deaths: readonly { replica: Replica; after: number }[],
      goOn: (replica: Replica) => Promise<unknown>,
      what: string,
    ): Promise<string[]> {
      const { replica: base } = await readAll(fixture);
      for (const { replica, after } of deaths) {
        await goOn(replica);
        const lost = [...base.items.keys()].filter((id) => !replica.items.has(id));
        if (lost.length > 0) return [`${what}: killed after event ${after}, it loses ${lost.slice(0, 3).join(", ")}.`];
      }
      return [];
    }
  },
};

export const opensAgain: SourceCheck = {
  id: "opens-again",
  title: "a container that was refused and is open again is named by the next run, though nothing in it has changed",
  async run(fixture) {
    const failing = await fixture.fail?.("one_container");
    if (!failing) return [];
    await failing.heal();
    const replica = makeReplica();
    await runInto(fixture, replica);
    const closed = await fixture.fail?.("one_container");
    await runInto(fixture, replica);
    await closed?.heal();
    await runInto(fixture, replica, { mode: "incremental" });
    const unnamed = (closed?.externalIds ?? []).filter((id) => !replica.named.has(id));
    return unnamed.length > 0 ? [`Open again, and not named: ${unnamed.slice(0, 3).join(", ")}.`] : [];
  },
};

export const moveDuringWalk: SourceCheck = {
  id: "move-during-walk",
  title: "an item that moves while a run walks is there after it, and as it is after the next",
  needs: "moveItem",
  async run(fixture) {
    if (!fixture.moveItem) return [];
    const faults: string[] = [];
    const { events } = await runInto(fixture, makeReplica());
    for (const share of [0, 0.3, 0.6, 0.9]) {
      const replica = makeReplica();
      await runInto(fixture, replica);
      const before = new Set(replica.items.keys());
      let moved: string | undefined;
      let count = 0;
      await runInto(fixture, copyOf(replica), {
        onEvent: async () => {
          if (++count > share * events.length && moved === undefined) moved = (await fixture.moveItem?.()) ?? "";
        },
      });
      if (moved !== undefined && before.has(moved) && !replica.items.has(moved))
        faults.push(`${moved} moved during a full run, and is gone after it.`);
      await runInto(fixture, replica, { mode: "incremental" });
      faults.push(...(await freshFaults(fixture, replica, "After a move during the walk")));
    }
    return faults;

    /** A first reading, that it tells everything. */
    function copyOf(replica: Replica): Replica {
      Object.assign(replica, makeReplica(), { items: replica.items });
      return replica;
    }
  },
};

/** Requests that find out that a remote is down. */
const MOST_REQUESTS = 20;

export const goesDown: SourceCheck = {
  id: "goes-down",
  title: "a remote that fails at everything from some moment on ends the run soon, and nothing is gone",
  isReading: true,
  async run(fixture) {
    const { replica: base } = await readAll(fixture);
    const answers = await answersOf(0);
    if (answers.count === 0) return [];
    const faults: string[] = [];
    for (const share of [0.25, 0.5, 0.75]) {
      const { count, error, replica } = await answersOf(Math.max(1, Math.floor(answers.count * share)));
      const lost = [...base.items.keys()].filter((id) => !replica.items.has(id));
      if (lost.length > 0)
        faults.push(`Down after ${share} of its answers, the run takes away ${lost.slice(0, 3).join(", ")}.`);
      if (count > MOST_REQUESTS)
        faults.push(`Down after ${share} of its answers, the remote is asked ${count} times more.`);
      if (error === undefined && count > 5) faults.push(`Down after ${share} of its answers, the run ends well.`);
    }
    return faults;

    /** A run whose remote fails after so many answers; 0 = never. `count` = answers since then, or all. */
    async function answersOf(well: number): Promise<{ count: number; error: unknown; replica: Replica }> {
      const replica = copyReplica(base);
      let count = 0;
      const rewrite = (_url: string, value: unknown) => {
        count += 1;
        if (well === 0 || count <= well) return value;
        throw new ApiError("source_unavailable", { message: "Down (HTTP 503).", details: { status: 503 } });
      };
      const error = await failureOf(runInto({ ...fixture, rewrite }, replica));
      return { count: well === 0 ? count : Math.max(0, count - well), error, replica };
    }
  },
};
