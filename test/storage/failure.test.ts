import { closeSync, openSync, writeSync } from "node:fs";
import { expect, test } from "vitest";
import { explainFailure } from "#storage/failure.ts";
import { openReader, openWriter } from "#storage/sqlite.ts";
import { makeServer } from "../helpers.ts";

const PAGE_BYTES = 8_192;

test.each(["users", "sessions"])(
  "damage of %s that a read meets is told by /readyz, and the server lives",
  async (table) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const file = kb.database.file;
    const looking = openReader(file);
    const [found] = looking.execute("select rootpage from sqlite_master where name = ?", [table]).rows;
    await kb.database.writer.call("probeStorage", {});
    looking.close();
    const writing = openWriter(file, "normal");
    writing.raw.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    writing.close();
    const fd = openSync(file, "r+");
    writeSync(fd, Buffer.alloc(PAGE_BYTES, 0x41), 0, PAGE_BYTES, (Number(found?.["rootpage"]) - 1) * PAGE_BYTES);
    closeSync(fd);
    expect((await kb.as(ana).get("/api/session")).json.code).toBe("database_damaged");
    expect(await kb.anyone().get("/readyz")).toMatchObject({ status: 503 });
    expect((await kb.anyone().get("/healthz")).status).toBe(200);
  },
);

test("what the driver says in words alone is explained as by its code", () => {
  const explained = (message: string) =>
    codeOf(explainFailure(Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" })));
  expect(
    [
      "database disk image is malformed",
      "file is not a database",
      "disk I/O error",
      "database or disk is full",
      "no such table: x",
    ].map(explained),
  ).toEqual(["database_damaged", "database_damaged", "database_unusable", "storage_full", "ERR_SQLITE_ERROR"]);
});

test("a file that could not be opened because too many are open is no damage", () => {
  const failure = (systemErrno: number) =>
    Object.assign(new Error("unable to open database file"), { sqliteCode: 14, systemErrno });
  expect([24, 23, 13, 0].map((errno) => codeOf(explainFailure(failure(errno))))).toEqual([
    "resources_exhausted",
    "resources_exhausted",
    "database_unusable",
    "database_unusable",
  ]);
});

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
