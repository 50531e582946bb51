import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const docs = new URL("../../docs", import.meta.url).pathname;

interface Term {
  term: string;
  meaning: string;
  symbol: string;
  path: string;
}

/** The rows of the glossary's table; headings within it left out. */
function termsOf(page: string): Term[] {
  const rows = page.split("\n").filter((line) => /^\| (?!term\b|\*\*|-)/.test(line));
  return rows.map((row) => {
    const [term = "", meaning = "", where = ""] = row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [, symbol = "", path = ""] = /^`(\w+)` in \[[^\]]+\]\(([^)]+)\)$/.exec(where) ?? [];
    return { term, meaning, symbol, path };
  });
}

/** Why a row is wrong; undefined when its file declares its symbol. */
function faultOf({ term, symbol, path }: Term): string | undefined {
  const file = resolve(docs, path);
  if (symbol === "" || !existsSync(file)) return `${term}: no file is named`;
  const declares = new RegExp(`^export (?:async )?(?:type|interface|class|function|const) ${symbol}\\b`, "m");
  return declares.test(readFileSync(file, "utf8")) ? undefined : `${term}: ${path} declares no ${symbol}`;
}

const page = readFileSync(join(docs, "glossary.md"), "utf8");

test("every term of the glossary names a symbol that its file declares", () => {
  const terms = termsOf(page);
  expect(terms.length).toBeGreaterThanOrEqual(25);
  expect(terms.map(faultOf).filter(Boolean)).toEqual([]);
  expect(terms.filter(({ meaning }) => meaning === "" || meaning.length > 220)).toEqual([]);
  expect(new Set(terms.map(({ term }) => term)).size).toBe(terms.length);
});

test("the check sees a symbol and a file that are not there", () => {
  const wrong =
    "| a | b | `Nothing` in [common.ts](../src/api/common.ts) |\n| c | d | `Role` in [x.ts](../src/x.ts) |\n| e | f | g |";
  expect(termsOf(wrong).map(faultOf)).toEqual([
    "a: ../src/api/common.ts declares no Nothing",
    "c: no file is named",
    "e: no file is named",
  ]);
});
