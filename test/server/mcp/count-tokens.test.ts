import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { makeWordCounter } from "#server/mcp/count-tokens.ts";
import { parseTokenTable, readTokenTable } from "#server/mcp/token-table.ts";
import { hostileText } from "../../api/hostile-text.ts";

const count = makeWordCounter(readTokenTable());
const countByPackage = (text: string) => countTokens(text, { disallowedSpecial: new Set() });

describe("counting the tokens of o200k", () => {
  test.each([
    ["", 0],
    ["hello world", 2],
    ["<|endoftext|>", 7],
    ["日本語の議事録を読む", countByPackage("日本語の議事録を読む")],
    ["👩‍🚀🏳️‍🌈 é é", countByPackage("👩‍🚀🏳️‍🌈 é é")],
    ["a\n\n \t b\r\n   c  ", countByPackage("a\n\n \t b\r\n   c  ")],
    ["\ud800 and \udc00", countByPackage("\ud800 and \udc00")],
  ])("counts %j as the package does", (text, expected) => {
    expect(count(text)).toBe(expected);
  });

  test("counts long words, pages and texts of any script as the package does", () => {
    const page = readFileSync(new URL("../../../CONTRIBUTING.md", import.meta.url), "utf8");
    expect(count(page)).toBe(countByPackage(page));
    // More bytes than it keeps room for at first.
    const word = "ÄÖÜ日本".repeat(300);
    expect(count(word)).toBe(countByPackage(word));
    // The package loses a byte order mark when it looks for a token, so it counts one too many.
    const text = fc.oneof(hostileText, fc.string({ unit: "grapheme", maxLength: 80 }), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(
        text.filter((one) => !one.includes("\ufeff")),
        (one) => {
          expect(count(one)).toBe(countByPackage(one));
        },
      ),
    );
  });
});

describe("the table of tokens", () => {
  test("knows each token by its bytes, and no part of one", () => {
    const table = parseTokenTable(Buffer.from("IQ== 0\n4pyT 1\nISE= 2\n"));
    const bytes = Buffer.from("!!✓");
    expect(table.rankOf(bytes, 0, 1)).toBe(0);
    expect(table.rankOf(bytes, 0, 2)).toBe(2);
    expect(table.rankOf(bytes, 2, 5)).toBe(1);
    expect(table.rankOf(bytes, 2, 4)).toBe(2 ** 32 - 1);
  });

  test("refuses a file whose numbers are not those of its lines", () => {
    expect(() => parseTokenTable(Buffer.from("IQ== 0\nIg== 2\n"))).toThrow("Token 1 has the number 2.");
  });
});
