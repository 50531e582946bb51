import { expect, test } from "vitest";
import { makeVisibleCache } from "#storage/access/visible.ts";
import { up } from "#storage/migrations/0037-principal-numbers.ts";
import type { SourceAccess } from "#core/principals.ts";
import { makeWorld } from "../access/fixtures.ts";
import { internAll } from "../access/intern.ts";
import { nameInLists } from "./earlier-lists.ts";
import { runMigration } from "./run.ts";

test("lists open to the same people, in each workspace, and new ones get numbers of their own", async () => {
  const world = await makeWorld();
  const { file, write } = world.database;
  const workspaces = [await world.workspace(), await world.workspace("Other")];
  const accesses = (from: number): SourceAccess[] =>
    Array.from({ length: 300 }, (_, n) => ({
      known: true,
      all: [
        [`user:usr_${(from + n) % 40}`, `group:g_${(from + n) % 7}`],
        [`user:usr_${(from + n) % 11}`, "workspace"],
      ],
    }));
  const aclIds = workspaces.map((workspaceId, i) => internAll(world.database, workspaceId, accesses(i * 3)));
  const people = [["user:usr_1"], ["user:usr_1", "group:g_2"], ["group:g_2", "workspace"], ["everyone"], []];
  const answers = async () => {
    const all: unknown[] = [];
    for (const [i, workspaceId] of workspaces.entries()) {
      const { access } = world.store.in(workspaceId);
      for (const principals of people) {
        const visible = await makeVisibleCache().of(access, principals);
        const opened = new Set((aclIds[i] ?? []).filter((aclId) => visible.has(aclId)));
        // The records know without numbers.
        expect(opened).toEqual(await access.visibleOf(aclIds[i] ?? [], principals));
        all.push([...opened]);
      }
    }
    return all;
  };
  const before = await answers();
  expect(before.filter((opened) => Array.isArray(opened) && opened.length > 0)).toHaveLength(5);

  await runMigration(file, nameInLists);
  await runMigration(file, up);
  expect(await answers()).toEqual(before);
  for (const [i, workspaceId] of workspaces.entries()) {
    aclIds[i]?.push(...internAll(world.database, workspaceId, [...accesses(i * 3), ...accesses(100)]));
  }
  await answers();
  const rows = await write.selectFrom("access_principals").selectAll().execute();
  expect(new Set(rows.map((row) => row.principalNo)).size).toBe(rows.length);
});
