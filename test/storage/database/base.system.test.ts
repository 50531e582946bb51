/** The tables in PostgreSQL: not run where its programs aren't. */
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { spawnSync } from "node:child_process";
import { chownSync, existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { createBase } from "#storage/database/base.ts";
import { migrate } from "#storage/database/migrate.ts";
import { openWriter } from "#storage/sqlite.ts";
import { tempDir } from "../../temp-dir.ts";
import { schemaOf } from "./schema-of.ts";

const BIN = process.env["KB_TEST_POSTGRES"] ?? "/usr/lib/postgresql/15/bin";
/** It refuses to run as root: then it runs as nobody. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

function run(program: string, args: readonly string[], input = ""): string {
  const options = { ...USER, input, encoding: "utf8", env: { LC_ALL: "C", PATH: BIN } } as const;
  const { status, stdout, stderr } = spawnSync(join(BIN, program), args, options);
  // The server goes on after a statement that fails.
  if (status !== 0 || /\b(?:ERROR|FATAL|PANIC):/.test(stderr)) throw new Error(stderr);
  return stdout;
}

/** A cluster that statements are run in by one process, each on its line. */
function makeCluster(): (statements: readonly string[]) => string {
  const data = join(tempDir(), "cluster");
  if (USER.uid !== undefined) chownSync(join(data, ".."), USER.uid, USER.gid);
  run("initdb", ["-D", data, "-U", "kb", "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync"]);
  return (statements) =>
    run("postgres", ["--single", "-F", "-D", data, "postgres"], `${statements.map(oneLine).join("\n")}\n`);
}

const oneLine = (statement: string) => statement.replace(/\s+/g, " ");

async function statementsForPostgres(): Promise<string[]> {
  const statements: string[] = [];
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (own) => new PostgresIntrospector(own),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql),
  });
  await createBase(db, "postgres");
  return statements;
}

/** Tables, with columns in order, references, and indexes that have a name of their own. */
const SHAPE = `select json_object_agg(c.relname, json_build_object(
    'columns', (select json_agg(a.attname || case when a.attnotnull then ' not null' else '' end order by a.attnum)
      from pg_attribute a where a.attrelid = c.oid and a.attnum > 0),
    'key', (select k.conkey is not null from pg_constraint k where k.conrelid = c.oid and k.contype = 'p'),
    'references', (select count(*) from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'),
    'indexes', (select coalesce(json_agg(i.relname order by i.relname), '[]') from pg_index x
      join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid and not x.indisunique)
  )) as shape
  from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`;

test("the same descriptions make the same tables in PostgreSQL", async ({ expect, skip }) => {
  skip(!existsSync(join(BIN, "initdb")), `not run: no PostgreSQL in ${BIN}; KB_TEST_POSTGRES names another folder`);
  const ask = makeCluster();
  ask(await statementsForPostgres());
  const shape = JSON.parse(/shape = "(.*)"\t\(typeid/s.exec(ask([SHAPE]))?.[1] ?? "{}");

  const connection = openWriter(join(tempDir(), "kb.db"), "normal");
  await migrate(connection);
  const countReferences = (table: string) =>
    connection.execute("select count(distinct id) as n from pragma_foreign_key_list(?)", [table]).rows[0]?.["n"];
  const expected = Object.entries(schemaOf(connection.raw)).map(([table, { columns, key, indexes }]) => [
    table,
    {
      columns: columns.map((column) => `${column.split(" ")[0]}${column.includes(" not null") ? " not null" : ""}`),
      key: key.length > 0 || null,
      references: countReferences(table),
      indexes: indexes.flatMap((index) => /^(?!unique )\w+/.exec(index)?.[0] ?? []).toSorted(),
    },
  ]);
  expect(shape).toEqual(Object.fromEntries(expected));
  connection.close();
});
