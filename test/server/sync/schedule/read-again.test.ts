import { inMemory } from "../../../spool.ts";
import { describe, expect, test } from "vitest";
import type { SourceAccess } from "#core/principals.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import type { ExtractRequest } from "#extract/extractor.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { SyncDeps } from "#server/sync/deps.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import { CONNECTOR, end, item, makeHarness, type Script, WORKSPACE } from "../harness.ts";

const HOUR_MS = 3_600_000;
const OPEN: SourceAccess = { known: true, all: [["workspace"]] };

/** What is in a file: words, or files. One whose words begin with "FAIL" can't be read, "LATER" may be another time, "SLOW" takes too long. */
type Content = string | Record<string, string>;

interface World {
  files: Record<string, Content>;
  /** The program's readers, by media type. */
  readers: Record<string, number>;
  access: SourceAccess;
  /** Ids that the source names no more. */
  hidden: Set<string>;
  /** What was fetched, and what was extracted. */
  fetched: string[];
  extracted: string[];
  onFetch?: () => void;
}

/** Readers say which of them has read a text, so that what a better one finds is another text. */
async function makeWorld(files: Record<string, Content>, script?: (world: World) => Script) {
  const world: World = {
    files,
    readers: {},
    access: OPEN,
    hidden: new Set(),
    fetched: [],
    extracted: [],
  };
  const versionOf = (reader: string) => world.readers[reader] ?? 1;
  const deps: Partial<SyncDeps> = {
    readerVersionOf: versionOf,
    extractor: { extract: async (request) => extract(world, versionOf, request) },
  };
  const kb = await makeHarness((script ?? walking)(world), deps);
  kb.source.fetchContent = async (_ctx, { externalId }) => {
    world.fetched.push(externalId);
    world.onFetch?.();
    return { bytes: Buffer.from(JSON.stringify(world.files[externalId])), fileName: externalId };
  };
  const { itemWrites, syncs } = kb.store.in(WORKSPACE);
  const runs = async () => (await syncs.list(CONNECTOR, 100)).toReversed();
  return {
    kb,
    world,
    runs,
    /** Only those that read again. */
    readerRuns: async (): Promise<SyncRecord[]> => (await runs()).filter(({ trigger }) => trigger === "reader"),
    left: () => itemWrites.countOlder(CONNECTOR, versionOf),
    texts: async () => {
      const rows = await kb.database.read
        .selectFrom("items as i")
        .leftJoin("item_texts as t", (on) =>
          on.onRef("t.workspaceId", "=", "i.workspaceId").onRef("t.kbId", "=", "i.kbId"),
        )
        .select(["i.externalId", "t.text"])
        .where("i.removedAt", "is", null)
        .orderBy("i.externalId")
        .execute();
      return Object.fromEntries(rows.map(({ externalId, text }) => [externalId, text]));
    },
    /** Works as long as there is something to do, one moment after the other. */
    async settle(hours = 0) {
      kb.clock.now += hours * HOUR_MS;
      await kb.worker.runUntilIdle();
    },
  };
}

function extract(world: World, versionOf: (reader: string) => number, request: ExtractRequest) {
  const content = JSON.parse(Buffer.from(inMemory(request.bytes)).toString()) as Content;
  world.extracted.push(request.fileName);
  const mimeType = typeof content === "object" ? "application/zip" : `text/${request.fileName.split(".").at(-1)}`;
  const words = typeof content === "object" ? "files" : content;
  const about = { title: request.title, path: request.path, labels: request.labels };
  if (words.startsWith("FAIL") || words.startsWith("LATER")) {
    const retryable = words.startsWith("LATER");
    const why = { state: "no_text", reason: "failed", message: "Broken.", mimeType, retryable } as const;
    const reader = retryable ? null : mimeType;
    return { ...why, reader, analyzed: analyzeDocument({ ...about, text: "" }) };
  }
  const text = `${words} by ${versionOf(mimeType)}`;
  const sections = [{ name: `Part ${versionOf(mimeType)}`, level: 1, start: 0 }];
  const children =
    typeof content === "object"
      ? Object.entries(content).map(([id, inside]) => ({
          id,
          fileName: id,
          bytes: Buffer.from(JSON.stringify(inside)),
        }))
      : [];
  const analyzed = analyzeDocument({ ...about, text });
  return {
    state: "ok",
    text,
    mimeType,
    reader: mimeType,
    sections,
    properties: {},
    maskedSecrets: 0,
    children,
    ...(words.startsWith("SLOW") && { isOutOfTime: true as const }),
    analyzed,
  } as const;
}

function itemOf(world: World, id: string): SourceItem {
  return item(id, JSON.stringify(world.files[id]), { content: { type: "fetch" }, access: world.access });
}

/** A source that lists everything in each run; one that is asked for items names those. */
const walking = (world: World): Script =>
  async function* ({ mode, externalIds, stored }) {
    for (const id of mode === "items" ? (externalIds ?? []) : Object.keys(world.files)) {
      if (world.hidden.has(id) || world.files[id] === undefined) continue;
      const each = itemOf(world, id);
      if ((await stored.version(id)) === each.version) yield { t: "seen", externalIds: [id] };
      else yield { t: "upsert", item: each };
    }
    yield end();
  };

/** A source that names everything once, and then only news, of which there are none. */
const feeding = (world: World): Script =>
  async function* (run) {
    if (run.mode === "incremental") yield { t: "end", listing: "partial", permissions: "current" } satisfies SyncEvent;
    else yield* walking(world)(run, new AbortController().signal);
  };

describe("what was cut for time", () => {
  test("is read again an hour later, twice at most, and then stays", async ({ expect }) => {
    const { kb, world, readerRuns, left, texts, settle } = await makeWorld({ "a.md": "SLOW", "b.md": "Tides" });
    await kb.sync("full");
    await settle();
    expect([world.fetched, await left()]).toEqual([["a.md", "b.md"], 1]);
    await settle(1.1);
    expect([world.fetched.slice(2), await left()]).toEqual([["a.md"], 1]);
    await settle(1.1);
    expect([world.fetched.slice(3), await left()]).toEqual([["a.md"], 0]);
    await settle(50);
    expect([world.fetched.length, (await readerRuns()).length]).toEqual([4, 2]);
    expect(await texts()).toEqual({ "a.md": "SLOW by 1", "b.md": "Tides by 1" });
  });

  test("is whole as soon as one reading comes to the end, and another version has as many tries again", async ({
    expect,
  }) => {
    const { kb, world, left, texts, settle } = await makeWorld({ "a.md": "SLOW one" });
    await kb.sync("full");
    await settle(1.1);
    world.files["a.md"] = "SLOW two";
    await kb.sync("full");
    expect(await left()).toBe(1);
    await settle(1.1);
    await settle(1.1);
    expect([world.fetched.length, await left()]).toEqual([5, 0]);
    world.files["a.md"] = "SLOW three";
    await kb.sync("full");
    world.files["a.md"] = "Whole";
    await settle(1.1);
    expect([await texts(), await left()]).toEqual([{ "a.md": "Whole by 1" }, 0]);
  });

  test("counts inside a file that holds files too, as often", async ({ expect }) => {
    const { kb, world, left, settle } = await makeWorld({ "a.zip": { "in.md": "SLOW", "out.md": "Tides" } });
    await kb.sync("full");
    expect(await left()).toBe(1);
    for (const _ of [1, 2, 3, 4]) await settle(2);
    expect([world.fetched.length, await left()]).toEqual([3, 0]);
  });

  test("has no more tries than any, whatever is stored", async () => {
    const { kb, world, left, settle } = await makeWorld({ "a.md": "SLOW" });
    await kb.sync("full");
    await kb.database.write.updateTable("items").set({ cutRetries: 9e15 }).execute();
    for (const _ of [1, 2, 3, 4]) await settle(1.1);
    expect([world.fetched.length, await left()]).toEqual([3, 0]);
  });

  test("that fails for good when it is read again keeps its text", async ({ expect }) => {
    const { kb, world, left, texts, settle } = await makeWorld({ "a.md": "SLOW" });
    await kb.sync("full");
    world.files["a.md"] = "FAIL";
    for (const _ of [1, 2, 3]) await settle(2);
    expect([await texts(), await left()]).toEqual([{ "a.md": "SLOW by 1" }, 0]);
    expect(world.fetched.length).toBe(2);
  });
});

describe("what an older reader has read", () => {
  test.for([
    ["a source that lists everything", walking],
    ["a feed that never names it again", feeding],
  ] as const)("is read again by itself: %s", async ([, script], { expect }) => {
    const { kb, world, runs, readerRuns, left, texts, settle } = await makeWorld(
      { "a.md": "Tides", "b.md": "FAIL", "c.csv": "Rows" },
      script,
    );
    await kb.sync("full");
    expect(await texts()).toEqual({ "a.md": "Tides by 1", "b.md": null, "c.csv": "Rows by 1" });
    expect([world.fetched.length, await left(), (await readerRuns()).length]).toEqual([3, 0, 0]);

    // Nothing is done before a run of its own, and what that says is no longer than usual.
    world.readers["text/md"] = 2;
    world.files["b.md"] = "Ebb";
    expect(await left()).toBe(2);
    kb.clock.now += 60_000;
    const usual = await kb.sync("incremental");
    expect([usual.counts.upserted, await texts()]).toEqual([
      script === walking ? 1 : 0,
      { "a.md": "Tides by 2", "b.md": "Ebb by 2", "c.csv": "Rows by 1" },
    ]);
    expect(await left()).toBe(0);
    const [again, ...more] = await readerRuns();
    expect(more).toEqual([]);
    expect(again).toMatchObject({
      mode: "items",
      state: "succeeded",
      problem: null,
      counts: { failed: 0, deleted: 0 },
    });
    expect((await runs()).map(({ trigger }) => trigger)).toEqual(["manual", "manual", "reader"]);
    // Nothing was removed, and once is enough.
    await settle(2);
    expect([(await readerRuns()).length, Object.keys(await texts()).length]).toEqual([1, 3]);
  });

  test("is read again without a schedule, soon after a program with better readers has started", async ({ expect }) => {
    const { kb, world, left } = await makeWorld({ "a.md": "Tides", "c.csv": "Rows" });
    await kb.sync("full");
    world.readers["text/md"] = 2;
    world.fetched.length = 0;
    await kb.makeWorker().runUntilIdle();
    expect([world.fetched, await left()]).toEqual([["a.md"], 0]);
  });

  test("is found as it was until then, by those who may read it now", async ({ expect }) => {
    const { kb, world, texts, settle } = await makeWorld({ "a.md": "Tides" });
    await kb.sync("full");
    const before = await kb.items();
    world.readers["text/md"] = 2;
    world.access = { known: true, all: [["workspace"], ["everyone"]] };
    let during: unknown;
    world.onFetch = () => void (during ??= Promise.all([texts(), kb.items()]));
    await settle(2);
    expect(await during).toEqual([{ "a.md": "Tides by 1" }, before]);
    const [after] = await kb.items();
    expect(await texts()).toEqual({ "a.md": "Tides by 2" });
    expect(after).toMatchObject({ kbId: before[0]?.kbId, indexState: "indexed" });
    // Its access is mirrored with it.
    expect(after?.aclId).not.toBe(before[0]?.aclId);
    const lists = await kb.store.in(WORKSPACE).access.listsOf(after?.aclId ?? 0);
    expect(lists).toContainEqual(["everyone"]);
  });

  test("keeps its text when it can't be read for now, and is tried again an hour later", async ({ expect }) => {
    const { kb, world, texts, left, settle } = await makeWorld({ "a.md": "Tides" });
    await kb.sync("full");
    world.readers["text/md"] = 2;
    world.files["a.md"] = "LATER";
    world.fetched.length = 0;
    await settle(2);
    expect([await texts(), await left(), world.fetched.length]).toEqual([{ "a.md": "Tides by 1" }, 1, 1]);
    world.files["a.md"] = "Flood";
    await settle();
    expect([await left(), world.fetched.length]).toEqual([1, 1]);
    await settle(25);
    expect([await texts(), await left()]).toEqual([{ "a.md": "Flood by 2" }, 0]);
  });

  test("keeps its text when a better reader can't read it either, and is not read once more", async ({ expect }) => {
    const { kb, world, texts, left, readerRuns, settle } = await makeWorld({ "a.md": "Tides" });
    await kb.sync("full");
    world.readers["text/md"] = 2;
    world.files["a.md"] = "FAIL";
    await settle(2);
    await settle(50);
    expect([await texts(), await left(), (await readerRuns()).length]).toEqual([{ "a.md": "Tides by 1" }, 0, 1]);
    expect(await kb.connector()).toMatchObject({ state: "active", consecutiveFailures: 0 });
  });

  test.each([9e18, -9e18, "NaN"])("waits for no time that can't be: %s", async (planted) => {
    const { kb, world, texts, left, settle } = await makeWorld({ "a.md": "Tides" });
    await kb.sync("full");
    await kb.database.write
      .updateTable("items")
      .set({ retryAt: planted, readAgainAt: planted } as object)
      .execute();
    world.readers["text/md"] = 2;
    await settle(2);
    expect([await texts(), await left()]).toEqual([{ "a.md": "Tides by 2" }, 0]);
  });

  test("gets the sections that a better reader finds in the same text", async ({ expect }) => {
    const { kb, world, settle } = await makeWorld({ "a.md": "Tides" });
    const sections = async () => {
      const { kbId } = (await kb.items())[0] ?? {};
      return (await kb.store.in(WORKSPACE).items.records(kbId === undefined ? [] : [kbId]))[0]?.sections;
    };
    await kb.sync("full");
    expect(await sections()).toMatchObject([{ name: "Part 1" }]);
    // As a reader that found no sections would have left it.
    await kb.database.write.updateTable("items").set({ readerVersion: 0, sections: "[]" }).execute();
    expect(await sections()).toEqual([]);
    world.fetched.length = 0;
    await settle(2);
    expect(world.fetched).toEqual(["a.md"]);
    expect(await sections()).toMatchObject([{ name: "Part 1" }]);
  });

  test("is read with the file that it is in", async ({ expect }) => {
    const { kb, world, texts, left, settle } = await makeWorld({
      "a.zip": { "in.md": "Tides", "in.csv": "Rows" },
      "b.zip": { "in.csv": "Rows" },
    });
    await kb.sync("full");
    const before = await texts();
    expect(before["a.zip!//in.md"]).toBe("Tides by 1");
    world.readers["text/md"] = 2;
    world.fetched.length = 0;
    expect(await left()).toBe(1);
    await settle(2);
    expect(world.fetched).toEqual(["a.zip"]);
    expect(await texts()).toEqual({ ...before, "a.zip!//in.md": "Tides by 2" });
    expect(await left()).toBe(0);
  });

  test("that a source names no more waits a day, holds up nothing, and is not removed", async ({ expect }) => {
    const names = Array.from({ length: 450 }, (_, n) => `f${String(n).padStart(3, "0")}.md`);
    const { kb, world, texts, left, readerRuns, settle } = await makeWorld(
      Object.fromEntries(names.map((name) => [name, "Words"])),
      feeding,
    );
    await kb.sync("full");
    world.hidden = new Set(names.slice(0, 300));
    world.readers["text/md"] = 2;
    await settle(2);
    expect(await left()).toBe(300);
    // Bounded runs, one after the other; the last has nothing left to choose.
    expect((await readerRuns()).map(({ items }) => items?.length)).toEqual([200, 200, 50]);
    await settle(2);
    expect((await readerRuns()).length).toBe(3);
    world.hidden.clear();
    await settle(24);
    expect([await left(), Object.keys(await texts()).length]).toEqual([0, 450]);
  });
});

describe("reading again", () => {
  test("goes on after a kill with what is left", async ({ expect }) => {
    const names = Array.from({ length: 30 }, (_, n) => `f${String(n).padStart(2, "0")}.md`);
    const { kb, world, left, readerRuns } = await makeWorld(Object.fromEntries(names.map((name) => [name, "Words"])));
    await kb.sync("full");
    world.readers["text/md"] = 2;
    world.fetched.length = 0;
    // Somebody ends the process in the middle: batches of a second each, and the worker is told to stop.
    const worker = kb.makeWorker({ parallel: 1 });
    let stopping: Promise<void> | undefined;
    world.onFetch = () => {
      kb.clock.now += 1_000;
      if (world.fetched.length === 10) stopping = worker.stop();
    };
    await worker.runUntilIdle();
    await stopping;
    const done = 30 - (await left());
    expect(done).toBeGreaterThan(3);
    expect(done).toBeLessThan(15);
    await kb.makeWorker().runUntilIdle();
    expect(await left()).toBe(0);
    expect(new Set(world.fetched).size).toBe(30);
    // What was under way is read twice at most.
    expect(world.fetched.length).toBeLessThan(30 + 15 - done);
    expect((await readerRuns()).map(({ state }) => state)).toEqual(["succeeded"]);
  });

  test("gives way to a sync that someone asks for meanwhile, and goes on behind it", async ({ expect }) => {
    const names = Array.from({ length: 40 }, (_, n) => `f${String(n).padStart(2, "0")}.md`);
    const { kb, world, left, runs } = await makeWorld(Object.fromEntries(names.map((name) => [name, "Words"])));
    await kb.sync("full");
    world.readers["text/md"] = 2;
    world.fetched.length = 0;
    let asked: Promise<SyncRecord> | undefined;
    world.onFetch = () => {
      kb.clock.now += 1_000;
      if (world.fetched.length !== 5) return;
      world.files["new.md"] = "News";
      asked = kb.request("incremental");
    };
    await kb.makeWorker({ parallel: 1 }).runUntilIdle();
    await asked;
    const [, again, usual] = await runs();
    expect([again?.trigger, usual?.trigger]).toEqual(["reader", "manual"]);
    expect(world.fetched.indexOf("new.md")).toBeLessThan(20);
    expect(usual?.finishedAt ?? 0).toBeLessThan(again?.finishedAt ?? 0);
    expect(await left()).toBe(0);
  });

  test("stands for no run of the schedule, and shows as no activity while it waits", async ({ expect }) => {
    const { kb, world, runs } = await makeWorld({ "a.md": "Tides" });
    await kb.sync("full");
    await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { everyMinutes: 30, nextRunAt: kb.clock.now + 60_000 });
    world.readers["text/md"] = 2;
    // It is asked for and due at the same moment as the schedule's.
    kb.clock.now += 2 * HOUR_MS;
    await kb.makeWorker().runUntilIdle();
    const order = (await runs()).toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0));
    expect(order.map(({ trigger, state }) => [trigger, state])).toEqual([
      ["manual", "succeeded"],
      ["schedule", "succeeded"],
      ["reader", "succeeded"],
    ]);
    const [last] = await kb.store.in(WORKSPACE).syncs.listLast([CONNECTOR]);
    expect(last?.trigger).toBe("schedule");
  });

  test("says nothing of how the connector is doing when it fails, and is tried again", async ({ expect }) => {
    const failing = (world: World): Script =>
      async function* (run, signal) {
        if (run.mode === "items" && world.hidden.has("down")) throw new Error("unreachable");
        yield* walking(world)(run, signal);
      };
    const { kb, world, left, readerRuns, settle } = await makeWorld({ "a.md": "Tides" }, failing);
    await kb.sync("full");
    world.readers["text/md"] = 2;
    world.hidden.add("down");
    await settle(2);
    expect((await readerRuns()).map(({ state }) => state)).toEqual(["failed"]);
    expect(await kb.connector()).toMatchObject({ state: "active", consecutiveFailures: 0, stateReason: null });
    world.hidden.clear();
    await settle(1);
    expect([(await readerRuns()).map(({ state }) => state), await left()]).toEqual([["failed", "succeeded"], 0]);
  });

  test("asks nothing of a connector that needs people first", async ({ expect }) => {
    const { kb, world, readerRuns, settle } = await makeWorld({ "a.md": "Tides" });
    await kb.sync("full");
    world.readers["text/md"] = 2;
    for (const state of ["paused", "needs_reauth"] as const) {
      await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { state });
      await settle(2);
    }
    expect(await readerRuns()).toEqual([]);
    await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { state: "active" });
    await settle(2);
    expect((await readerRuns()).map(({ state }) => state)).toEqual(["succeeded"]);
  });
});
