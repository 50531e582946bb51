import { readFileSync } from "node:fs";
import { describe, test } from "vitest";
import { textOf } from "../documents.ts";

describe("CSV and TSV", () => {
  test.for([
    ["a.csv", 'Name,City\nAna,"Rome, Italy"\nBo,"two\nlines | bar"\n'],
    ["a.csv", '\ufeffName;City\r\nAna;"Rome, Italy"\r\nBo;"two\r\nlines | bar"\r\n'],
    ["a.tsv", 'Name\tCity\nAna\tRome, Italy\nBo\t"two\nlines | bar"\n'],
  ] as const)("rows become a table, whatever the delimiter: %s", async ([name, source], { expect }) => {
    const result = await textOf(name, source);
    expect(result.text).toBe("| Name | City |\n| --- | --- |\n| Ana | Rome, Italy |\n| Bo | two lines \\| bar |\n");
    expect(result.properties).toEqual({ rows: "2", columns: "2" });
    expect(result.sections).toEqual([]);
  });

  test("the header comes again every 50 rows, each stretch a section", async ({ expect }) => {
    const result = await textOf("a.csv", `id,name\n${Array.from({ length: 120 }, (_, i) => `${i},n${i}\n`).join("")}`);
    expect(result.sections.map((section) => section.name)).toEqual(["Rows 1–50", "Rows 51–100", "Rows 101–120"]);
    for (const { start } of result.sections)
      expect(result.text.slice(start)).toMatch(/^\| id \| name \|\n\| --- \| --- \|\n/u);
  });

  test("rows of different lengths and open quotations lose no text", async ({ expect }) => {
    expect((await textOf("a.csv", "a,b\n1\n1,2,3\n")).text).toBe("| a | b |\n| --- | --- |\n| 1 |\n| 1 | 2 | 3 |\n");
    expect((await textOf("a.csv", 'a,b\n"never closed,2\n3,4\n')).text).toContain("never closed");
    expect((await textOf("a.csv", "just words\nno columns\n")).text).toBe("just words\nno columns\n");
  });

  test("a comma before a space divides only what nothing else divides", async ({ expect }) => {
    const dates = "April 15, 2023;25.00;Ray;new;\nApril 14, 2023;25.00;Ann;new;\nApril 9, 2023;25.00;Lou;\n";
    expect((await textOf("a.csv", dates)).text).toContain("| April 14, 2023 | 25.00 | Ann | new |");
    expect((await textOf("a.csv", "name, city\nAna, Rome\n")).text).toBe(
      "| name | city |\n| --- | --- |\n| Ana | Rome |\n",
    );
  });

  test("what is above the cap is cut at a row", async ({ expect }) => {
    const result = await textOf("a.csv", `id,name\n${"1,abcdefgh\n".repeat(1_000)}`, { maxTextLength: 1_000 });
    expect(result.properties["truncated"]).toBeDefined();
  });
});

test("property files of Java have their letters", async ({ expect }) => {
  const lines = "title=\\u041f\\u043b\\u0430\\u043d\npath=C:\\\\u0041\nquote=\\u0022\n";
  expect((await textOf("a.properties", lines)).text).toBe("title=План\npath=C:\\\\u0041\nquote=\\u0022\n");
  expect((await textOf("a.txt", lines)).text).toBe(lines);
});

describe("JSON", () => {
  test("becomes indented keys and values, top-level keys are sections", async ({ expect }) => {
    const result = await textOf(
      "a.json",
      '{"title":"Plan","tags":["a","b"],"deep":{"x":{"y":null}},"list":[{"k":1}],"text":"one\\ntwo","__proto__":{"p":1}}',
    );
    expect(result.text).toBe(
      "title: Plan\ntags:\n  - a\n  - b\ndeep:\n  x:\n    y: null\nlist:\n  -\n    k: 1\ntext: one\n  two\n__proto__:\n  p: 1\n",
    );
    expect(result.title).toBe("Plan");
    expect(result.sections.map((section) => section.name)).toEqual([
      "title",
      "tags",
      "deep",
      "list",
      "text",
      "__proto__",
    ]);
    expect(result.text.slice(result.sections[2]?.start).startsWith("deep:")).toBe(true);
  });

  test("JSON lines are read line by line, also under the name .json", async ({ expect }) => {
    for (const name of ["a.jsonl", "a.json"]) {
      expect((await textOf(name, '{"a":1}\n\n{"a":2}\n')).text).toBe("a: 1\n\na: 2\n\n");
    }
  });

  test("broken JSON stays the text it is", async ({ expect }) => {
    expect((await textOf("a.json", '{"a": 1, // why\n "b"')).text).toBe('{"a": 1, // why\n "b"');
  });

  test("a hundred thousand levels do not overflow", async ({ expect }) => {
    const result = await textOf("a.json", `${"[".repeat(100_000)}"bottom"${"]".repeat(100_000)}`);
    expect(result.text).toContain("bottom");
  });

  test("a real package description keeps every value", async ({ expect }) => {
    const source = readFileSync("package.json", "utf8");
    const { text } = await textOf("package.json", source);
    expect(text).toContain("name: kb-connector-search\n");
    expect(text).toContain("  node: >=20.19\n");
  });
});
