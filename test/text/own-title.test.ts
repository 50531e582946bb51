import { expect, test } from "vitest";
import { ownTitle } from "#text/own-title.ts";

test("what programs write where nobody gave a title is none", () => {
  const nothing = ["", "  ", "--", "Untitled", "untitled-2", "Document1", "PowerPoint Presentation", "(no subject)"];
  for (const stated of [undefined, ...nothing, "Microsoft Word - plan.doc", "plan.doc"]) {
    expect([stated, ownTitle(stated, "plan.doc")]).toEqual([stated, undefined]);
  }
});

test("a title is one line of at most 300 characters", () => {
  expect(ownTitle(" Plan\n for  March ", "a.md")).toBe("Plan for March");
  const long = ownTitle("word ".repeat(200), "a.md") ?? "";
  expect([long.length <= 300, long.endsWith("word…")]).toEqual([true, true]);
});
