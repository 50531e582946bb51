import * as fc from "fast-check";
import { test } from "vitest";
import { findJsonFault } from "#core/json-bounds.ts";

const bounds = { maxDepth: 3, maxMembers: 5 };

test("what nests or lists too much is told apart from what may be parsed", ({ expect }) => {
  const found = (text: string) => findJsonFault(text, bounds);
  expect([found("[[[1]]]"), found("[[[[1]]]]"), found('{"a":[{"b":1}]}'), found('{"a":[{"b":[1]}]}')]).toEqual([
    undefined,
    "depth",
    undefined,
    "depth",
  ]);
  expect([found("[1,2,3,4,5,6]"), found("[1,2,3,4,5,6,7]"), found('{"a":1,"b":2,"c":3}')]).toEqual([
    undefined,
    "members",
    undefined,
  ]);
  // Brackets and commas inside text are text, an escaped quote included.
  expect(found(String.raw`["[[[[{{{{,,,,,,,,\"[[[[,,,,,,,,","\\"]`)).toBeUndefined();
  expect(found('"[[[[[[')).toBeUndefined();
});

test("of any value, the depth and the members are those of the value itself", ({ expect }) => {
  const measure = (value: unknown): { depth: number; members: number } => {
    if (typeof value !== "object" || value === null) return { depth: 0, members: 0 };
    const entries = Object.values(value).map(measure);
    const inside = entries.reduce((sum, one) => sum + one.members, 0);
    // A list has a comma between two entries, an object a colon in each.
    const own = Math.max(0, entries.length - 1) + (Array.isArray(value) ? 0 : entries.length);
    return { depth: 1 + Math.max(0, ...entries.map((one) => one.depth)), members: inside + own };
  };
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, isPretty) => {
      const text = JSON.stringify(value, undefined, isPretty ? 2 : 0);
      const { depth: maxDepth, members: maxMembers } = measure(JSON.parse(text));
      expect(findJsonFault(text, { maxDepth, maxMembers })).toBeUndefined();
      if (maxDepth > 0) expect(findJsonFault(text, { maxDepth: maxDepth - 1, maxMembers })).toBe("depth");
      if (maxMembers > 0) expect(findJsonFault(text, { maxDepth, maxMembers: maxMembers - 1 })).toBe("members");
    }),
  );
});
