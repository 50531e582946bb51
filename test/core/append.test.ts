import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "vitest";
import { append } from "#core/append.ts";
import { extractFile, textOf } from "../extract/documents.ts";
import { makeDocx, wordParagraph } from "../extract/office-files.ts";

/** More than a call takes as arguments. */
const MANY = 150_000;

test("a list takes as many items as there are", ({ expect }) => {
  const list = [1];
  append(list, new Uint8Array(1_000_000));
  expect(list).toHaveLength(1_000_001);
});

test("no reader makes arguments of a list that a document may fill", ({ expect }) => {
  const files = ["src/extract", "src/text", "src/core"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
  );
  const spread = /\.(?:push|unshift|concat|max|min|fromCharCode|fromCodePoint)\((?:[^(){}\n]*,)?\s*\.\.\./u;
  const found = files.filter(
    (file) => file.endsWith(".ts") && spread.test(withoutComments(readFileSync(file, "utf8"))),
  );
  expect(found).toEqual([]);
});

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/gu, "");
}

describe("a document of very many pieces is read", () => {
  const many = wordParagraph("a").repeat(MANY);
  const last = wordParagraph("last");

  test.for([
    ["in a text box", `<w:p><w:r><w:t>x</w:t><w:txbxContent>${many}${last}</w:txbxContent></w:r></w:p>`],
    [
      "in the cells behind the last column",
      `<w:tbl><w:tr>${"<w:tc/>".repeat(300)}<w:tc>${many}${last}</w:tc></w:tr></w:tbl>`,
    ],
    ["in a document that it takes in", `<w:altChunk r:id="c"/>`],
  ] as const)("%s of Word", async ([, body], { expect }) => {
    const parts = { "word/a.txt": `${"a\n\n".repeat(MANY)}last` };
    const file = makeDocx({ body, rels: { c: "aFChunk a.txt" }, parts });
    expect((await textOf("a.docx", file)).text).toMatch(/\blast\n$/u);
  });

  test.for(["a.", "aB", "a-", "a_", "a/b.c."])("of one word of %j again and again", async (piece, { expect }) => {
    expect(await extractFile("a.txt", `first/${piece.repeat(MANY)}x`)).toMatchObject({ state: "ok" });
  });
});
