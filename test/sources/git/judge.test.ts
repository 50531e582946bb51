import { expect, test } from "vitest";
import { isItemPath } from "#sources/git-repository/judge.ts";

test("64 folders deep is a path of an item, and no deeper", () => {
  const deep = "d/".repeat(64);
  expect([isItemPath(`${deep}a.md`), isItemPath(`${deep}more/b.md`)]).toEqual([true, false]);
});
