import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { CONNECTOR, end, item, listing, makeHarness, untilAborted, upsert, WORKSPACE } from "../harness.ts";

const many = (count: number, text = "words") =>
  Array.from({ length: count }, (_, i) => item(`f${String(i).padStart(3, "0")}`, `${text} ${i}`));

describe("a run", () => {
  test("stores items, their text, people and access, and says how it went", async ({ expect }) => {
    const kb = await makeHarness(function* () {
      yield upsert("a", "first text", {
        author: { name: "Ana", claimed: true },
        labels: ["Budget"],
        containers: [{ type: "folder", id: "plans", name: "Plans" }],
      });
      yield upsert("b", "second", { access: { known: false } });
      yield end();
    });
    const sync = await kb.sync();
    expect(sync).toMatchObject({ state: "succeeded", mode: "full", attempt: 1 });
    expect(sync.counts).toMatchObject({ seen: 2, upserted: 2, failed: 0, bytes: 16 });
    const [a, b] = await kb.items();
    expect(a).toMatchObject({ externalId: "a", indexState: "indexed", textReason: null });
    expect(b).toMatchObject({ externalId: "b", indexState: "unsearchable", aclId: 0 });
    expect(await kb.store.in(WORKSPACE).access.listsOf(a?.aclId ?? 0)).toEqual([
      ["workspace"],
      [`group:connector:${CONNECTOR}`],
    ]);
    const roles = await kb.database.read.selectFrom("item_entities").select(["role", "name"]).orderBy("role").execute();
    expect(roles).toEqual([
      { role: "author", name: "Ana" },
      { role: "container", name: "Plans" },
      { role: "label", name: "Budget" },
    ]);
    expect(await kb.connector()).toMatchObject({
      state: "active",
      lastFullAt: kb.clock.now,
      aclCheckedAt: kb.clock.now,
    });
  });

  test("begins no item while people search, and each in its order afterwards", async ({ expect }) => {
    const gaps: (() => void)[] = [];
    const kb = await makeHarness(
      function* () {
        for (const each of many(3)) yield { t: "upsert", item: each };
        yield end();
      },
      { waitForGap: () => new Promise((resolve) => gaps.push(resolve)) },
    );
    const syncing = kb.sync();
    await expect.poll(() => gaps.length).toBe(3);
    expect(await kb.items()).toEqual([]);
    for (const begin of gaps.toReversed()) begin();
    expect(await syncing).toMatchObject({ state: "succeeded", counts: { upserted: 3 } });
    expect((await kb.items()).map(({ externalId }) => externalId)).toEqual(["f000", "f001", "f002"]);
  });

  test("an instant that no clock can show is not known, and one between two milliseconds is whole", async ({
    expect,
  }) => {
    const kb = await makeHarness(function* () {
      yield upsert("a", "text", { createdAt: -1e17, updatedAt: 1_700_000_000_000.75, dueAt: Number.NaN });
      yield upsert("b", "text", { fields: { pages: 3 } });
      yield end();
    });
    const { state, counts } = await kb.sync();
    expect([state, counts.upserted, counts.datesLeftOut]).toEqual(["succeeded", 2, 2]);
    const dates = kb.database.read.selectFrom("items").select(["createdAt", "updatedAt", "dueAt", "fields"]);
    expect(await dates.orderBy("externalId").execute()).toEqual([
      {
        createdAt: null,
        updatedAt: 1_700_000_000_000,
        dueAt: null,
        fields: '{"datesLeftOut":["dueAt","createdAt"]}',
      },
      { createdAt: null, updatedAt: null, dueAt: null, fields: '{"pages":3}' },
    ]);
  });

  test("an unchanged item is neither written nor indexed again", async ({ expect }) => {
    const kb = await makeHarness(function* () {
      yield upsert("a", "same text", { title: "Same" });
      yield end();
    });
    await kb.sync();
    const before = await kb.items();
    expect((await kb.sync()).counts).toMatchObject({ seen: 1, unchanged: 1, upserted: 0 });
    expect(await kb.items()).toEqual(before);
  });

  test("a changed item keeps its kbId", async ({ expect }) => {
    let text = "one";
    const kb = await makeHarness(function* () {
      yield upsert("a", text);
      yield end();
    });
    await kb.sync();
    const [before] = await kb.items();
    text = "two";
    await kb.sync();
    const [after] = await kb.items();
    expect(after?.kbId).toBe(before?.kbId);
    expect(after?.textHash).not.toBe(before?.textHash);
  });

  test("a file renamed without a change of inode and text keeps its kbId; a copy does not take it", async ({
    expect,
  }) => {
    let items = [item("old", "text", { identityHint: "1:7" })];
    const kb = await makeHarness(listing(() => items));
    await kb.sync();
    const [before] = await kb.items();
    items = [item("new", "text", { identityHint: "1:7" })];
    await kb.sync();
    expect(await kb.items()).toMatchObject([{ kbId: before?.kbId, externalId: "new", removedAt: null }]);
    items = [item("new", "text", { identityHint: "1:7" }), item("other", "changed", { identityHint: "1:7" })];
    await kb.sync();
    const after = await kb.items();
    expect(after.map((row) => row.externalId)).toEqual(["new", "other"]);
    expect(after[1]?.kbId).not.toBe(before?.kbId);
  });

  test("bytes that can't be read give the item a reason and the run goes on as partial", async ({ expect }) => {
    const bytes: Record<string, string> = { good: "fine", bad: "FAIL", later: "LATER" };
    const kb = await makeHarness(function* () {
      for (const externalId of Object.keys(bytes))
        yield upsert(externalId, "", { content: { type: "fetch" }, version: "1" });
      yield end();
    });
    kb.source.fetchContent = async (_ctx, { externalId }) => ({
      bytes: new TextEncoder().encode(bytes[externalId]),
      fileName: externalId,
    });
    const sync = await kb.sync();
    expect(sync).toMatchObject({ state: "partial", counts: { failed: 2, upserted: 1 } });
    expect(await kb.items()).toMatchObject([
      { externalId: "bad", indexState: "failed", version: "1" },
      { externalId: "good", indexState: "indexed", version: "1" },
      // Its version is not done with: the next run reads it again.
      { externalId: "later", indexState: "failed", version: null },
    ]);
    expect(await kb.store.in(WORKSPACE).syncs.listSkips(sync.syncId)).toMatchObject([
      { externalId: "bad", reason: "failed", retryable: false },
      { externalId: "later", reason: "failed", retryable: true },
    ]);
    bytes["later"] = "now it works";
    expect(await kb.sync()).toMatchObject({ state: "partial" });
    expect((await kb.items())[2]).toMatchObject({ indexState: "indexed", version: "1", textReason: null });
  });

  test("a failed try keeps the former text", async ({ expect }) => {
    let text = "good text";
    const kb = await makeHarness(function* () {
      yield upsert("a", "", { content: { type: "fetch" }, version: text });
      yield end();
    });
    kb.source.fetchContent = async () => ({ bytes: new TextEncoder().encode(text), fileName: "a" });
    await kb.sync();
    const [before] = await kb.items();
    text = "LATER";
    await kb.sync();
    expect(await kb.items()).toMatchObject([
      { indexState: "failed", textHash: before?.textHash, version: "good text" },
    ]);
    text = "better";
    await kb.sync();
    expect(await kb.items()).toMatchObject([{ indexState: "indexed", version: "better" }]);
  });

  test("over half of at least 100 items failing fails the run", async ({ expect }) => {
    const kb = await makeHarness(function* () {
      for (const each of many(120)) yield { t: "upsert", item: { ...each, content: { type: "fetch" } } };
      yield end();
    });
    kb.source.fetchContent = async (_ctx, { externalId }) => ({
      bytes: new TextEncoder().encode(externalId < "f070" ? "FAIL" : "good"),
      fileName: externalId,
    });
    expect(await kb.sync()).toMatchObject({
      state: "failed",
      counts: { failed: 70 },
      problem: { code: "source_error" },
    });
  });

  test("a source that loses its authorisation stops the connector; a rate limit waits", async ({ expect }) => {
    let error = new ApiError("source_rate_limited", { message: "Slow down", retryAfterMs: 90_000 });
    const kb = await makeHarness(function* () {
      yield upsert("a", "kept");
      throw error;
    });
    expect(await kb.sync()).toMatchObject({ state: "waiting", resumeAt: kb.clock.now + 90_000 });
    expect(await kb.items()).toHaveLength(1);
    kb.clock.now += 90_000;
    error = new ApiError("source_unauthorized", {
      message: "Bearer abcdef1234567890 was refused by https://u:p@x.test/a?k=v",
    });
    await kb.worker.runUntilIdle();
    const [sync] = await kb.store.in(WORKSPACE).syncs.list(CONNECTOR, 1);
    expect(sync).toMatchObject({
      state: "failed",
      attempt: 1,
      problem: { code: "auth_required", message: "Bearer … was refused by https://…@x.test/a" },
    });
    expect(await kb.connector()).toMatchObject({ state: "needs_reauth" });
  });

  test("a full disk makes a run wait, says what to do, and the run goes on by itself", async ({ expect }) => {
    const setRoom = (pages: number) =>
      kb.database.writer.request({ type: "execute", sql: `PRAGMA max_page_count=${pages}`, parameters: [] });
    const long = (n: number) => `${n} ${"Words of a long text. ".repeat(20_000)}`;
    const kb = await makeHarness(function* () {
      for (let n = 0; n < 3; n++) yield upsert(`f${n}`, long(n));
      yield end();
    });
    await setRoom(1);
    for (let n = 0; n < 7; n++) {
      const [sync] = n === 0 ? [await kb.sync()] : await kb.store.in(WORKSPACE).syncs.list(CONNECTOR, 1);
      expect(sync).toMatchObject({
        state: "waiting",
        resumeAt: kb.clock.now + 60_000,
        problem: { code: "storage_full", message: expect.stringMatching(/Free space on .*; the sync then continues/) },
      });
      kb.clock.now += 60_000;
      if (n === 6) await setRoom(4_294_967_294);
      await kb.worker.runUntilIdle();
    }
    const [sync] = await kb.store.in(WORKSPACE).syncs.list(CONNECTOR, 1);
    expect(sync).toMatchObject({ state: "succeeded", problem: null, counts: { upserted: 3 } });
    expect(await kb.connector()).toMatchObject({ state: "active", consecutiveFailures: 0 });
  });

  test("five failed runs make an error, a good one ends it", async ({ expect }) => {
    let isBroken = true;
    const kb = await makeHarness(function* () {
      if (isBroken) throw new ApiError("source_unavailable", { message: "Down" });
      yield end();
    });
    const states: string[] = [];
    for (let i = 0; i < 5; i++) {
      await kb.sync();
      states.push((await kb.connector()).state);
    }
    expect(states).toEqual(["active", "active", "active", "active", "error"]);
    isBroken = false;
    await kb.sync();
    expect(await kb.connector()).toMatchObject({ state: "active", consecutiveFailures: 0, stateReason: null });
  });

  test("a program error is told by its kind alone", async ({ expect }) => {
    const kb = await makeHarness(() => {
      throw new Error("secret detail");
    });
    const sync = await kb.sync();
    expect(sync.problem?.code).toBe("internal");
    expect(JSON.stringify(sync)).not.toContain("secret detail");
  });
});

describe("parts of an item", () => {
  test("follow the access of what they are a part of, and narrow it by their own", async ({ expect }) => {
    const kb = await makeHarness(function* () {
      yield upsert("mail", "text", { access: { known: true, all: [["user:usr_2222222222222222"]] } });
      for (const [id, partOf] of [
        ["mail/1", "mail"],
        ["mail/1/x", "mail/1"],
      ] as const) {
        const { access: _none, ...part } = item(id, "inside", { partOf });
        yield { t: "upsert", item: part };
      }
      yield end();
    });
    await kb.sync();
    const before = await kb.items();
    expect(new Set(before.map((row) => row.aclId)).size).toBe(1);
    const apply = (externalId: string, all: string[][]) =>
      kb.store.in(WORKSPACE).itemWrites.applyBatch({
        connectorId: CONNECTOR,
        always: [`group:connector:${CONNECTOR}`],
        highest: 3,
        now: 1,
        ops: [{ type: "access", externalId, access: { known: true, all } }],
      });
    await apply("mail", [["workspace"]]);
    const after = await kb.items();
    expect(new Set(after.map((row) => row.aclId)).size).toBe(1);
    expect(after[0]?.aclId).not.toBe(before[0]?.aclId);
    await apply("mail/1", [["everyone"]]);
    const narrowed = await kb.items();
    expect(narrowed[0]).toEqual(after[0]);
    expect(new Set(narrowed.map((row) => row.aclId)).size).toBe(2);
    const { access } = kb.store.in(WORKSPACE);
    expect(await access.listsOf(narrowed[2]?.aclId ?? 0)).toEqual(
      expect.arrayContaining([["workspace"], ["everyone"]]),
    );
  });

  test("go with it", async ({ expect }) => {
    const events: SyncEvent[][] = [
      [upsert("mail", "text"), upsert("att", "attachment", { partOf: "mail" }), upsert("other", "x"), end()],
      [{ t: "delete", externalId: "mail" }, end(false)],
    ];
    const kb = await makeHarness(() => events.shift() ?? []);
    await kb.sync();
    await kb.sync("incremental");
    expect((await kb.items()).map((row) => [row.externalId, row.removedAt !== null])).toEqual([
      ["att", true],
      ["mail", true],
      ["other", false],
    ]);
  });
});

describe("deletion", () => {
  test("a run of chosen items removes none of the others, whatever its source says of its listing", async ({
    expect,
  }) => {
    const kb = await makeHarness((run) =>
      run.mode === "items" ? [upsert("a", "new"), end()] : [upsert("a", "old"), upsert("b", "old"), end()],
    );
    await kb.sync();
    await kb.request("items", ["a"]);
    await kb.worker.runUntilIdle();
    expect((await kb.items()).map(({ externalId, removedAt }) => [externalId, removedAt])).toEqual([
      ["a", null],
      ["b", null],
    ]);
    expect(await kb.connector()).toMatchObject({ lastFullAt: kb.clock.now });
  });

  test("only a complete listing deletes", async ({ expect }) => {
    let items = many(10);
    let isComplete = false;
    const kb = await makeHarness(async function* (run) {
      for await (const event of listing(() => items)(run)) {
        yield event.t === "end" ? end(isComplete) : event;
      }
    });
    await kb.sync();
    items = items.slice(1);
    await kb.sync();
    expect((await kb.items()).filter((row) => row.removedAt !== null)).toEqual([]);
    isComplete = true;
    expect((await kb.sync()).counts.deleted).toBe(1);
    expect((await kb.items()).filter((row) => row.removedAt !== null)).toHaveLength(1);
  });

  test("an item that is there again is restored with its kbId", async ({ expect }) => {
    let items = many(10);
    const kb = await makeHarness(listing(() => items));
    await kb.sync();
    const before = await kb.items();
    items = items.slice(1);
    await kb.sync();
    items = many(10);
    await kb.sync();
    expect(await kb.items()).toEqual(before);
  });

  test("losing more than a fifth and more than 20 waits for approval; what comes back is released", async ({
    expect,
  }) => {
    let items = many(100);
    const kb = await makeHarness(listing(() => items));
    await kb.sync();
    items = many(100).slice(0, 70);
    const sync = await kb.sync();
    expect(sync).toMatchObject({ state: "succeeded", counts: { deleted: 0 } });
    const { itemWrites } = kb.store.in(WORKSPACE);
    expect(await itemWrites.countStates(CONNECTOR)).toMatchObject({ indexed: 70, held: 30 });
    expect(await itemWrites.listHeld(CONNECTOR, "", 100)).toHaveLength(30);
    items = many(100).slice(0, 90);
    await kb.sync();
    // Ten are still missing; that they were held once is not asked again.
    expect(await itemWrites.countStates(CONNECTOR)).toMatchObject({ indexed: 90, held: 10 });
  });

  test("a slow drain is held at a fifth of the highest size within 24 hours", async ({ expect }) => {
    let items = many(200);
    const kb = await makeHarness(listing(() => items));
    await kb.sync();
    const living: number[] = [];
    for (let i = 0; i < 5; i++) {
      items = items.slice(0, items.length - 15);
      kb.clock.now += 3_600_000;
      await kb.sync();
      const { indexed } = await kb.store.in(WORKSPACE).itemWrites.countStates(CONNECTOR);
      living.push(indexed);
    }
    // 15 and 15 pass below 40 of 200; from then on everything more is held.
    expect(living).toEqual([185, 170, 155, 140, 125]);
    const gone = (await kb.items()).filter((row) => row.removedAt !== null);
    expect(gone).toHaveLength(30);
    kb.clock.now += 25 * 3_600_000;
    items = items.slice(0, items.length - 5);
    await kb.sync();
    expect((await kb.items()).filter((row) => row.removedAt !== null)).toHaveLength(35);
  });

  test("deletions said one by one come under the same guard", async ({ expect }) => {
    const events: SyncEvent[][] = [
      [...many(50).map((each): SyncEvent => ({ t: "upsert", item: each })), end()],
      [...many(50).map((each): SyncEvent => ({ t: "delete", externalId: each.externalId })), end(false)],
    ];
    const kb = await makeHarness(() => events.shift() ?? []);
    await kb.sync();
    await kb.sync("incremental");
    expect(await kb.store.in(WORKSPACE).itemWrites.countStates(CONNECTOR)).toMatchObject({ indexed: 0, held: 30 });
  });

  test("after seven days a removed item is gone for good", async ({ expect }) => {
    let items = many(3);
    const kb = await makeHarness(listing(() => items));
    await kb.sync();
    items = items.slice(1);
    await kb.sync();
    kb.clock.now += 8 * 86_400_000;
    await kb.makeWorker().runUntilIdle();
    expect((await kb.items()).map((row) => row.externalId)).toEqual(["f001", "f002"]);
    expect(await kb.database.read.selectFrom("item_texts").select("kbId").distinct().execute()).toHaveLength(2);
  });
});

describe("ending early", () => {
  test("a run that is cancelled keeps what it stored and its cursor", async ({ expect }) => {
    const kb = await makeHarness(async function* (_run, signal) {
      yield upsert("a", "one");
      yield { t: "checkpoint", cursor: { at: 1 } };
      const [sync] = await kb.store.in(WORKSPACE).syncs.list(CONNECTOR, 1);
      await kb.store.in(WORKSPACE).syncs.update(sync?.syncId ?? "", { state: "cancelling", cancelRequestedAt: 1 });
      kb.worker.cancel(sync?.syncId ?? "");
      await untilAborted(0, signal);
      throw new Error("aborted");
    });
    expect(await kb.sync()).toMatchObject({ state: "cancelled" });
    expect((await kb.connector()).cursor).toMatchObject({ walk: { checkpoint: { at: 1 } } });
    expect(await kb.items()).toHaveLength(1);
  });

  test("a worker that stops gives its run back, and another one goes on from the cursor", async ({ expect }) => {
    const cursors: unknown[] = [];
    let isFirst = true;
    const kb = await makeHarness(async function* (run, signal) {
      cursors.push(run.cursor);
      if (run.cursor === null) {
        yield upsert("a", "one");
        yield { t: "checkpoint", cursor: 1 };
      }
      if (isFirst) {
        isFirst = false;
        void kb.worker.stop();
        await untilAborted(0, signal);
        return;
      }
      yield upsert("b", "two");
      yield end();
    });
    const { syncId } = await kb.request();
    await kb.worker.runUntilIdle();
    expect(await kb.store.in(WORKSPACE).syncs.find(syncId)).toMatchObject({ state: "queued", attempt: 1 });
    await kb.makeWorker().runUntilIdle();
    expect(cursors).toEqual([null, 1]);
    expect(await kb.store.in(WORKSPACE).syncs.find(syncId)).toMatchObject({ state: "succeeded", attempt: 1 });
    expect((await kb.items()).map((row) => [row.externalId, row.removedAt])).toEqual([
      ["a", null],
      ["b", null],
    ]);
  });

  test("a change of scope stops the run that was under way", async ({ expect }) => {
    const kb = await makeHarness(async function* () {
      yield upsert("a", "one");
      await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { scopeVersion: 2 });
      yield upsert("b", "two");
      yield end();
    });
    expect(await kb.sync()).toMatchObject({ state: "cancelled" });
    expect(await kb.items()).toEqual([]);
  });

  test("what the scope leaves out goes at the next full run, guard or not", async ({ expect }) => {
    const all: SourceItem[] = many(60);
    const kb = await makeHarness(async function* (run) {
      const inScope = all.filter((each) => !run.scope.exclude.some((prefix) => each.externalId.startsWith(prefix)));
      yield* listing(() => inScope)(run);
    });
    await kb.sync();
    await kb.store
      .in(WORKSPACE)
      .connectors.update(CONNECTOR, { scope: { include: [], exclude: ["f00", "f01", "f02"] }, scopeVersion: 2 });
    await kb.sync("full");
    expect(await kb.store.in(WORKSPACE).itemWrites.countStates(CONNECTOR)).toMatchObject({ indexed: 30, held: 0 });
  });

  test("a second wish joins the queued run, and one during a run follows it", async ({ expect }) => {
    let runs = 0;
    const kb = await makeHarness(async function* () {
      runs++;
      if (runs === 1) await kb.request("full");
      yield end();
    });
    const first = await kb.request();
    expect((await kb.request("incremental")).syncId).toBe(first.syncId);
    await kb.worker.runUntilIdle();
    expect(runs).toBe(2);
    expect(await kb.store.in(WORKSPACE).syncs.list(CONNECTOR, 9)).toHaveLength(2);
    expect(await kb.database.read.selectFrom("jobs").selectAll().execute()).toEqual([]);
  });
});
