import { expect, test } from "vitest";
import type { ListingLimits } from "#server/sync/listing-limits.ts";
import { withCheckpointTimeout } from "#server/sync/run/checkpoint-timeout.ts";
import { end, type Harness, makeHarness, type Script, upsert, WORKSPACE } from "../harness.ts";

/** Lists the folders of `tree` from the cursor on, with a place to go on from after each. */
function walking(tree: { folders: string[][] }, seen: string[] = []): Script {
  return async function* ({ cursor, runId, mode }) {
    const former = cursor as { runId: string; at: number } | null;
    let at = former && former.runId === runId ? former.at : 0;
    seen.push(`${mode} ${runId === former?.runId ? "on" : "new"} ${at}`);
    for (; at < tree.folders.length;) {
      for (const name of tree.folders[at] ?? []) yield upsert(name, name);
      at += 1;
      yield { t: "checkpoint", cursor: { runId, at }, listings: 1 };
    }
    yield { t: "checkpoint", cursor: { runId: null, at: 0 }, listings: 0 };
    yield end();
  };
}

const living = async (kb: Harness) =>
  (await kb.items()).filter(({ removedAt }) => removedAt === null).map(({ externalId }) => externalId);

/** A harness whose runs list so far, by limits that a test can change. */
async function bounded(script: Script, looks: number) {
  const listing = { looks, ms: 3_600_000 };
  return { kb: await withoutMirror(script, listing), listing };
}

/** A source whose items all have the access of their connector. */
async function withoutMirror(script: Script, listing?: ListingLimits): Promise<Harness> {
  const kb: Harness = await makeHarness(script, {
    findSource: () => ({ ...kb.source, spec: { ...kb.source.spec, acl: "connector" } }),
    ...(listing && { listing }),
  });
  return kb;
}

test("a listing that stops at a bound goes on in the next run, and only its end removes what none of them named", async () => {
  const tree = { folders: [["a", "gone"], ["b"], ["c"], ["d"], ["e"]] };
  const seen: string[] = [];
  const { kb, listing } = await bounded(walking(tree, seen), 9);
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded" });
  tree.folders = [["a"], ["b"], ["c"], ["d"], ["e"]];
  listing.looks = 2;
  for (const state of ["partial", "partial"]) {
    expect(await kb.sync("full")).toMatchObject({
      state,
      problem: { message: expect.stringContaining("Stopped after 2 requests or folders") },
    });
    expect(await living(kb)).toEqual(["a", "b", "c", "d", "e", "gone"]);
    expect((await kb.connector()).lastFullAt).toBeNull();
  }
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded", counts: { deleted: 1 } });
  expect(await living(kb)).toEqual(["a", "b", "c", "d", "e"]);
  // The next begins again.
  listing.looks = 9;
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded" });
  expect(seen).toEqual(["full new 0", "full new 0", "full on 2", "full on 4", "full new 0"]);
});

/** The places of `walking` are far apart: what comes after the last one is covered by the end alone. */
const isFarApart = { batching: { everyMs: Infinity, listings: 2 } };

test("a listing that reaches its bound with its end is at its end", async () => {
  const seen: string[] = [];
  const script = walking({ folders: [["a"], ["b"], ["c"]] }, seen);
  const kb: Harness = await makeHarness(script, {
    findSource: () => {
      const { spec, sessions, ...source } = kb.source;
      return {
        ...source,
        spec: { ...spec, acl: "connector" },
        ...(sessions && { sessions: { ...sessions, ...isFarApart } }),
      };
    },
    listing: { looks: 3, ms: 3_600_000 },
  });
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded" });
  expect(seen).toEqual(["full new 0"]);
});

test("what a run has listed counts over all of its turns", async () => {
  const tree = { folders: [["a"], ["b"], ["c"], ["d"], ["e"]] };
  const seen: string[] = [];
  const script = walking(tree, seen);
  const { kb }: { kb: Harness } = await bounded(async function* (run, signal) {
    for await (const event of script(run, signal)) {
      yield event;
      // The turn is over after each folder, and another job always waits.
      if (event.t === "checkpoint") kb.clock.now += 10_000;
    }
  }, 3);
  await kb.store.queue.enqueue({
    workspaceId: WORKSPACE,
    type: "sync",
    dedupeKey: "sync:con_other",
    payload: { connectorId: "con_other" },
    priority: 10,
    runAt: kb.clock.now + 1,
  });
  await kb.request("full");
  await kb.makeWorker({ concurrency: 1 }).runUntilIdle();
  const [sync] = await kb.store.in(WORKSPACE).syncs.list((await kb.connector()).connectorId, 1);
  expect(sync).toMatchObject({ state: "partial", problem: { message: expect.stringContaining("after 3 requests") } });
  expect(await living(kb)).toEqual(["a", "b", "c"]);
});

test("an hour of listing is enough, however little it finds", async () => {
  const tree = { folders: [["a"], ["b"], ["c"]] };
  const kb: Harness = await withoutMirror(async function* (run, signal) {
    for await (const event of walking(tree)(run, signal)) {
      if (event.t === "checkpoint") kb.clock.now += 40 * 60_000;
      yield event;
    }
  });
  expect(await kb.sync("full")).toMatchObject({
    state: "partial",
    problem: { message: expect.stringMatching(/^Stopped after [12] requests or folders and (80|120|160) minutes/) },
  });
  expect((await living(kb)).length).toBeLessThan(3);
});

test("a run that only looks for changes is no part of a full listing, and the rest of a full one comes before it", async () => {
  const tree = { folders: [["a"], ["b"], ["c"]] };
  const seen: string[] = [];
  const { kb, listing } = await bounded(walking(tree, seen), 9);
  await kb.sync("full");
  listing.looks = 2;
  // What changed is looked for in two runs: the full listing before them still counts.
  expect(await kb.sync("incremental")).toMatchObject({ state: "partial", mode: "incremental" });
  expect((await kb.connector()).lastFullAt).not.toBeNull();
  expect(await kb.sync()).toMatchObject({ state: "succeeded", mode: "incremental" });
  // Half of one is none of a full listing.
  await kb.sync("incremental");
  await kb.sync("full");
  expect(await kb.sync("incremental")).toMatchObject({ state: "succeeded", mode: "full" });
  expect(seen).toEqual([
    "full new 0",
    "incremental new 0",
    "incremental on 2",
    "incremental new 0",
    "full new 0",
    "full on 2",
  ]);
});

test("a listing that stopped at a bound goes on soon, and one without end ever later", async () => {
  const tree = { folders: Array.from({ length: 9 }, (_, i) => [`f${i}`]) };
  const { kb } = await bounded(walking(tree), 2);
  const { connectorId } = await kb.connector();
  await kb.store.in(WORKSPACE).connectors.update(connectorId, { everyMinutes: 1_440 });
  const waits: number[] = [];
  for (let run = 0; run < 3; run++) {
    await kb.store.in(WORKSPACE).connectors.update(connectorId, { nextRunAt: kb.clock.now + 86_400_000 });
    await kb.sync();
    waits.push(Math.round((((await kb.connector()).nextRunAt ?? 0) - kb.clock.now) / 1_000));
  }
  const [first = 0, second = 0, third = 0] = waits;
  expect(first).toBeGreaterThanOrEqual(45);
  expect(first).toBeLessThanOrEqual(75);
  expect(second).toBeGreaterThanOrEqual(90);
  expect(third).toBeGreaterThanOrEqual(180);
});

test("where permissions are mirrored a run has no bound: what several list together would prove nothing", async () => {
  const tree = { folders: [["a"], ["b"], ["c"]] };
  const kb = await makeHarness(walking(tree), { listing: { looks: 1, ms: 1 } });
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded" });
});

test("a list without end and without a place to stop at ends the run as partial; what it had taken stays, and nothing is proven", async () => {
  const list = { isEndless: false };
  let told = 0;
  const kb: Harness = await makeHarness(async function* (_run, signal) {
    yield upsert("a", "a");
    yield upsert("b", "b");
    yield { t: "checkpoint", cursor: 1 };
    for (; list.isEndless && !signal.aborted && told < 5_000; told++) {
      kb.clock.now += 60_000;
      yield { t: "skip", externalId: `x${told}`, reason: "empty", message: "Empty.", retryable: false };
    }
    if (!list.isEndless) yield end();
  });
  expect(await kb.sync("full")).toMatchObject({ state: "succeeded" });
  const before = (await kb.connector()).aclCheckedAt;
  list.isEndless = true;
  kb.clock.now += 1_000;
  expect(await kb.sync("full")).toMatchObject({
    state: "partial",
    problem: { message: expect.stringContaining("listed for 180 minutes without reaching a point to resume from") },
  });
  expect(told).toBeLessThan(200);
  expect(await living(kb)).toEqual(["a", "b"]);
  expect(await kb.connector()).toMatchObject({ aclCheckedAt: before, lastFullAt: null, state: "active" });
});

test("a source that waits for an answer and never comes back with an event is told to stop", async () => {
  const abort = new AbortController();
  let now = 0;
  async function* waiting(): AsyncGenerator<{ t: string }, void> {
    yield { t: "upsert" };
    await new Promise((_resolve, reject) => {
      abort.signal.addEventListener("abort", () => reject(abort.signal.reason as Error), { once: true });
    });
  }
  const events = withCheckpointTimeout(waiting(), {
    mostMs: 1_000,
    now: () => (now += 100),
    stop: (reason) => abort.abort(reason),
    checkEveryMs: 1,
  });
  expect((await events.next()).value).toEqual({ t: "upsert" });
  await expect(events.next()).rejects.toThrow("without reaching a point to resume from");
});

test("another scope begins the listing again", async () => {
  const tree = { folders: [["a"], ["b"], ["c"]] };
  const seen: string[] = [];
  const { kb } = await bounded(walking(tree, seen), 2);
  await kb.sync("full");
  const { connectorId, scopeVersion } = await kb.connector();
  await kb.store.in(WORKSPACE).connectors.update(connectorId, { scopeVersion: scopeVersion + 1 });
  await kb.sync("full");
  expect(seen).toEqual(["full new 0", "full new 0"]);
});
