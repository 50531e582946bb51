import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { makeSearchTally } from "#storage/search-tally.ts";
import { findSpawnEntry } from "#core/spawn.ts";
import { makeRequest, TestIndex } from "../world.ts";

test("threads answer what the file holds, and pass failures on with their code", async () => {
  const index = new TestIndex();
  const pool = makeSearchPool({ file: index.file, size: 2, workerUrl: findSpawnEntry("searcher") });
  try {
    index.access("w1", 1, [["everyone"]]);
    index.put("w1", { kbId: "a", text: "alpha" });
    const answers = await Promise.all(Array.from({ length: 6 }, () => pool.search(makeRequest({ query: "alpha" }))));
    expect(answers.map((answer) => answer.total)).toEqual([1, 1, 1, 1, 1, 1]);
    index.put("w1", { kbId: "b", text: "alpha" });
    expect((await pool.search(makeRequest({ query: "alpha" }))).total).toBe(2);
    const late = pool.search(makeRequest({ query: "alpha", deadlineMs: -1 }));
    await expect(late).rejects.toMatchObject({ code: "search_timeout", class: "unavailable" });
    expect((await pool.stats("w1")).documents).toBe(2);
  } finally {
    await pool.close();
    index.close();
  }
  await expect(pool.search(makeRequest({}))).rejects.toMatchObject({ code: "unavailable" });
});

test("a thread that dies fails its question only; the next one gets a new thread", async () => {
  const index = new TestIndex();
  const flag = path.join(path.dirname(index.file), "died");
  const entry = path.join(path.dirname(index.file), "fragile.mjs");
  writeFileSync(
    entry,
    `import { existsSync, readdirSync, writeFileSync } from "node:fs";
     import { parentPort } from "node:worker_threads";
     parentPort.on("message", ({ id, close }) => {
       if (close) parentPort.close();
       else if (existsSync(${JSON.stringify(flag)})) parentPort.postMessage({ id, ok: true, value: { total: 7 } });
       else { writeFileSync(${JSON.stringify(flag)}, ""); process.exit(1); }
     });`,
  );
  const searches = makeSearchTally();
  const pool = makeSearchPool({ file: index.file, size: 1, workerUrl: entry, searches });
  try {
    const dying = pool.search(makeRequest({}));
    expect(searches.atWork()).toBe(1);
    await expect(dying).rejects.toMatchObject({ code: "unavailable" });
    expect([searches.atWork(), searches.ended()]).toEqual([0, 1]);
    expect(existsSync(flag)).toBe(true);
    expect((await pool.search(makeRequest({}))).total).toBe(7);
  } finally {
    await pool.close();
    index.close();
  }
});

test("a search waits for a thread that works rather than for one that starts, and the next ones have both", async () => {
  const index = new TestIndex();
  const folder = path.dirname(index.file);
  const file = (name: string) => path.join(folder, name);
  const entry = file("starting.mjs");
  writeFileSync(
    entry,
    `import { existsSync, writeFileSync } from "node:fs";
     import { parentPort, threadId } from "node:worker_threads";
     const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
     // The second thread starts when the test says so.
     if (existsSync(${JSON.stringify(file("first"))})) while (!existsSync(${JSON.stringify(file("go"))})) sleep(5);
     else writeFileSync(${JSON.stringify(file("first"))}, "");
     parentPort.on("message", ({ id, close }) => {
       if (close) return parentPort.close();
       sleep(20);
       parentPort.postMessage({ id, ok: true, value: { total: threadId } });
     });`,
  );
  const pool = makeSearchPool({ file: index.file, size: 2, workerUrl: entry });
  const search = async () => (await pool.search(makeRequest({}))).total;
  try {
    const first = await search();
    const late = setTimeout(() => writeFileSync(file("go"), ""), 3_000);
    expect(await Promise.all([search(), search(), search()])).toEqual([first, first, first]);
    clearTimeout(late);
    writeFileSync(file("go"), "");
    await expect.poll(async () => new Set(await Promise.all([search(), search()])).size).toBe(2);
  } finally {
    await pool.close();
    index.close();
  }
});

test("a pool that closes lets its threads end what they are at, and is closed when they have ended", async () => {
  const index = new TestIndex();
  const file = (name: string) => JSON.stringify(path.join(path.dirname(index.file), name));
  const entry = path.join(path.dirname(index.file), "slow.mjs");
  writeFileSync(
    entry,
    `import { writeFileSync } from "node:fs";
     import { parentPort } from "node:worker_threads";
     const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
     parentPort.on("message", (message) => {
       if ("close" in message) {
         writeFileSync(${file("closed")}, "");
         parentPort.close();
       } else {
         writeFileSync(${file("begun")}, "");
         sleep(300);
         writeFileSync(${file("ended")}, "");
         parentPort.postMessage({ id: message.id, ok: true, value: { total: 7 } });
       }
     });`,
  );
  const pool = makeSearchPool({ file: index.file, size: 1, workerUrl: entry });
  const found = pool.search(makeRequest({}));
  const folder = () => readdirSync(path.dirname(index.file));
  await expect.poll(folder).toContain("begun");
  await pool.close();
  expect(folder()).toEqual(expect.arrayContaining(["ended", "closed"]));
  expect((await found).total).toBe(7);
  index.close();
});
