import { DatabaseSync } from "@photostructure/sqlite";
import type { Kysely, Migration } from "kysely";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { checkDatabase } from "#server/check.ts";
import { openDatabase } from "#storage/database/db.ts";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { migrate } from "#storage/database/migrate.ts";
import { openWriter, type SqliteConnection } from "#storage/sqlite.ts";
import { tempDir } from "../../temp-dir.ts";
import { schemaOf } from "./schema-of.ts";

/** A small database that the last program before the base has left: its tables as 51 migrations made them, and its rows. */
const FORMER = readFileSync(new URL("former.sql", import.meta.url), "utf8");
const BASE = ["0001-base"];

/** A migration that adds a column. */
const LATER: Record<string, Migration> = {
  "0002-later": { up: (db: Kysely<unknown>) => db.schema.alterTable("groups").addColumn("later", "text").execute() },
};

function makeFile(sql = ""): string {
  const file = join(tempDir(), "kb.db");
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  return file;
}

function open(file: string): SqliteConnection {
  const connection = openWriter(file, "normal");
  onTestFinished(() => connection.close());
  return connection;
}

async function makeNew(migrations?: Record<string, Migration>): Promise<SqliteConnection> {
  const connection = open(makeFile());
  await migrate(connection, migrations);
  return connection;
}

const namesIn = (connection: SqliteConnection) =>
  connection.execute("select name from kysely_migration order by name", []).rows.map(({ name }) => name);

/** A digest of each table's rows, but those of Kysely's. */
function rowsIn(connection: SqliteConnection): Record<string, string> {
  const tables = Object.keys(schemaOf(connection.raw));
  return Object.fromEntries(
    tables.map((table) => {
      const { rows } = connection.execute(`select * from "${table}"`, []);
      const bytes = JSON.stringify(rows, (_key, value) => (value instanceof Uint8Array ? [...value] : value));
      return [table, `${rows.length} ${createHash("sha256").update(bytes).digest("hex")}`];
    }),
  );
}

/** The file's bytes once nothing has it open. */
const bytesOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

describe("a new database", () => {
  test("has the tables, columns, keys, defaults, references and indexes that the migrations before made", async ({
    expect,
  }) => {
    // With the migrations since.
    const former = open(makeFile(FORMER));
    await migrate(former);
    const made = schemaOf((await makeNew()).raw);
    const then = schemaOf(former.raw);
    expect(Object.keys(made)).toEqual(Object.keys(then));
    // One rule is stricter: the last migrations added the column to rows that had none, and gave each one.
    const ownedSince = then["connectors"]?.columns.indexOf("ownedSince integer") ?? -1;
    then["connectors"]?.columns.splice(ownedSince, 1, "ownedSince integer not null");
    expect(made).toEqual(then);
    expect(Object.keys(made).length).toBeGreaterThan(70);
  });

  test("begins with the rows that the migrations before made", async ({ expect }) => {
    const connection = await makeNew({});
    const rows = Object.entries(rowsIn(connection)).filter(([, digest]) => !digest.startsWith("0 "));
    expect(rows.map(([table]) => table)).toEqual(["access_numbers"]);
    expect(connection.execute("select * from access_numbers", []).rows).toEqual([{ nextPrincipalNo: 1 }]);
    expect(namesIn(connection)).toEqual(BASE);
  });

  test("takes later migrations for done, as its tables are described with them", async ({ expect }) => {
    const connection = await makeNew(LATER);
    expect(namesIn(connection)).toEqual([...BASE, "0002-later"]);
    expect(schemaOf(connection.raw)).toEqual(schemaOf((await makeNew({})).raw));
  });

  test("is whole or not there", async ({ expect }) => {
    const connection = open(makeFile("create table groups (name text)"));
    connection.execute("create table kysely_migration (name text, timestamp text)", []);
    await expect(migrate(connection)).rejects.toMatchObject({ code: "schema_too_old" });
    connection.execute("drop table groups", []);
    // A view takes the name of one of the last tables.
    connection.execute("create view event_marks as select 1", []);
    await expect(migrate(connection)).rejects.toThrow("event_marks");
    expect(schemaOf(connection.raw)).toEqual({});
    connection.execute("drop view event_marks", []);
    await migrate(connection, {});
    expect(namesIn(connection)).toEqual(BASE);
  });
});

describe("a database of before the base", () => {
  test("goes on with the same rows: only its table of migrations is written", async ({ expect }) => {
    const connection = open(makeFile(FORMER));
    const [schema, rows] = [schemaOf(connection.raw), rowsIn(connection)];
    expect(namesIn(connection)).toHaveLength(51);
    await migrate(connection, {});
    expect(namesIn(connection)).toEqual(BASE);
    expect([schemaOf(connection.raw), rowsIn(connection)]).toEqual([schema, rows]);
  });

  test("is found to be intact, and its items are found", async ({ expect }) => {
    const file = makeFile(FORMER);
    await (await openDatabase({ file })).close();
    const options = { isFull: true, signal: new AbortController().signal, onProgress: () => undefined };
    expect(await checkDatabase(file, options)).toMatchObject({ isIntact: true, items: 4, rebuilding: 0, findings: [] });
    const connection = open(file);
    const workspaceId = String(connection.execute("select workspaceId from workspaces", []).rows[0]?.["workspaceId"]);
    const pool = makeSearchPool({ file, size: 0 });
    const { rows } = connection.execute("select principal from access_principals", []);
    const viewer = { principals: rows.map(({ principal }) => String(principal)), epoch: 1 };
    const request = { workspaceId, viewer, query: "lighthouse", filters: {}, order: "relevance", limit: 9 } as const;
    expect((await pool.search(request)).total).toBe(2);
    await pool.close();
  });

  test("gets the migrations that come after the base", async ({ expect }) => {
    const connection = open(makeFile(FORMER));
    await migrate(connection, LATER);
    expect(namesIn(connection)).toEqual([...BASE, "0002-later"]);
    expect(schemaOf(connection.raw)["groups"]?.columns).toContain("later text");
  });

  test("is as it was when one of them fails, and goes on when it is started again", async ({ expect }) => {
    const file = makeFile(FORMER);
    const connection = open(file);
    const before = [namesIn(connection), schemaOf(connection.raw), rowsIn(connection)];
    const fails = { ...LATER, "0003-fails": { up: () => Promise.reject(new Error("full")) } };
    await expect(migrate(connection, fails)).rejects.toThrow("full");
    expect([namesIn(connection), schemaOf(connection.raw), rowsIn(connection)]).toEqual(before);
    await migrate(connection, {});
    expect(namesIn(connection)).toEqual(BASE);
  });

  test.for([
    ["an earlier one", "delete from kysely_migration where name = '0057-own-callbacks'", "0056-former-owners"],
    ["one that another branch changed", "insert into kysely_migration values ('0058-other', '')", "0058-other"],
    ["one whose first migration was not finished", "delete from kysely_migration", "none"],
  ])("is refused and left as it is: %s", async ([, change, last], { expect }) => {
    const file = makeFile(`${FORMER};${change}`);
    // SQLite notes in the file that it has a log.
    openWriter(file, "normal").close();
    const before = bytesOf(file);
    const refused = await openDatabase({ file }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "schema_too_old",
      message: expect.stringMatching(new RegExp(`last migration is ${last}\\)\\. Start the kb of commit [\\da-f]{8} `)),
    });
    expect(bytesOf(file)).toBe(before);
  });
});
