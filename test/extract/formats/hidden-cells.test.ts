import { describe, test } from "vitest";
import { textOf } from "../documents.ts";
import { makeOdf, makeRels, makeXlsx, SHEET } from "../office-files.ts";

const cells = (number: number, words: readonly string[]) =>
  words.map((word, index) => `<c r="${"ABCDE"[index]}${number}" t="inlineStr"><is><t>${word}</t></is></c>`).join("");
const row = (number: number, attributes: string, ...words: string[]) =>
  `<row r="${number}" ${attributes}>${cells(number, words)}</row>`;

const LIST = [
  row(1, "", "Name", "Salary", "Team"),
  row(2, "", "Ana", "4000", "Sales"),
  row(3, 'hidden="1"', "Bo", "5000", "Legal"),
  row(4, "", "Cy", "6000", "Sales"),
].join("");

const workbook = (rows: string, more: { before?: string; after?: string } = {}, parts = {}) =>
  textOf("a.xlsx", makeXlsx([{ name: "S", rows, ...more }], parts));

describe("a workbook", () => {
  test("is read without hidden rows and columns, and says how many had words", async ({ expect }) => {
    const before = `<cols><col min="2" max="2" width="9" hidden="1"/><col min="6" max="16384" hidden="true"/></cols>`;
    const { text, properties } = await workbook(LIST, { before });
    expect(text).toBe("# S\n\n| Name | Team |\n| --- | --- |\n| Ana | Sales |\n| Cy | Sales |\n");
    expect(properties).toEqual({ sheets: "1", hiddenRows: "1", hiddenColumns: "1" });
  });

  test("has no comments and links of hidden cells", async ({ expect }) => {
    const comments = `<comments ${SHEET}><authors><author>Bo</author></authors><commentList><comment ref="A3" authorId="0"><text><t>hiddennote</t></text></comment><comment ref="A2" authorId="0"><text><t>shownnote</t></text></comment></commentList></comments>`;
    const rels = makeRels({
      rId1: "hyperlink https://shown.test/",
      rId2: "hyperlink https://hidden.test/",
      rId3: "comments ../comments1.xml",
    });
    const after = `<hyperlinks><hyperlink ref="A2" r:id="rId1"/><hyperlink ref="A3" r:id="rId2"/></hyperlinks>`;
    const { text } = await workbook(
      LIST,
      { after },
      { "xl/comments1.xml": comments, "xl/worksheets/_rels/sheet1.xml.rels": rels },
    );
    expect(text).toContain("shownnote");
    expect(text).toContain("https://shown.test/");
    expect(text).not.toMatch(/hidden/u);
  });

  const condition = `<filterColumn colId="2"><filters><filter val="Sales"/></filters></filterColumn>`;
  const filter = (inner: string) => `<autoFilter ref="A1:C4">${inner}</autoFilter>`;

  test.for([
    ["an active filter of the sheet", { after: filter(condition) }, {}],
    [
      "an active filter of a table",
      {},
      {
        "xl/tables/table1.xml": `<table ${SHEET} displayName="People" ref="A1:C4">${filter(condition)}</table>`,
        "xl/worksheets/_rels/sheet1.xml.rels": makeRels({ rId1: "table ../tables/table1.xml" }),
      },
    ],
    [
      "an advanced filter, which has no arrows",
      { before: `<sheetPr filterMode="1"/>` },
      {
        "xl/workbook.xml": `<workbook ${SHEET}><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets><definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">S!$A$1:$C$4</definedName></definedNames></workbook>`,
      },
    ],
  ] as const)("keeps rows that only %s passes over", async ([, more, parts], { expect }) => {
    const { text, properties } = await workbook(LIST, more, parts);
    expect(text).toContain("| Bo | 5000 | Legal |");
    expect(properties).toEqual({ sheets: "1" });
  });

  test.for([
    ["without a condition", filter("")],
    ["of which only the arrow is hidden", filter(`<filterColumn colId="1" hiddenButton="1"/>`)],
    ["of other rows", filter(condition).replace("A1:C4", "A10:C20")],
  ] as const)("a filter %s shows nothing", async ([, after], { expect }) => {
    expect((await workbook(LIST, { after })).text).not.toContain("Legal");
  });

  test("keeps the rows and columns of groups that are collapsed", async ({ expect }) => {
    const before = `<cols><col min="2" max="2" hidden="1" outlineLevel="1"/></cols>`;
    const rows = row(1, "", "Team", "Detail") + row(2, 'hidden="1" outlineLevel="1"', "Sales", "folded");
    const { text } = await workbook(rows + row(3, 'collapsed="1"', "All", "sum"), { before });
    expect(text).toContain("| Sales | folded |");
  });

  test("has what stands above and below its printed pages, once", async ({ expect }) => {
    const header = `&amp;L&amp;"Arial,Bold"&amp;12Confidential R&amp;&amp;D&amp;R&amp;K01+000&amp;P`;
    const after = `<headerFooter><oddHeader>${header}</oddHeader><oddFooter>&amp;CPlant Łódź</oddFooter><evenFooter>&amp;CPlant Łódź</evenFooter></headerFooter>`;
    expect((await workbook(row(1, "", "One"), { after })).text).toBe("# S\n\nOne\n\nConfidential R&D\nPlant Łódź\n");
  });
});

describe("an OpenDocument spreadsheet", () => {
  const cell = (word: string) =>
    `<table:table-cell office:value-type="string"><text:p>${word}</text:p></table:table-cell>`;
  const line = (attributes: string, ...words: string[]) =>
    `<table:table-row ${attributes}>${words.map(cell).join("")}</table:table-row>`;
  const sheet = (body: string) =>
    textOf("a.ods", makeOdf("spreadsheet", { body: `<table:table table:name="S">${body}</table:table>` }));
  const HIDDEN = `table:visibility="collapse"`;

  test("is read without hidden rows and columns, and says how many had words", async ({ expect }) => {
    const columns = `<table:table-column/><table:table-column ${HIDDEN} table:number-columns-repeated="2"/><table:table-column/>`;
    const { text, properties } = await sheet(
      columns + line("", "Name", "Salary", "Bonus", "Team") + line(HIDDEN, "Bo") + line("", "Ana", "1", "2", "Sales"),
    );
    expect(text).toBe("# S\n\n| Name | Team |\n| --- | --- |\n| Ana | Sales |\n");
    expect(properties).toEqual({ sheets: "1", hiddenRows: "1", hiddenColumns: "2" });
  });

  test("keeps rows that a filter passes over, and groups that are collapsed", async ({ expect }) => {
    const { text, properties } = await sheet(
      line("", "Name") +
        line(`table:visibility="filter"`, "Filtered") +
        `<table:table-row-group table:display="false">${line(HIDDEN, "Folded")}</table:table-row-group>` +
        `<table:table-row-group>${line(HIDDEN, "Gone")}${line("", "Last")}</table:table-row-group>`,
    );
    expect(text).toBe("# S\n\nName\nFiltered\nFolded\nLast\n");
    expect(properties).toEqual({ sheets: "1", hiddenRows: "1" });
  });
});
