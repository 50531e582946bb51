import { test } from "vitest";
import { defined } from "#core/defined.ts";

test("a key without a value is absent; null, false, 0 and an empty text are values", ({ expect }) => {
  const record = { a: undefined, b: null, c: false, d: 0, e: "", f: "x" };
  expect(Object.keys({ id: 1, ...defined(record) })).toEqual(["id", "b", "c", "d", "e", "f"]);
});
