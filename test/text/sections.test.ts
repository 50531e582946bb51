import { describe, expect, test } from "vitest";
import { findSection, lineOfFragment, placeAt, stretchOf, type SectionMark } from "#text/sections.ts";

const MANUAL: SectionMark[] = [
  { name: "Guide", level: 1, start: 10, anchor: "guide" },
  { name: "Install", level: 2, start: 100, anchor: "install" },
  { name: "Linux", level: 3, start: 200 },
  { name: "Packages", level: 4, start: 250 },
  { name: "macOS", level: 3, start: 300 },
  { name: "Use", level: 2, start: 400 },
  { name: "Linux", level: 3, start: 450 },
];
const DECK: SectionMark[] = [
  { name: "Slide 1: Aims", level: 1, start: 0, kind: "slide", ref: "1" },
  { name: "Slide 2: Plan", level: 1, start: 90, kind: "slide", ref: "2" },
];

describe("sections", () => {
  test.each([
    [0, undefined],
    [10, "Guide"],
    [199, "Guide › Install"],
    [200, "Guide › Install › Linux"],
    [299, "Install › Linux › Packages"],
    [350, "Guide › Install › macOS"],
    [999, "Guide › Use › Linux"],
  ])("at %i one is in %s", (at, path) => expect(placeAt(MANUAL, at)?.path).toBe(path));

  test.each([
    ["install", 100, 400],
    ["LINUX ", 200, 300],
    ["Guide › Use › Linux", 450, 500],
    ["Use", 400, 500],
    ["Guide", 10, 500],
  ])("%s is a stretch of the text", (asked, start, end) => {
    const section = findSection(MANUAL, asked);
    expect(section && stretchOf(MANUAL, section, 500)).toEqual({ start, end });
  });

  test.each(["slide=2", "Slide 2", "2", "Slide 2: Plan"])("%s is the second slide", (asked) =>
    expect(findSection(DECK, asked)).toBe(DECK[1]),
  );

  test("what no section is called is none", () => {
    for (const asked of ["", "windows", "slide 3", "page="]) expect(findSection(DECK, asked)).toBeUndefined();
  });

  test.each([
    ["L10", 10],
    ["L10-L20", 10],
    ["lines-7", 7],
    ["l12", 12],
    ["line 88", 88],
    ["Linux", undefined],
    ["L", undefined],
  ])("the fragment %s names line %s", (fragment, line) => expect(lineOfFragment(fragment)).toBe(line));
});
