import { sql } from "kysely";
import { expect, test } from "vitest";
import { up } from "#storage/migrations/0033-list-digests.ts";
import type { SourceAccess } from "#core/principals.ts";
import { internAll } from "../access/intern.ts";
import { makeWorld } from "../access/fixtures.ts";
import * as principalNumbers from "#storage/migrations/0037-principal-numbers.ts";
import { nameInLists } from "./earlier-lists.ts";
import { runMigration } from "./run.ts";

test("lists keep their numbers, are found again by their digests, and open to the same people", async () => {
  const world = await makeWorld();
  const workspaces = [await world.workspace(), await world.workspace("Other")];
  const { write } = world.database;
  const accesses: SourceAccess[] = Array.from({ length: 1_200 }, (_, n) => ({
    known: true,
    all: [["everyone", `user:usr_${n}`]],
  }));
  const intern = () => workspaces.map((workspaceId) => internAll(world.database, workspaceId, accesses));
  const before = intern();
  const rowsOf = async () => {
    const lists = await write.selectFrom("access_lists").selectAll().orderBy("workspaceId").orderBy("listId").execute();
    const names = await sql`select * from access_list_principals order by 1, 2, 3`.execute(write);
    return [lists, names.rows];
  };

  // As it was before: a table without digests.
  await runMigration(world.database.file, nameInLists);
  const stored = await rowsOf();
  await write.schema.dropIndex("access_lists_by_digest").execute();
  await write.schema.alterTable("access_lists").dropColumn("digest").execute();
  await runMigration(world.database.file, up);
  expect(await rowsOf()).toEqual(stored);
  await runMigration(world.database.file, principalNumbers.up);
  expect(intern()).toEqual(before);
  const { access } = world.store.in(workspaces[0] ?? "");
  expect((await access.visibleOf(before[0] ?? [], ["user:usr_7"])).size).toBe(1);
});
