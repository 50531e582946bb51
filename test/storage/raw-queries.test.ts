import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { measure } from "../../scripts/size/measure.ts";
import { unexplainedQueries } from "../../scripts/size/raw-queries.ts";

const root = new URL("../..", import.meta.url).pathname;
const TABLE = measure(
  "src/storage/tables/things.ts",
  `export const THINGS = table("things", ["workspaceId", "thingId"], { thingId: text });`,
);

describe("a query of a workspace's table", () => {
  test("is begun by inWorkspace, or says why not", ({ expect }) => {
    const paths = readdirSync(join(root, "src/storage"), { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".ts"),
    );
    const files = paths.map((path) =>
      measure(`src/storage/${path}`, readFileSync(join(root, "src/storage", path), "utf8")),
    );
    expect(files.length).toBeGreaterThan(100);
    expect(unexplainedQueries(files)).toEqual([]);
  });

  test.for([
    [`await sql.read.selectFrom("things").selectAll().execute();`, ["a.ts:1 things"]],
    [`await sql.read.selectFrom("things as t").selectAll().execute();`, ["a.ts:1 things"]],
    [`await sql.write\n  .deleteFrom("things")\n  .execute();`, ["a.ts:2 things"]],
    [`const find = (read) => read.insertInto("things").values(thing);`, ["a.ts:1 things"]],
    [`const things = acrossWorkspaces(sql, THINGS);`, ["a.ts:1 things"]],
    // It says why, or what it is in does.
    [`// Raw: across workspaces.\nawait sql.read.selectFrom("things").execute();`, []],
    [`/** Raw: across workspaces. */\nfunction make() {\n  return { a: () => sql.read.selectFrom("things") };\n}`, []],
    [`// Raw: across workspaces.\nconst things = acrossWorkspaces(sql, THINGS);`, []],
    // Of no workspace, or inside of another query.
    [`await sql.read.selectFrom("users").execute();`, []],
    [`things.select().where((eb) => eb.exists(eb.selectFrom("things as o")));`, []],
  ] as const)("is found in %j", ([text, found], { expect }) => {
    expect(unexplainedQueries([TABLE, measure("a.ts", text)])).toEqual(found);
  });
});
