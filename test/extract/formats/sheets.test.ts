import { describe, test } from "vitest";
import { columnLetters, columnOf } from "#extract/office/sheet-writer.ts";
import { textOf } from "../documents.ts";
import { makeFlatOdf, makeOdf, makeRels, makeXlsx, SHEET } from "../office-files.ts";

const cell = (address: string, value: string, more = "") => `<c r="${address}" ${more}><v>${value}</v></c>`;
const inline = (address: string, text: string) => `<c r="${address}" t="inlineStr"><is><t>${text}</t></is></c>`;
const row = (number: number, ...cells: string[]) => `<row r="${number}">${cells.join("")}</row>`;

const STYLES = `<styleSheet ${SHEET}><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/><numFmt numFmtId="171" formatCode="00000"/><numFmt numFmtId="172" formatCode="[h]:mm"/><numFmt numFmtId="173" formatCode="&quot;days&quot; 0.0"/></numFmts>
  <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="9"/><xf numFmtId="171"/><xf numFmtId="172"/><xf numFmtId="20"/><xf numFmtId="173"/></cellXfs></styleSheet>`;

describe("a workbook", () => {
  test("has a section for each sheet with the range of its cells", async ({ expect }) => {
    const strings = `<sst ${SHEET}><si><t>Name</t></si><si><r><t>Ri</t></r><r><t>ch</t></r><rPh><t>reading</t></rPh></si></sst>`;
    const rows =
      row(2, cell("B2", "0", 't="s"'), inline("C2", "Age")) + row(3, cell("B3", "1", 't="s"'), cell("C3", "42"));
    const bytes = makeXlsx(
      [
        { name: "People", rows },
        { name: "Hidden", rows, state: "veryHidden" },
        { name: "Notes", rows: row(1, inline("A1", "Just words")) },
      ],
      { "xl/sharedStrings.xml": strings },
    );
    const result = await textOf("a.xlsx", bytes);
    expect(result.text).toBe("# People\n\n| Name | Age |\n| --- | --- |\n| Rich | 42 |\n\n# Notes\n\nJust words\n");
    expect(result.sections).toEqual([
      { name: "People", level: 1, start: 0, kind: "sheet", ref: "B2:C3" },
      { name: "Notes", level: 1, start: result.text.indexOf("# Notes"), kind: "sheet", ref: "A1:A1" },
    ]);
    expect(result.properties).toEqual({ sheets: "3", hiddenSheets: "1" });
  });

  test("gives numbers as they are meant: dates, times, shares, codes, truth", async ({ expect }) => {
    const cells = [
      cell("A1", "45322", 's="1"'),
      cell("B1", "45322.75", 's="2"'),
      cell("C1", "0.125", 's="3"'),
      cell("D1", "1067", 's="4"'),
      cell("E1", "1.5", 's="5"'),
      cell("F1", "0.5", 's="6"'),
      cell("G1", "0.30000000000000004", 's="7"'),
      cell("H1", "1", 't="b"'),
      cell("I1", "#DIV/0!", 't="e"'),
      `<c r="J1" t="str"><f>A1&amp;"x"</f><v>result</v></c>`,
      cell("K1", "1", 's="1"'),
      cell("L1", "-5", 's="1"'),
    ];
    const bytes = makeXlsx([{ name: "S", rows: row(1, ...cells) }], { "xl/styles.xml": STYLES });
    expect((await textOf("a.xlsx", bytes)).text).toContain(
      "| 2024-01-31 | 2024-01-31 18:00:00 | 12.5% | 01067 | 36:00:00 | 12:00:00 | days 0.3 | TRUE | #DIV/0! | result | 1900-01-01 | -5 |",
    );
  });

  test("of many rows has a section for each fifty, and the header again", async ({ expect }) => {
    const rows = Array.from({ length: 120 }, (_, index) =>
      row(index + 3, inline(`A${index + 3}`, `n${index}`), cell(`B${index + 3}`, String(index))),
    );
    const title = row(1, inline("A1", "The list"));
    const result = await textOf(
      "a.xlsx",
      makeXlsx([{ name: "L", rows: title + row(2, inline("A2", "Name"), inline("B2", "No")) + rows.join("") }]),
    );
    expect(result.text.startsWith("# L\n\nThe list\n\n| Name | No |\n| --- | --- |\n| n0 | 0 |\n")).toBe(true);
    expect(result.sections.map(({ name, ref }) => `${name}: ${ref}`)).toEqual([
      "L: A1:B122",
      "L A1:B50: A1:B50",
      "L A51:B100: A51:B100",
      "L A101:B122: A101:B122",
    ]);
    expect(result.text.slice(result.sections[2]?.start)).toMatch(
      /^\| Name \| No \|\n\| --- \| --- \|\n\| n48 \| 48 \|/u,
    );
  });

  test("has comments with their answers, tables, links and what its drawings say", async ({ expect }) => {
    const after = '<hyperlinks><hyperlink ref="A1" r:id="h"/></hyperlinks>';
    const parts = {
      "xl/worksheets/_rels/sheet1.xml.rels": makeRels({
        h: "hyperlink https://a.test/",
        c: "comments ../comments1.xml",
        t: "table ../tables/table1.xml",
        d: "drawing ../drawings/drawing1.xml",
      }),
      "xl/comments1.xml": `<comments ${SHEET}><authors><author>Ana</author></authors><commentList><comment ref="A1" authorId="0"><text><r><t>Ana:</t></r><r><t> Check it</t></r></text></comment></commentList></comments>`,
      "xl/tables/table1.xml": `<table ${SHEET} displayName="Sales" ref="A1:B9"/>`,
      "xl/drawings/drawing1.xml": `<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:p><a:r><a:t>A box</a:t></a:r></a:p></xdr:wsDr>`,
    };
    const bytes = makeXlsx([{ name: "S", rows: row(1, inline("A1", "x")), after }], parts);
    expect((await textOf("a.xlsx", bytes)).text).toBe(
      "# S\n\nx\n\nTable Sales: A1:B9\n\nComment on A1, Ana: Check it\n\nLink on A1: https://a.test/\n\nA box\n",
    );
  });

  test("has its escaped characters read, wherever it writes them", async ({ expect }) => {
    const strings = `<sst ${SHEET}><si><t>one_x000D_\ntwo</t></si><si><r><t>_x005F_x000D_ typed, </t></r><r><t>_xD83D__xDE00__x263a_</t></r></si></sst>`;
    const rows =
      row(1, cell("A1", "0", 't="s"'), cell("B1", "1", 't="s"')) +
      row(2, inline("A2", "tab_x0009_bed"), cell("B2", "a_x000A_b_x00zz_", 't="str"'));
    const parts = {
      "xl/sharedStrings.xml": strings,
      "xl/worksheets/_rels/sheet1.xml.rels": makeRels({
        c: "comments ../comments1.xml",
        t: "table ../tables/table1.xml",
      }),
      "xl/comments1.xml": `<comments ${SHEET}><authors><author>A_x005F_na</author></authors><commentList><comment ref="A1" authorId="0"><text><t>Check_x000D_\nit</t></text></comment></commentList></comments>`,
      "xl/tables/table1.xml": `<table ${SHEET} displayName="S_x00E4_le" ref="A1:B9"/>`,
      "docProps/core.xml": `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description>First_x000d_\nsecond</dc:description></cp:coreProperties>`,
    };
    const after = "<headerFooter><oddHeader>&amp;LPlan_x005F_A</oddHeader></headerFooter>";
    const result = await textOf("a.xlsx", makeXlsx([{ name: "Q1_x0020_x_x005F_y", rows, after }], parts));
    expect(result.text).toBe(
      "# Q1 x_y\n\n| one two | _x000D_ typed, 😀☺ |\n| --- | --- |\n| tab bed | a b_x00zz_ |\n\nTable Säle: A1:B9\n\nComment on A1, A_na: Check it\n\nPlan_A\n",
    );
    expect(result.properties["description"]).toBe("First second");
  });

  test("a cell far away stretches no row, and rows without numbers count on", async ({ expect }) => {
    const rows = `<row><c t="inlineStr"><is><t>a</t></is></c><c t="inlineStr"><is><t>b</t></is></c></row>${row(1_000_000, inline("A1000000", "c"), inline("XFD1000000", "far"))}`;
    const result = await textOf("a.xlsx", makeXlsx([{ name: "S", rows }]));
    expect(result.text).toBe("# S\n\n| a | b |  |\n| --- | --- | --- |\n| c |  | far |\n");
    expect(result.sections[0]?.ref).toBe("A1:XFD1000000");
  });

  test("is cut where the text is full, and says so", async ({ expect }) => {
    const rows = Array.from({ length: 20_000 }, (_, index) =>
      row(index + 1, inline(`A${index + 1}`, "word"), inline(`B${index + 1}`, "word")),
    );
    const result = await textOf("a.xlsx", makeXlsx([{ name: "S", rows: rows.join("") }]), { maxTextLength: 5_000 });
    expect(result.text.length).toBe(5_000);
    expect(result.properties["truncated"]).toBe("Only the first 5000 characters were read.");
  });

  test("columns have the letters of spreadsheets", ({ expect }) => {
    expect([0, 25, 26, 701, 702, 16_383].map(columnLetters)).toEqual(["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
    for (const column of [0, 25, 26, 701, 702, 16_383]) expect(columnOf(`${columnLetters(column)}7`)).toBe(column);
  });
});

describe("an OpenDocument spreadsheet", () => {
  const value = (type: string, attributes: string, shown: string) =>
    `<table:table-cell office:value-type="${type}" ${attributes}><text:p>${shown}</text:p></table:table-cell>`;
  const body = `<table:table table:name="Sheet"><table:table-row>${value("string", "", "Name")}${value("date", 'office:date-value="2024-01-31"', "31.01.24")}${value("percentage", 'office:value="0.125"', "13 %")}${value("currency", 'office:value="1234.5"', "1.234,50 €")}${value("float", 'office:value="1067"', "01067")}${value("time", 'office:time-value="PT07H05M09S"', "7:05")}${value("boolean", 'office:boolean-value="true"', "WAHR")}</table:table-row>
    <table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="2"/></table:table-row>
    <table:table-row><table:table-cell table:number-columns-repeated="2" office:value-type="string"><text:p>twice</text:p></table:table-cell><table:table-cell><office:annotation><dc:creator>Ana</dc:creator><dc:date>2024-05-01T09:00:00</dc:date><text:p>Hm</text:p></office:annotation><text:p>end</text:p></table:table-cell></table:table-row>
    <table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>
    <table:table table:name="Gone" table:style-name="ta2"><table:table-row><table:table-cell><text:p>secret</text:p></table:table-cell></table:table-row></table:table>`;
  const styles = `<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>`;
  const text =
    "# Sheet\n\n| Name | 2024-01-31 | 12.5% | 1234.5 € | 01067 | 07:05:09 | TRUE |\n| --- | --- | --- | --- | --- | --- | --- |\n| twice | twice | end |  |  |  |  |\n\nComment on C5, Ana, 2024-05-01: Hm\n";

  test("is read as one of Excel is", async ({ expect }) => {
    const result = await textOf("a.ods", makeOdf("spreadsheet", { body, styles }));
    expect(result.text).toBe(text);
    expect(result.sections).toEqual([{ name: "Sheet", level: 1, start: 0, kind: "sheet", ref: "A1:G5" }]);
  });

  test("is read when it is one XML document", async ({ expect }) => {
    expect((await textOf("a.fods", makeFlatOdf("spreadsheet", { body, styles }))).text).toBe(text);
  });
});
