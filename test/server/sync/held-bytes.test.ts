import { open, readdir } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { makeSpool, piecesOf, takeWhole } from "#core/spool.ts";
import type { Extractor } from "#extract/extractor.ts";
import { makeByteBudget } from "#server/sync/bytes/byte-budget.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import { randomBytes } from "node:crypto";
import { makeOwnSpool } from "../../spool.ts";
import { end, fakeExtractor, item, makeConnector, makeHarness, WORKSPACE } from "./harness.ts";

const MEGABYTE = 1024 * 1024;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Tells the most bytes that it was given and had not answered; each answer takes its time. */
function countingExtractor() {
  const seen = { most: 0, now: 0, spooled: 0 };
  const extractor: Pick<Extractor, "extract"> = {
    async extract(request, signal) {
      seen.now += request.bytes.length;
      seen.most = Math.max(seen.most, seen.now);
      if (!(request.bytes instanceof Uint8Array)) seen.spooled += 1;
      const bytes = (await takeWhole(request.bytes)).subarray(0, 20);
      for (let i = 0; i < 5; i++) await settle();
      seen.now -= request.bytes.length;
      return fakeExtractor.extract({ ...request, bytes }, signal);
    },
  };
  return { seen, extractor };
}

const files = (count: number) =>
  Array.from({ length: count }, (_, i) => item(`f${i}`, "x", { content: { type: "fetch" } }));

async function* script() {
  for (const each of files(6)) yield { t: "upsert" as const, item: each };
  yield end();
}

/** Comes in pieces, as from a server. */
const large =
  (bytes: number) =>
  async (_: unknown, { externalId }: { externalId: string }) => ({
    stream: piecesOf(Buffer.alloc(bytes, "words ")),
    fileName: externalId,
  });

test("all runs together keep to one budget, and each comes to its end", async () => {
  const { seen, extractor } = countingExtractor();
  const { spool, folder } = makeOwnSpool(onTestFinished);
  const kb = await makeHarness(script, { extractor, spool, budget: makeByteBudget(9 * MEGABYTE) });
  kb.source.fetchContent = large(2 * MEGABYTE);
  const { connectors } = kb.store.in(WORKSPACE);
  const others = ["con_3333333333333333", "con_4444444444444444"];
  for (const connectorId of others) await connectors.create({ ...makeConnector(kb.clock.now), connectorId });
  await kb.request();
  for (const connectorId of others) {
    const connector = await connectors.find(connectorId);
    if (!connector) throw new Error("It was just made.");
    const wish = { trigger: "manual" as const, now: kb.clock.now, randomBytes };
    await kb.store.transaction((tx) => requestSync(tx, WORKSPACE, connector, wish));
  }
  await kb.worker.runUntilIdle();
  expect(await kb.items()).toHaveLength(18);
  expect(seen.spooled).toBe(18);
  // One file needs four times its size: with one of 2 MB in the budget there is no room for another.
  expect(seen.most).toBe(2 * MEGABYTE);
  expect(await readdir(folder)).toEqual([]);
});

test("a source that is slow with a file keeps no one else's out", async () => {
  const { extractor } = countingExtractor();
  const budget = makeByteBudget(9 * MEGABYTE);
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  const kb = await makeHarness(script, { extractor, budget });
  async function* slow() {
    yield Buffer.alloc(MEGABYTE, "words ");
    await given;
    yield Buffer.alloc(MEGABYTE, "words ");
  }
  kb.source.fetchContent = async (_ctx, { externalId }) => ({ stream: slow(), fileName: externalId });
  await kb.request();
  const running = kb.worker.runUntilIdle();
  const held = await budget
    .open({ workspaceId: "wsp_other", connectorId: "con_other" })
    .take()
    .enter(9 * MEGABYTE, AbortSignal.timeout(60_000));
  held.release();
  give();
  await running;
  expect(await kb.items()).toHaveLength(6);
});

test("a rate limit in the middle of a run gives back everything that it holds", async () => {
  const { extractor } = countingExtractor();
  const budget = makeByteBudget(100 * MEGABYTE);
  const kb = await makeHarness(script, { extractor, budget });
  const read = large(2 * MEGABYTE);
  let reads = 0;
  kb.source.fetchContent = async (ctx, { externalId }) => {
    if (++reads === 4) throw new ApiError("source_rate_limited", { message: "Wait.", retryAfterMs: 5_000 });
    return read(ctx, { externalId });
  };
  expect(await kb.sync()).toMatchObject({ state: "waiting" });
  expect(budget.held).toBe(0);
  kb.clock.now += 10_000;
  await kb.worker.runUntilIdle();
  expect(await kb.items()).toHaveLength(6);
  expect(budget.held).toBe(0);
});

test("on a full disk a large file is tried again later, and the run goes on with the others", async () => {
  let isFull = true;
  const { folder, spool: roomy } = makeOwnSpool(onTestFinished);
  const full = makeSpool(folder, () => open("/dev/full", "w"));
  const spool = { ...roomy, keep: (...given: Parameters<typeof roomy.keep>) => (isFull ? full : roomy).keep(...given) };
  const { extractor } = countingExtractor();
  const kb = await makeHarness(script, { extractor, spool });
  kb.source.fetchContent = async (_ctx, { externalId }) => ({
    stream: piecesOf(Buffer.alloc(externalId === "f2" ? 2 * MEGABYTE : 6, "words ")),
    fileName: externalId,
  });
  expect(await kb.sync()).toMatchObject({ state: "partial", counts: { failed: 1 } });
  const rows = await kb.items();
  expect(rows.filter(({ indexState }) => indexState === "indexed")).toHaveLength(5);
  const [row] = await kb.database.read.selectFrom("items").selectAll().where("externalId", "=", "f2").execute();
  expect(row).toMatchObject({ indexState: "failed", retryAt: kb.clock.now + 3_600_000 });
  expect(row?.textMessage ?? "").toContain("disk of kb's data folder is full");
  isFull = false;
  kb.clock.now += 3_600_001;
  await kb.sync("full");
  expect((await kb.items()).filter(({ indexState }) => indexState === "indexed")).toHaveLength(6);
});
