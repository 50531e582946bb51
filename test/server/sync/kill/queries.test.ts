import { test } from "vitest";
import { firstDifference, type Answer } from "./queries.ts";

const answer = (hits: [string, number][], more: Partial<Answer> = {}): Answer => ({
  total: hits.length,
  totalAll: hits.length,
  isTotalExact: true,
  match: "all",
  isWhole: true,
  hits: hits.map(([externalId, value]) => ({ externalId, group: 1, value })),
  ...more,
});

test("hits of one value may stand in any order, others may not", ({ expect }) => {
  const wanted = answer([
    ["a", 3],
    ["b", 2],
    ["c", 2 + 1e-12],
  ]);
  expect(
    firstDifference(
      [wanted],
      [
        answer([
          ["a", 3],
          ["c", 2],
          ["b", 2],
        ]),
      ],
    ),
  ).toBeUndefined();
  expect(
    firstDifference(
      [wanted],
      [
        answer([
          ["b", 3],
          ["a", 2],
          ["c", 2],
        ]),
      ],
    ),
  ).toContain("hits 1 to 1 are b instead of a");
});

test("another value, total, id or number of hits is a difference", ({ expect }) => {
  const wanted = answer([["a", 3]]);
  expect(firstDifference([wanted], [answer([["a", 3 + 1e-8]])])).toContain("hit 1 is worth");
  expect(firstDifference([wanted], [answer([["b", 3]])])).toContain("b instead of a");
  expect(firstDifference([wanted], [answer([["a", 3]], { total: 2 })])).toContain("total is 2 instead of 1");
  expect(firstDifference([wanted], [answer([])])).toContain("instead of");
  expect(firstDifference([wanted], [])).toContain("0 answers instead of 1");
});

test("of the hits of one value that are cut off only the values count", ({ expect }) => {
  const wanted = answer(
    [
      ["a", 3],
      ["b", 2],
    ],
    { isWhole: false },
  );
  expect(
    firstDifference(
      [wanted],
      [
        answer(
          [
            ["a", 3],
            ["c", 2],
          ],
          { isWhole: false },
        ),
      ],
    ),
  ).toBeUndefined();
  expect(
    firstDifference(
      [wanted],
      [
        answer(
          [
            ["c", 3],
            ["b", 2],
          ],
          { isWhole: false },
        ),
      ],
    ),
  ).toContain("hits 1 to 1");
});
