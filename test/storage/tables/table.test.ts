import * as fc from "fast-check";
import { describe, expectTypeOf, test } from "vitest";
import { type RecordOf, table, words } from "#storage/tables/table.ts";

const { text, integer, real, bytes, instant, flag, json, oneOf, nullable, hidden, withDefault } = words;

const THINGS = table("things", ["workspaceId", "thingId"], {
  thingId: text,
  count: integer,
  share: real,
  digest: bytes,
  madeAt: instant,
  endedAt: nullable(instant),
  isOpen: flag,
  isKnown: nullable(flag),
  data: nullable(json<unknown>()),
  scopes: words.words(["read", "write", "admin"]),
  state: withDefault(oneOf(["new", "old"]), "new"),
  hash: hidden(text),
});

const SCOPES = ["read", "write", "admin"] as const;
const A_THING = {
  thingId: fc.string(),
  count: fc.maxSafeInteger(),
  share: fc.double({ noNaN: true }),
  digest: fc.uint8Array(),
  madeAt: fc.maxSafeInteger(),
  endedAt: fc.option(fc.maxSafeInteger()),
  isOpen: fc.boolean(),
  isKnown: fc.option(fc.boolean()),
  data: fc.option(fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value)))),
  scopes: fc.subarray([...SCOPES]),
  state: fc.constantFrom("new" as const, "old" as const),
};

describe("a table", () => {
  test("reads back each record as it was written", ({ expect }) => {
    fc.assert(
      fc.property(fc.record(A_THING), (thing) => {
        const stored = THINGS.write({ ...thing, hash: "h" });
        expect(THINGS.read(stored)).toEqual(thing);
      }),
    );
  });

  test("stores what both databases have: no boolean, list or object", ({ expect }) => {
    fc.assert(
      fc.property(fc.record(A_THING), (thing) => {
        for (const value of Object.values(THINGS.write(thing))) {
          const isPlain = value === null || value instanceof Uint8Array || ["string", "number"].includes(typeof value);
          expect(isPlain).toBe(true);
        }
      }),
    );
  });

  test("keeps null and leaves undefined out, on the way in and out", ({ expect }) => {
    expect(THINGS.write({ endedAt: null, isKnown: null, data: null, count: undefined })).toEqual({
      endedAt: null,
      isKnown: null,
      data: null,
    });
    // A table that was joined in from the left has null in every column.
    expect(THINGS.read({ isOpen: null, scopes: null, state: null })).toEqual({
      isOpen: null,
      scopes: null,
      state: null,
    });
  });

  test("reads the columns that a row has, and none that is hidden or of another table", ({ expect }) => {
    const row = { isOpen: 1, scopes: "", hash: "secret", email: "ana@one.test" };
    expect(THINGS.read(row)).toEqual({ isOpen: true, scopes: [] });
  });

  test("refuses a word that it does not know, and names it", ({ expect }) => {
    expect(() => THINGS.read({ state: "lost" })).toThrow('"lost" is stored in place of one of new, old.');
    expect(() => THINGS.read({ scopes: "read everything" })).toThrow('"everything"');
  });

  test("types a record by its columns", () => {
    type Thing = RecordOf<typeof THINGS>;
    expectTypeOf<Thing["state"]>().toEqualTypeOf<"new" | "old">();
    expectTypeOf<Thing["endedAt"]>().toEqualTypeOf<number | null>();
    expectTypeOf<Thing["isOpen"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Thing>().not.toHaveProperty("hash");
  });
});
