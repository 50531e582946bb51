import type { SyncEvent } from "#sources/contract.ts";
import { isApiError } from "#api/errors.ts";
import { failureOf, sameFaults, type SourceCheck } from "./check.ts";
import type { KitFixture } from "./fixture.ts";
import { copyReplica, makeReplica, runInto, snapshotOf, type Replica } from "./replica.ts";

export const changes: SourceCheck = {
  id: "changes",
  title: "an added and an edited item arrive with the next run, a removed one leaves with it or the next full run",
  async run(fixture) {
    const replica = makeReplica();
    await runInto(fixture, replica);
    const faults: string[] = [];

    const added = await fixture.add();
    await runInto(fixture, replica, { mode: "incremental" });
    if (!replica.items.has(added)) faults.push(`The added item ${added} did not arrive.`);

    const edited = await fixture.edit();
    const before = replica.items.get(edited)?.version;
    await runInto(fixture, replica, { mode: "incremental" });
    if (replica.items.get(edited)?.version === before) faults.push(`The edit of ${edited} did not arrive.`);

    const removed = await fixture.remove();
    await runInto(fixture, replica, { mode: "incremental" });
    if (replica.items.has(removed)) await runInto(fixture, replica);
    if (replica.items.has(removed)) faults.push(`The removed item ${removed} is still there.`);
    return [...faults, ...(await freshFaults(fixture, replica, "After the changes"))];
  },
};

export const editDuringWalk: SourceCheck = {
  id: "edit-during-walk",
  title: "what changes while a run walks is right after the next run",
  async run(fixture) {
    const replica = makeReplica();
    let hasChanged = false;
    await runInto(fixture, replica, {
      onEvent: async (event) => {
        if (event.t !== "upsert" || hasChanged) return;
        hasChanged = true;
        await fixture.edit();
        await fixture.add();
      },
    });
    await runInto(fixture, replica, { mode: "incremental" });
    return freshFaults(fixture, replica, "After a change during the walk");
  },
};

export const resume: SourceCheck = {
  id: "resume",
  title: "killed after any event and resumed, a first run ends in the same records",
  run: async (fixture) => killFaults(fixture, makeReplica(), "full"),
};

export const resumeLater: SourceCheck = {
  id: "resume-later",
  title: "killed after any event and resumed, a later run ends in the same records, removals included",
  async run(fixture) {
    const base = makeReplica();
    await runInto(fixture, base);
    await fixture.add();
    await fixture.edit();
    await fixture.remove();
    return [...(await killFaults(fixture, base, "full")), ...(await killFaults(fixture, base, "incremental"))];
  },
};

export const anotherRun: SourceCheck = {
  id: "another-run",
  title: "after a run that was given up, the next one deletes nothing that it did not look for",
  async run(fixture) {
    const base = makeReplica();
    const { events } = await runInto(fixture, base);
    for (const killAfter of deaths(events)) {
      const replica = copyReplica(base);
      await runInto(fixture, replica, { killAfter });
      await runInto(fixture, replica);
      const lost = [...base.items.keys()].filter((id) => !replica.items.has(id));
      if (lost.length > 0)
        return [`Given up after event ${killAfter}: the next run removed ${lost.slice(0, 3).join(", ")}.`];
    }
    return [];
  },
};

export const expiredCursor: SourceCheck = {
  id: "expired-cursor",
  title: "a cursor that the remote has forgotten is cursor_expired or a listing of everything, never a gap",
  async run(fixture) {
    if (!fixture.expireCursor) return [];
    const replica = makeReplica();
    await runInto(fixture, replica);
    await fixture.add();
    await fixture.remove();
    await fixture.expireCursor();
    const error = await failureOf(runInto(fixture, replica, { mode: "incremental" }));
    if (error !== undefined && !isApiError(error, "cursor_expired")) return [`The run ended with ${String(error)}.`];
    if (error !== undefined) {
      replica.cursor = null;
      await runInto(fixture, replica);
    }
    return freshFaults(fixture, replica, "With an expired cursor");
  },
};

export const strangeCursor: SourceCheck = {
  id: "strange-cursor",
  title: "a cursor that another version of the source wrote is cursor_expired or a listing of everything",
  async run(fixture) {
    const replica = makeReplica();
    await runInto(fixture, replica);
    await fixture.edit();
    replica.cursor = { "kb-kit-no-such-cursor": 1 };
    const error = await failureOf(runInto(fixture, replica, { mode: "incremental" }));
    if (error !== undefined && !isApiError(error, "cursor_expired")) return [`The run ended with ${String(error)}.`];
    return error === undefined ? freshFaults(fixture, replica, "With a strange cursor") : [];
  },
};

/** Checkpoints after which a run is killed; of more, these many of the first, and the last. */
const MOST_DEATHS = 8;

async function killFaults(fixture: KitFixture, base: Replica, mode: "full" | "incremental"): Promise<string[]> {
  const whole = copyReplica(base);
  const { events } = await runInto(fixture, whole, { mode });
  const expected = snapshotOf(whole);
  for (const killAfter of deaths(events)) {
    const replica = copyReplica(base);
    await runInto(fixture, replica, { mode, killAfter });
    await runInto(fixture, replica, { mode, isResume: true });
    const faults = sameFaults(expected, snapshotOf(replica), `Killed after event ${killAfter} of a ${mode} run`);
    if (faults.length > 0) return faults;
  }
  return [];
}

/**
 * Where to die: what was said since a checkpoint is lost, so it does not matter where between two of them. In the middle of
 * what comes before the first, right after each, and at the end.
 */
function deaths(events: readonly SyncEvent[]): number[] {
  const after = events.flatMap(({ t }, at) => (t === "checkpoint" ? [at + 1] : []));
  const [first = 1] = after;
  return [...new Set([Math.ceil(first / 2), ...after.slice(0, MOST_DEATHS), ...after.slice(-1), events.length])];
}

/** The records against those of somebody who reads the remote for the first time now. */
async function freshFaults(fixture: KitFixture, replica: Replica, what: string): Promise<string[]> {
  const fresh = makeReplica();
  await runInto(fixture, fresh);
  return sameFaults(snapshotOf(fresh), snapshotOf(replica), what);
}
