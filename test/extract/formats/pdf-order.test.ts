import { expect, test } from "vitest";
import { joinItems } from "#extract/pdf/page-text.ts";

type Items = Parameters<typeof joinItems>[0];

/** Pieces of one line: text, where it begins, how wide it is. */
function line(pieces: readonly (readonly [str: string, x: number, width: number])[], dir = "rtl"): Items {
  return pieces.map(([str, x, width], i) => ({
    str,
    dir: str.trim() === "" ? "ltr" : dir,
    width,
    height: 12,
    transform: [12, 0, 0, 12, x, 700],
    fontName: "f",
    hasEOL: i === pieces.length - 1,
  }));
}

test("letters of a right-to-left line that stand from left to right are read from the right, as letters", () => {
  // في تم: each glyph by itself, in its shape, words 4 apart.
  const items = line([
    ["\ufee2", 10, 8],
    ["\ufe97", 18, 4],
    ["\ufef2", 30, 9],
    ["\ufed3", 39, 5],
  ]);
  expect(joinItems(items)).toBe("في تم");
});

test("words that come in their order stay so, with what stands between them", () => {
  const items = line([
    ["שלום", 60, 30],
    [" ", 56, 4],
    ["עולם", 20, 36],
  ]);
  expect(joinItems(items)).toBe("שלום עולם");
});

test.each([
  ["S P A C E D H E A D I N G", "SPACEDHEADING"],
  ["Ü b e r s i c h t", "Übersicht"],
  ["A B C D E F", "A B C D E F"],
  ["I am a b c man", "I am a b c man"],
  ["x y z w", "x y z w"],
  ["Plan B C D E G of it", "Plan B C D E G of it"],
])("%s is read as %s", (found, read) => {
  expect(joinItems(line([[found, 10, 100]], "ltr"))).toBe(read);
});

/** Lines of two columns as a program writes them that goes from line to line. */
function columns(rows: readonly (readonly [left: string, right: string])[]): Items {
  return rows.flatMap(([left, right], i) =>
    line(
      [
        [left, 60, left.length * 5],
        [" ", 60 + left.length * 5, 20],
        [right, 320, right.length * 5],
      ],
      "ltr",
    )
      .filter((item) => !("str" in item) || item.str !== "")
      .map((item) => ("str" in item ? { ...item, transform: [12, 0, 0, 12, item.transform[4], 700 - 14 * i] } : item)),
  );
}

test("columns of running text that alternate line by line are read one after the other", () => {
  const read = joinItems(
    columns([
      ["The first column tells of the", "Meanwhile the second one is"],
      ["history of the village where", "about microscopes and how to"],
      ["people lived for cen-", "make them of glass, brass and"],
      ["turies and baked bread", "patience of workers."],
      ["of rye.", ""],
    ]),
  );
  expect(read).toBe(
    "The first column tells of the\nhistory of the village where\npeople lived for cen-\u00adturies\nand baked bread\nof rye.\nMeanwhile the second one is\nabout microscopes and how to\nmake them of glass, brass and\npatience of workers.",
  );
});

test("the rows of a table stay rows", () => {
  const rows: [string, string][] = [
    ["Annual fee for all members", "Paid in January by transfer"],
    ["Monthly fee for new members", "Paid at once in the office"],
    ["Fee for guests and friends", "Paid in cash on the day"],
    ["Reduced fee for students", "Paid with proof of studies"],
    ["No fee for helpers", "Asked for by the board"],
  ];
  expect(joinItems(columns(rows))).toBe(rows.map((row) => row.join(" ")).join("\n"));
});
