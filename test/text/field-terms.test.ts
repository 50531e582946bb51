import * as fc from "fast-check";
import { describe, test } from "vitest";
import type { FieldValue } from "#api/common.ts";
import { fieldKey, fieldName, fieldTerms, termsOfPair } from "#text/field-terms.ts";

const finds = (fields: Record<string, FieldValue>, key: string, value: string) => {
  const held = new Set(fieldTerms(fields));
  return termsOfPair({ key, value }).some((term) => held.has(term));
};

describe("the name of a field", () => {
  test("is kept in letters, digits and three signs, and compared without them", ({ expect }) => {
    const names = [
      "Due date",
      " og:title ",
      "dc.creator",
      "__proto__",
      "Größe",
      "日付",
      "--",
      "a\u0000b",
      "a\nkbId: x",
    ];
    expect(names.map(fieldName)).toEqual([
      "Due_date",
      "og_title",
      "dc.creator",
      "proto",
      "Größe",
      "日付",
      "",
      "a_b",
      "a_kbId_x",
    ]);
    expect(["Due date", "due-date", "dueDate", "DUE_DATE"].map(fieldKey)).toEqual(Array(4).fill("duedate"));
  });

  test("is at most 100 characters, never half of one, and stays what it is", ({ expect }) => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 250 }), (given) => {
        const name = fieldName(given);
        expect(name.length).toBeLessThanOrEqual(100);
        expect(name).not.toMatch(/[\s:;|]|\p{Surrogate}/u);
        expect(fieldName(name)).toBe(name);
      }),
    );
  });
});

describe("the value of a field", () => {
  test("is found as text whatever its case, accents and spaces", ({ expect }) => {
    const fields = { status: "In  Prüfung", people: ["Ana Kowalska <ana@one.test>"], done: false };
    expect(finds(fields, "status", "in prufung")).toBe(true);
    expect(finds(fields, "status", "in")).toBe(false);
    for (const value of ["ana kowalska", "ana@one.test", "Ana Kowalska <ana@one.test>"])
      expect(finds(fields, "people", value)).toBe(true);
    expect([finds(fields, "done", "False"), finds(fields, "done", "true")]).toEqual([true, false]);
  });

  test("is found by value when it is a number, and as written when it is a text", ({ expect }) => {
    expect(["1.1", "1.10", "+1.1", "11e-1"].map((value) => finds({ version: 1.1 }, "version", value))).toEqual(
      Array(4).fill(true),
    );
    expect(["1.10", "1.1"].map((value) => finds({ version: "1.10" }, "version", value))).toEqual([true, false]);
  });

  test("is found by day, month and year when it is a date, as it is written", ({ expect }) => {
    const fields = {
      created: "2024-12-31T23:30:00-05:00",
      due: ["2024-03-05"],
      taken: "2024-03-05T10:00:00",
      note: "2024-03-05 or later",
    };
    for (const value of ["2024", "2024-12", "2024-12-31", "2024-12-31T23:30:00-05:00"])
      expect(finds(fields, "created", value)).toBe(true);
    expect(finds(fields, "created", "2025")).toBe(false);
    expect([finds(fields, "due", "2024-03"), finds(fields, "taken", "2024-03-05")]).toEqual([true, true]);
    expect(finds(fields, "note", "2024")).toBe(false);
  });

  test("finds itself, and makes terms that hold no end of one and stay small", ({ expect }) => {
    const text = fc.string({ unit: "binary", maxLength: 400 });
    const value = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean());
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(value, fc.array(text, { maxLength: 3 })), { maxKeys: 4 }), (fields) => {
        for (const term of fieldTerms(fields)) {
          expect(term).not.toContain("\n");
          expect(term.length).toBeLessThanOrEqual(700);
          expect(term).not.toMatch(/\p{Surrogate}/u);
        }
        for (const [key, one] of Object.entries(fields)) {
          if (typeof one === "object" || termsOfPair({ key, value: String(one) }).length === 0) continue;
          expect(finds(fields, key, String(one))).toBe(true);
        }
      }),
    );
  });
});
