import { describe, test } from "vitest";
import { textOf } from "../documents.ts";
import { makeDocx, makeOdf, makePptx, makeRels, slideShape, wordParagraph } from "../office-files.ts";

const A = "https://a.test/";
const B = "https://b.test/";
type Piece = string | [words: string, address: string];

/** What a line of words and links is, whatever the format. */
const CASES: readonly (readonly [string, readonly Piece[], string])[] = [
  ["ends in a word", [["Wasser", A], "kraftwerk läuft"], `Wasserkraftwerk (${A}) läuft`],
  ["begins in a word", ["Wasser", ["kraftwerk", A], " läuft"], `Wasserkraftwerk (${A}) läuft`],
  ["is in two pieces", ["Zur ", ["Berg", A], ["bahn", A], "en, bald"], `Zur Bergbahnen (${A}), bald`],
  ["is in pieces of words", [["Große", A], " ", ["Bahn", A], "."], `Große Bahn (${A}).`],
  ["meets another in a word", [["Berg", A], ["bahn", B], " oben"], `Bergbahn (${A}) (${B}) oben`],
  ["has a genitive", [["Ana", A], "’s plan"], `Ana’s (${A}) plan`],
  ["is before a sign", [["Plan", A], ", then"], `Plan (${A}), then`],
  ["stands in a script without spaces", ["見る", ["東京", A], "は首都"], `見る東京 (${A})は首都`],
  ["ends the line", ["see ", ["Łódź", A]], `see Łódź (${A})`],
];

const formats: Record<string, (pieces: readonly Piece[]) => Promise<{ text: string }>> = {
  HTML: (pieces) => {
    const html = pieces.map((piece) => (typeof piece === "string" ? piece : `<a href="${piece[1]}">${piece[0]}</a>`));
    return textOf("a.html", `<html><body><p>${html.join("")}</p></body></html>`);
  },
  DOCX: (pieces) => {
    const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
    const body = pieces.map((piece) =>
      typeof piece === "string"
        ? run(piece)
        : `<w:hyperlink r:id="${piece[1] === A ? "rId1" : "rId2"}">${run(piece[0])}</w:hyperlink>`,
    );
    const rels = { rId1: `hyperlink ${A}`, rId2: `hyperlink ${B}` };
    return textOf("a.docx", makeDocx({ body: `<w:p>${body.join("")}</w:p>`, rels }));
  },
  ODT: (pieces) => {
    const body = pieces.map((piece) =>
      typeof piece === "string"
        ? piece.replaceAll(/^ | $/gu, "<text:s/>")
        : `<text:a xlink:href="${piece[1]}">${piece[0]}</text:a>`,
    );
    return textOf("a.odt", makeOdf("text", { body: `<text:p>${body.join("")}</text:p>` }));
  },
  PPTX: (pieces) => {
    const runs = pieces.map((piece) => {
      const [words, address] = typeof piece === "string" ? [piece, undefined] : piece;
      const link = address === undefined ? "" : `<a:hlinkClick r:id="${address === A ? "rId1" : "rId2"}"/>`;
      return `<a:r><a:rPr>${link}</a:rPr><a:t>${words}</a:t></a:r>`;
    });
    const shape = slideShape(["@"]).replace("<a:r><a:t>@</a:t></a:r>", runs.join(""));
    const rels = makeRels({ rId1: `hyperlink ${A}`, rId2: `hyperlink ${B}` });
    return textOf("a.pptx", makePptx([shape], { "ppt/slides/_rels/slide1.xml.rels": rels }));
  },
  RTF: (pieces) => {
    const escape = (text: string) => text.replaceAll(/[^\x20-\x7e]/gu, (letter) => `\\u${letter.charCodeAt(0)}?`);
    const runs = pieces.map((piece) =>
      typeof piece === "string"
        ? escape(piece)
        : `{\\field{\\*\\fldinst HYPERLINK "${piece[1]}"}{\\fldrslt ${escape(piece[0])}}}`,
    );
    return textOf("a.rtf", `{\\rtf1\\ansi ${runs.join("")}\\par}`);
  },
};

describe.for(Object.keys(formats))("in %s a link that", (format) => {
  test.for(CASES)("%s leaves the word whole", async ([, pieces, expected], { expect }) => {
    const { text } = (await formats[format]?.(pieces)) ?? { text: "" };
    expect(text).toContain(expected);
  });
});

test("a link of HTML ends with its cell, item and line", async ({ expect }) => {
  const link = `<a href="${A}">x</a>`;
  const { text } = await textOf(
    "a.html",
    `<body><ul><li>${link}</li><li>y</li></ul><p>${link}<br>z</p><table><tr><td>${link}</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table></body>`,
  );
  expect(text).toBe(`- x (${A})\n- y\n\nx (${A})\nz\n\n| x (${A}) | b |\n| --- | --- |\n| c | d |\n`);
});

test("a link of a field within a paragraph of Word leaves its word whole", async ({ expect }) => {
  const mark = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  const body = wordParagraph("x").replace(
    /<w:r>.*<\/w:r>/u,
    `${mark("begin")}<w:r><w:instrText>HYPERLINK "${A}"</w:instrText></w:r>${mark("separate")}<w:r><w:t>Berg</w:t></w:r>${mark("end")}<w:r><w:t>bahn</w:t></w:r>`,
  );
  expect((await textOf("a.docx", makeDocx({ body }))).text).toBe(`Bergbahn (${A})\n`);
});
