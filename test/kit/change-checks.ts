import { isApiError } from "#api/errors.ts";
import { failureOf, namedIn, readAll, sameFaults, type SourceCheck } from "./check.ts";
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

export const renamed: SourceCheck = {
  id: "renamed",
  title: "an item whose externalId had to change says which it was: by formerId, or by an identityHint that stayed",
  needs: "renameItem",
  async run(fixture) {
    if (!fixture.renameItem) return [];
    const replica = makeReplica();
    await runInto(fixture, replica);
    const faults: string[] = [];
    for (const mode of ["incremental", "full"] as const) {
      const hints = new Map([...replica.items].map(([id, { identityHint }]) => [id, identityHint]));
      const { from, to } = await fixture.renameItem();
      const { events } = await runInto(fixture, replica, { mode });
      const at = events.findIndex((event) => event.t === "upsert" && event.item.externalId === to);
      const { formerId, identityHint } = replica.items.get(to) ?? {};
      const isSpokenOf = events.slice(0, at).some((event) => namedIn(event).includes(from));
      const isSame = (formerId === from && !isSpokenOf) || (identityHint ?? "") === (hints.get(from) ?? from);
      if (at === -1) faults.push(`${to}, which was ${from}, did not arrive with a ${mode} run.`);
      else if (!isSame) faults.push(`Nothing says that ${to} is what ${from} was, after a ${mode} run.`);
      if (replica.items.has(from)) await runInto(fixture, replica);
      if (replica.items.has(from)) faults.push(`${from} is there still, beside ${to}.`);
    }
    return faults;
  },
};

export const accountSwapped: SourceCheck = {
  id: "account-swapped",
  title: "a run for another account names what that one sees, whatever was read for the former",
  needs: "swapAccount",
  async run(fixture) {
    if (!fixture.swapAccount) return [];
    const replica = makeReplica();
    await runInto(fixture, replica);
    const { credentials, externalIds } = await fixture.swapAccount();
    const other = { ...fixture, credentials };
    // As the engine does: cursor and state were what another account was told.
    Object.assign(replica, { cursor: null, state: new Map() });
    await runInto(other, replica);
    const faults = sameFaults([...externalIds].sort(), [...replica.items.keys()].sort(), "For another account");
    return externalIds.length > 0 ? faults : ["The other account of the fixture sees nothing."];
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
  isReading: true,
  run: async (fixture) => killFaults(fixture, makeReplica(), "full", MOST_DEATHS),
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
    return [
      ...(await killFaults(fixture, base, "full", FEW_DEATHS)),
      ...(await killFaults(fixture, base, "incremental", FEW_DEATHS)),
    ];
  },
};

export const anotherRun: SourceCheck = {
  id: "another-run",
  title: "after a run that was given up, the next one deletes nothing that it did not look for",
  isReading: true,
  async run(fixture) {
    const { replica: base } = await readAll(fixture);
    const { deaths } = await runWithDeaths(fixture, copyReplica(base), "full", FEW_DEATHS);
    for (const { after, replica } of deaths) {
      await runInto(fixture, replica);
      const lost = [...base.items.keys()].filter((id) => !replica.items.has(id));
      if (lost.length > 0)
        return [`Given up after event ${after}: the next run removed ${lost.slice(0, 3).join(", ")}.`];
    }
    return [];
  },
};

export const expiredCursor: SourceCheck = {
  id: "expired-cursor",
  title: "a cursor that the remote has forgotten is cursor_expired or a listing of everything, never a gap",
  needs: "expireCursor",
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

/** Checkpoints after which a run is killed; of more, these many, and the last. */
const MOST_DEATHS = 8;
export const FEW_DEATHS = 3;

/** What is stored when a run dies there. */
interface Death {
  /** So many events after its beginning. */
  after: number;
  replica: Replica;
}

async function killFaults(
  fixture: KitFixture,
  base: Replica,
  mode: "full" | "incremental",
  most: number,
): Promise<string[]> {
  const whole = copyReplica(base);
  const { deaths, events } = await runWithDeaths(fixture, whole, mode, most);
  const expected = snapshotOf(whole);
  // One that is really ended there; what the others leave is taken from the whole run.
  const killAfter = 1 + Math.floor(Math.random() * events);
  const killed = copyReplica(base);
  await runInto(fixture, killed, { mode, killAfter });
  for (const { after, replica } of [...deaths, { after: killAfter, replica: killed }]) {
    await runInto(fixture, replica, { mode, isResume: true });
    const faults = sameFaults(expected, snapshotOf(replica), `Killed after event ${after} of a ${mode} run`);
    if (faults.length > 0) return faults;
  }
  return [];
}

/**
 * A run, and what it would leave if it died: what was said since a checkpoint is lost, so that is what was stored with each
 * checkpoint, wherever before the next one it dies.
 */
export async function runWithDeaths(
  fixture: KitFixture,
  replica: Replica,
  mode: "full" | "incremental",
  most: number,
): Promise<{ deaths: Death[]; events: number }> {
  const deaths: Death[] = [];
  let events = 0;
  await runInto(fixture, replica, {
    mode,
    onEvent: () => void events++,
    onCheckpoint: () => void deaths.push({ after: events, replica: copyReplica(replica) }),
  });
  // Spread over the run, the first and the last among them.
  const step = Math.max(1, (deaths.length - 1) / most);
  const chosen = new Set(
    Array.from({ length: most + 1 }, (_, nth) => Math.min(Math.round(nth * step), deaths.length - 1)),
  );
  return { deaths: deaths.filter((_death, at) => chosen.has(at)), events };
}

/** The records against those of somebody who reads the remote for the first time now. */
export async function freshFaults(fixture: KitFixture, replica: Replica, what: string): Promise<string[]> {
  const fresh = makeReplica();
  await runInto(fixture, fresh);
  return sameFaults(snapshotOf(fresh), snapshotOf(replica), what);
}
