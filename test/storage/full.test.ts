import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openDatabase } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";
import { TEST_NOW } from "../helpers.ts";
import { tempDir } from "../temp-dir.ts";
import { makePushServer } from "../server/connectors/push-harness.ts";
import { pushed } from "../server/connectors/server.ts";

type Kb = Awaited<ReturnType<typeof makePushServer>>;

/** A disk that is full, as SQLite can be told without one: the database grows no further. */
async function setRoom(kb: Kb, room: "none" | "enough"): Promise<void> {
  const limit = room === "none" ? 1 : 4_294_967_294;
  await kb.database.writer.request({ type: "execute", sql: `PRAGMA max_page_count=${limit}`, parameters: [] });
}

const long = (id: string) => pushed(id, { text: `Number ${id}. ${"Words of a long text. ".repeat(5_000)}` });

test("a full disk refuses writes with 507, answers reads, loses nothing acknowledged, and is over by itself", async ({
  expect,
}) => {
  const kb = await makePushServer();
  expect(await kb.results([long("1"), long("2")])).toEqual(["upserted", "upserted"]);
  await setRoom(kb, "none");
  const results = await kb.push([long("3"), long("4")]);
  expect(results.map((each) => [each.result, each.error?.code])).toEqual([
    ["error", "storage_full"],
    ["error", "storage_full"],
  ]);
  // A sender whose body has a length waits for the whole of it: nothing was stored, so the status can say so.
  const raw = `${JSON.stringify(long("3"))}\n{}\n`;
  const headers = { "content-type": "application/x-ndjson", "content-length": String(Buffer.byteLength(raw)) };
  const whole = await kb.send("POST", "/items", { raw, headers });
  expect(whole).toMatchObject({ status: 507, json: { code: "storage_full" } });
  expect(whole.headers.get("retry-after")).toBe("10");
  // What is left of the pages that are there fills first.
  const group = (n: number) => kb.as(kb.owner).post("/api/groups", { name: `${n} ${"x".repeat(100)}` });
  let failed = await group(0);
  for (let n = 1; n < 100 && failed.status === 201; n++) failed = await group(n);
  expect(failed).toMatchObject({ status: 507, json: { code: "storage_full", title: "Insufficient storage" } });
  expect(failed.headers.get("retry-after")).toBe("10");
  expect(await kb.anyone().get("/readyz")).toMatchObject({
    status: 503,
    json: { code: "unavailable", detail: expect.stringContaining("disk is full") },
  });
  expect((await kb.anyone().get("/healthz")).status).toBe(200);
  expect((await kb.as(kb.owner).get("/api/session")).status).toBe(200);
  expect(await kb.living()).toEqual(["1", "2"]);
  await setRoom(kb, "enough");
  expect(await kb.results([long("3"), long("4")])).toEqual(["upserted", "upserted"]);
  await expect.poll(async () => (await kb.anyone().get("/readyz")).status).toBe(200);
  expect(await kb.living()).toEqual(["1", "2", "3", "4"]);
});

test("a database that is damaged while it is in use is a state that the server tells", async ({ expect }) => {
  const file = join(tempDir(), "kb.db");
  const first = await openDatabase({ file });
  await makeStore(first).workspaces.insert({
    workspaceId: "wsp_1",
    name: "A",
    timeZone: "UTC",
    createdAt: TEST_NOW,
  });
  await first.writer.request({ type: "execute", sql: "PRAGMA wal_checkpoint(TRUNCATE)", parameters: [] });
  await first.close();
  const database = await openDatabase({ file });
  const told: (string | undefined)[] = [];
  database.health.onChange((fault) => told.push(fault?.code));
  const fd = openSync(file, "r+");
  // Every page but the first, which says that it is a database.
  for (let page = 1; page < 60; page++) writeSync(fd, Buffer.alloc(8192, 0xff), 0, 8192, page * 8192);
  closeSync(fd);
  await expect(makeStore(database).workspaces.list()).rejects.toMatchObject({ code: "database_damaged", status: 503 });
  expect(await database.health.findFault()).toMatchObject({ code: "database_damaged" });
  expect(told).toEqual(["database_damaged"]);
  await database.close().catch(() => undefined);
});
