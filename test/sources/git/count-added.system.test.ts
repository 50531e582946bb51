import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRepository } from "./fixture.ts";

const EVERYTHING = { include: [], exclude: [] };

async function makeFiles() {
  const repository = makeRepository();
  for (const path of ["README.md", "docs/a.md", "docs/deep/b.md", "src/c.ts", "out/d.o", "docs/.env"])
    repository.write(path);
  repository.write(".kbignore", "/out\n");
  repository.commit();
  const count = (from: object, to: object) =>
    repository.source.countAdded?.(repository.context(), {
      from: { ...EVERYTHING, ...from },
      to: { ...EVERYTHING, ...to },
    });
  return { ...repository, count };
}

test("a wider scope adds the files that a run takes, without what is ignored or secret", async () => {
  const { count, base } = await makeFiles();
  expect(await count({ exclude: ["docs/"] }, {})).toEqual({ items: 2, calls: 1 });
  expect(await count({ include: ["docs/"] }, { include: ["docs/", "src/"] })).toEqual({ items: 1, calls: 1 });
  expect(await count({ include: ["src/"] }, {})).toEqual({ items: 4, calls: 1 });
  expect(await count({}, { exclude: ["docs/"] })).toEqual({ items: 0, calls: 1 });
  // Nothing of the look stays.
  expect(readdirSync(join(base, "data", "git")).filter((name) => name.startsWith("con_browse"))).toEqual([]);
});

test("an empty repository adds nothing", async () => {
  const { source, context } = makeRepository();
  expect(await source.countAdded?.(context(), { from: { include: ["a"], exclude: [] }, to: EVERYTHING })).toEqual({
    items: 0,
    calls: 1,
  });
});
