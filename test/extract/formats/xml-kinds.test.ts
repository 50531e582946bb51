import { describe, test } from "vitest";
import { isBase64 } from "#extract/formats/base64.ts";
import { textOf } from "../documents.ts";
import { WORD, wordParagraph } from "../office-files.ts";

const sectionsOf = ({ sections }: Awaited<ReturnType<typeof textOf>>) =>
  sections.map(({ name, level }) => [name, level]);
const PICTURE = Buffer.from(Array.from({ length: 300 }, (_, index) => index % 256)).toString("base64");

describe("a document in XML is known by what is in it", () => {
  test("DocBook", async ({ expect }) => {
    const result = await textOf(
      "manual.unknown",
      `<?xml version="1.0"?><!DOCTYPE book [<!ENTITY x "y">]><book xml:lang="pl" xmlns="http://docbook.org/ns/docbook"><info><title>Podręcznik</title><author><surname>Nowak</surname></author></info><chapter><title>Start &amp; go</title><para>Read <emphasis>all</emphasis> of <link xlink:href="https://x.test/">this</link>ness.</para><itemizedlist><listitem><para>one</para></listitem></itemizedlist><informaltable><tgroup><tbody><row><entry>a</entry><entry>b</entry></row></tbody></tgroup></informaltable><sect1><title>Deeper</title><programlisting>x  =  1</programlisting></sect1></chapter></book>`,
    );
    expect(result).toMatchObject({ title: "Podręcznik", language: "pl", mimeType: "application/xml" });
    expect(sectionsOf(result)).toEqual([
      ["Start & go", 2],
      ["Deeper", 3],
    ]);
    expect(result.text).toContain("Read all of thisness (https://x.test/).\n\n- one\n");
    expect(result.text).toContain("| a | b |");
    expect(result.text).toContain("x  =  1");
  });

  test.for([
    [
      "DITA",
      `<!DOCTYPE task PUBLIC "-//OASIS//DTD DITA Task//EN" "task.dtd"><task id="t"><title>Change the filter</title><taskbody><steps><step><cmd>Open it</cmd></step></steps></taskbody></task>`,
      "Change the filter",
      "1. Open it",
    ],
    [
      "TEI",
      `<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Letters</title></titleStmt></fileDesc></teiHeader><text><body><div><head>First</head><p>Dear Bo</p></div></body></text></TEI>`,
      "Letters",
      "Dear Bo",
    ],
    [
      "JATS",
      `<?xml version="1.0"?><article><front><article-meta><title-group><article-title>On tides</article-title></title-group></article-meta></front><body><sec><title>Method</title><p>We <italic>looked</italic>.</p></sec></body></article>`,
      "On tides",
      "We looked.",
    ],
  ])("%s", async ([, xml, title, words], { expect }) => {
    const result = await textOf("a.data", xml ?? "");
    expect(result.title).toBe(title);
    expect(result.text).toContain(words);
    expect(result.text).not.toMatch(/<|DOCTYPE/u);
  });

  test("FictionBook, without its pictures", async ({ expect }) => {
    const result = await textOf(
      "a.fb2",
      `<?xml version="1.0" encoding="windows-1251"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><genre>prose</genre><author><first-name>A</first-name><last-name>B</last-name></author><book-title>Kniga</book-title><lang>ru</lang></title-info></description><body><section><title><p>Glava</p></title><p>Slova<strong>mi</strong></p></section></body><binary id="a.png">AAAA</binary></FictionBook>`,
    );
    expect(result).toMatchObject({ title: "Kniga", language: "ru" });
    expect(result.text).toContain("Slovami");
    expect(result.text).not.toContain("AAAA");
  });

  test("data stays data, with its encodings and no base64", async ({ expect }) => {
    const { text } = await textOf(
      "a.bin.txt",
      `<order xmlns="urn:x"><note>Ship ${"long ".repeat(80)}</note><file>${PICTURE.replaceAll(/(.{76})/gu, "$1\n")}</file><p>see <b>${PICTURE}</b> here</p><i data="${PICTURE}" name="kept"/></order>`,
    );
    expect(text).toContain("note: Ship long");
    expect(text).toContain("name: kept");
    expect(text).not.toContain(PICTURE.slice(0, 40));
  });

  test.for(["<p>one</p>", "<b", "<?php echo 1;", "< 5 and > 3", "<note>short</note>"])(
    "%s is text",
    async (text, { expect }) => {
      expect((await textOf("a.txt", text)).mimeType).toBe("text/plain");
    },
  );

  test.for([
    '<r><n>word</n><pic encoding="base64">aGlkZGVu</pic></r>',
    '<r><n>word</n><k xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:base64Binary">aGlkZGVu</k></r>',
    '<r><n>word</n><k dt:dt="bin.base64" xmlns:dt="urn:d">aGlk\nZGVu</k></r>',
    "<r><n>word</n><w:binData>aGlkZGVu</w:binData></r>",
    '<plist version="1.0"><dict><key>n</key><string>word</string><key>k</key><data>aGlkZGVu</data></dict></plist>',
  ])("bytes are no words where their element says so: %s", async (source, { expect }) => {
    const { text } = await textOf("a.xml", `<?xml version="1.0"?>${source}`);
    expect(text).toContain("word");
    expect(text).not.toMatch(/aGlk|ZGVu/u);
  });

  test("a line of TEI that ends within a word divides none", async ({ expect }) => {
    const body = '<text><body><div><p>first li<lb break="no"/>ne and<lb/>second</p></div></body></text>';
    const { text } = await textOf("a.xml", `<TEI xmlns="http://www.tei-c.org/ns/1.0">${body}</TEI>`);
    expect(text).toMatch(/first line and\s+second/u);
  });

  test("an element of that name that holds words keeps them", async ({ expect }) => {
    const { text } = await textOf(
      "a.xml",
      '<?xml version="1.0"?><r><binary>Zwei Zustände: an.</binary><data>aGlkZGVu</data></r>',
    );
    expect(text).toMatch(/Zwei Zustände: an\.[^]*aGlkZGVu/u);
  });

  test("base64 is long runs only", ({ expect }) => {
    expect(isBase64(PICTURE)).toBe(true);
    expect(isBase64(PICTURE.slice(0, 255))).toBe(false);
    expect(isBase64("words without any sign ".repeat(40))).toBe(false);
    expect(isBase64(`${PICTURE}.`)).toBe(false);
  });
});

test("a workbook in one XML file has its sheets, without what is hidden", async ({ expect }) => {
  const cell = (text: string, type = "String", more = "") =>
    `<Cell${more}><Data ss:Type="${type}">${text}</Data></Cell>`;
  const sheet = (name: string, rows: string, visible = "") =>
    `<Worksheet ss:Name="${name}"><Table><Column/><Column ss:Index="4" ss:Hidden="1"/>${rows}</Table><WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel">${visible}</WorksheetOptions></Worksheet>`;
  const rows = `<Row>${cell("Name")}${cell("Since")}</Row><Row ss:Index="3">${cell("Ana")}${cell("2024-05-01T00:00:00.000", "DateTime")}${cell("1", "Boolean")}${cell("secret")}</Row><Row ss:Hidden="1">${cell("gone")}</Row><Row><Cell ss:Index="2"><ss:Data xmlns="http://www.w3.org/TR/REC-html40" ss:Type="String"><B>bold</B> text</ss:Data><Comment ss:Author="Bo"><ss:Data>Really?</ss:Data></Comment></Cell></Row>`;
  const book = `<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><DocumentProperties xmlns="urn:schemas-microsoft-com:office:office"><Title>List</Title></DocumentProperties>${sheet("People", rows)}${sheet("Other", rows, "<Visible>SheetHidden</Visible>")}</Workbook>`;
  for (const name of ["a.xml", "a.xls", "a"]) {
    const { text, title, sections, properties } = await textOf(name, book);
    expect(text).toBe(
      "# People\n\n| Name | Since |  |\n| --- | --- | --- |\n| Ana | 2024-05-01 | TRUE |\n|  | bold text |  |\n\nComment on B5, Bo: Really?\n",
    );
    expect(title).toBe("List");
    expect(sections).toEqual([{ name: "People", level: 1, start: 0, kind: "sheet", ref: "A1:C5" }]);
    expect(properties).toEqual({ sheets: "2", hiddenSheets: "1", hiddenRows: "1", hiddenColumns: "1" });
  }
});

test("a book names its author whole, and the number of a note is no part of the word", async ({ expect }) => {
  const book = `<?xml version="1.0"?><FictionBook xmlns:l="x"><description><title-info><author><first-name>Ana</first-name><middle-name>B.</middle-name><last-name>Bo</last-name></author><book-title>T</book-title></title-info></description><body><section><p>word<a l:href="#n1" type="note">1</a></p></section></body></FictionBook>`;
  const { text, properties } = await textOf("a.fb2", book);
  expect(properties["author"]).toBe("Ana B. Bo");
  expect(text).toContain("Ana B. Bo");
  expect(text).toContain("word[1]");
});

describe("Word in one XML file", () => {
  const part = (name: string, xml: string) =>
    `<pkg:part pkg:name="${name}" pkg:contentType="x+xml"><pkg:xmlData>${xml}</pkg:xmlData></pkg:part>`;
  const RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

  test("of today is read as a document", async ({ expect }) => {
    const rels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${RELATIONSHIPS}/officeDocument" Target="word/document.xml"/></Relationships>`;
    const core = `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Plán</dc:title></cp:coreProperties>`;
    const document = `<w:document ${WORD}><w:body>${wordParagraph("split</w:t></w:r><w:r><w:t>word")}</w:body></w:document>`;
    const xml = `<?xml version="1.0"?><?mso-application progid="Word.Document"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">${part("/_rels/.rels", rels)}${part("/word/document.xml", document)}${part("/docProps/core.xml", core)}<pkg:part pkg:name="/word/media/i.png"><pkg:binaryData>${PICTURE}</pkg:binaryData></pkg:part></pkg:package>`;
    for (const name of ["a.xml", "a.doc", "a"]) {
      const result = await textOf(name, xml);
      expect(result).toMatchObject({ text: "splitword\n", title: "Plán" });
    }
  });

  test("of 2003 is read as a document", async ({ expect }) => {
    const xml = `<?xml version="1.0"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:o="urn:schemas-microsoft-com:office:office"><o:DocumentProperties><o:Title>Vertrag</o:Title><o:Author>Ana</o:Author></o:DocumentProperties><w:styles><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles><w:body><w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Kopf</w:t></w:r></w:p><w:p><w:r><w:t>Text</w:t></w:r><w:hlink w:dest="https://x.test/"><w:r><w:t>teil</w:t></w:r></w:hlink><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:footnote><w:p><w:r><w:t>Fuß</w:t></w:r></w:p></w:footnote></w:r></w:p><w:p><w:r><w:pict><w:binData>${PICTURE}</w:binData></w:pict></w:r></w:p></w:body></w:wordDocument>`;
    const result = await textOf("a.xml", xml);
    expect(result).toMatchObject({ title: "Vertrag", properties: { author: "Ana" } });
    expect(result.text).toBe("# Kopf\n\nTextteil (https://x.test/)\n\nFuß\n");
    expect(sectionsOf(result)).toEqual([["Kopf", 1]]);
  });
});

describe("a feed", () => {
  const HTML = `<p class="hiddenclass">Zoë&#8217;s <b>wo</b>rds</p><script>hiddenscript()</script>`;
  const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

  test.for([
    [
      "of RSS",
      `<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>News &amp;amp; more</title><description>All of it</description><language>fr-FR</language><image><title>Logo</title></image><item><title>First</title><link>https://x.test/1</link><author>Ana</author><description>${escape("<p>Zoë’s words</p>")}</description><content:encoded><![CDATA[${HTML}]]></content:encoded><guid>123</guid></item></channel></rss>`,
      "News & more",
    ],
    [
      "of Atom, escaped",
      `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><subtitle>All of it</subtitle><entry><title type="html">First</title><link href="https://x.test/1"/><author><name>Ana</name></author><content type="html">${escape(HTML)}</content></entry></feed>`,
      "News",
    ],
    [
      "of Atom, as elements",
      `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><subtitle>All of it</subtitle><entry><title>First</title><link href="https://x.test/1"/><author><name>Ana</name></author><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">${HTML}</div></content></entry></feed>`,
      "News",
    ],
    [
      "of RDF",
      `<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>News</title><description>All of it</description></channel><item><title>First</title><link>https://x.test/1</link><author>Ana</author><description>${escape(HTML)}</description></item></rdf:RDF>`,
      "News",
    ],
  ])("%s has its entries as sections, and their HTML as text", async ([, xml, title], { expect }) => {
    const result = await textOf("feed.txt", xml ?? "");
    expect(result.title).toBe(title);
    expect(sectionsOf(result)).toEqual([
      [title, 1],
      ["First", 2],
    ]);
    expect(result.text).toBe(`# ${title}\n\nAll of it\n\n## First (https://x.test/1)\n\nauthor: Ana\n\nZoë’s words\n`);
    expect(result.properties).toMatchObject({ description: "All of it", entries: "1" });
  });

  test("keeps a summary that says more, and an entry that is not closed", async ({ expect }) => {
    const { text } = await textOf(
      "a.rss",
      `<rss version="2.0"><channel><title>T</title><item><description>One &lt;script&gt;open</description><content>Two</content></item><item><title>Last</title><description>Three`,
    );
    expect(text).toContain("One");
    expect(text).toContain("Two");
    expect(text).toContain("Three");
  });
});
