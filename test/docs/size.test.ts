import { expect, test } from "vitest";
import { BOUNDS, compareWithBounds } from "../../scripts/size/bounds.ts";
import { measure } from "../../scripts/size/measure.ts";
import { structureOf } from "../../scripts/size/structure.ts";

const CODE = `/** What it is. Source: RFC 1. */
export interface Service { read(id: string): string; write(id: string): void }
/** Nobody else. */
export function makeService(): Service { return {} as Service; }
`;

test("denser lines and dropped comments are as many nodes, and each comment is counted once", () => {
  const whole = measure("src/a/a.ts", CODE);
  const dense = measure("src/a/a.ts", CODE.replaceAll(/\/\*\*.*?\*\/\n/g, "").replaceAll("\n", " "));
  expect(dense.nodes).toBe(whole.nodes);
  expect([whole.comments.length, whole.commentWords, dense.commentWords]).toEqual([2, 8, 0]);
});

test("each figure counts what it is of", () => {
  const files = [
    measure("src/a/a.ts", CODE),
    measure(
      "src/b/b.ts",
      `import { makeService } from "../a/a.ts";\nexport const b = (db: any) => db.selectFrom("x").where("x.workspaceId", "=", 1);\n`,
    ),
    measure("src/a/c.ts", `import { b } from "#b/b.ts";\nexport const c = b;\n`),
  ];
  const figures = Object.fromEntries(structureOf(files));
  expect(figures).toMatchObject({
    "pairs of folders that import each other, through others too": 1,
    "circles of files": 0,
    "interfaces of methods with one implementation": 1,
    "queries of a table outside storage": 1,
    "clauses that name the workspace by hand": 1,
    casts: 1,
    "comments that begin with a What clause": 1,
    "comments with nobody or somebody": 1,
    "comments with a Source:": 1,
    "exported functions with one user": 1,
    "files under 30 lines with one importer": 2,
  });
});

test("a figure above its bound fails, one below it says so, and every bound is of a figure that is counted", () => {
  const bounds = { casts: 3, "circles of files": 0, "retired words": 1 };
  const { above, below } = compareWithBounds(
    [
      ["casts", 4],
      ["circles of files", 0],
      ["retired words", 0],
    ],
    bounds,
  );
  expect(above).toEqual([expect.stringMatching(/^casts: 4, and its bound is 3\. /)]);
  expect(below).toEqual(["retired words: 0. Lower its bound of 1 in scripts/size/bounds.ts."]);
  expect(compareWithBounds([], bounds).above).toHaveLength(3);
  const counted = structureOf([measure("src/a/a.ts", CODE)]).map(([name]) => name);
  expect(Object.keys(BOUNDS).filter((name) => !counted.includes(name))).toEqual([]);
});
