import { deflateSync } from "node:zlib";
import iconv from "iconv-lite";
import { describe, test } from "vitest";
import { writeDrawnHyphens } from "#extract/pdf/drawn-hyphens.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { bytesOf, extractFile, makePdf, textOf } from "../documents.ts";
import { after, linesOf, makeAsianPage, makePage, stream } from "../pdf-files.ts";

describe("PDF", () => {
  test("pages become sections with marks, the information dictionary becomes properties", async ({ expect }) => {
    const info = { Title: "The report", Author: "Ana", CreationDate: "D:20240131120000+01'00'" };
    const result = await textOf("a.pdf", makePdf(["First page", "", "Caf\\351 third"], { info }));
    expect(result.text).toBe("[Page 1]\nFirst page\n\n[Page 3]\nCafé third\n");
    expect(result.title).toBe("The report");
    expect(result.sections).toEqual([
      { name: "Page 1", level: 1, start: 0, kind: "page", ref: "1", anchor: "page=1" },
      { name: "Page 3", level: 1, start: result.text.indexOf("[Page 3]"), kind: "page", ref: "3", anchor: "page=3" },
    ]);
    expect(result.properties).toEqual({ author: "Ana", created: "2024-01-31T12:00:00+01:00", pages: "3" });
  });

  test("without text it is empty and probably a scan", async ({ expect }) => {
    expect(await extractFile("a.pdf", makePdf(["", ""]))).toMatchObject({
      reason: "empty",
      message: "The PDF has no text layer on its 2 pages. It is probably a scan.",
    });
  });

  test("one with a password is encrypted", async ({ expect }) => {
    expect(await extractFile("a.pdf", makePdf(["x"], { isEncrypted: true }))).toMatchObject({ reason: "encrypted" });
  });

  test("a cut or broken one fails with a reason", async ({ expect }) => {
    const whole = makePdf(["Some text"]);
    const cut = await extractFile("a.pdf", whole.subarray(0, 60));
    expect(cut).toMatchObject({ state: "no_text", reason: "failed", mimeType: "application/pdf" });
    expect(await extractFile("a.pdf", "%PDF-1.7\nnothing behind it")).toMatchObject({ reason: "failed" });
  });

  test("a page tree that claims a thousand million pages ends soon", async ({ expect }) => {
    const result = await extractFile("a.pdf", makePdf(["Only one"], { pageCount: 1_000_000_000 }));
    expect(result.state === "ok" ? result.text : result.reason).toMatch(/Only one|failed/u);
  });

  test("its text is cut at the cap", async ({ expect }) => {
    const result = await textOf("a.pdf", makePdf(["a".repeat(50), "b".repeat(50), "c".repeat(50)]), {
      maxTextLength: 80,
    });
    expect(result.text.length).toBe(80);
    expect(result.properties["truncated"]).toBeDefined();
  });
});

describe("PDF with fonts of Asia that are not in the file", () => {
  test.for([
    ["90ms-RKSJ-H", "Japan1", "shift_jis", "会議は火曜日に延期"],
    ["EUC-H", "Japan1", "euc-jp", "契約書の締結"],
    ["UniJIS-UCS2-H", "Japan1", "utf-16be", "御請求書在中"],
    ["GBK-EUC-H", "GB1", "gbk", "会议推迟到星期二"],
    ["UniGB-UCS2-H", "GB1", "utf-16be", "合同审批流程"],
    ["ETen-B5-H", "CNS1", "big5", "會議延期到星期二"],
    ["UniCNS-UTF16-V", "CNS1", "utf-16be", "董事會決議"],
    ["KSCms-UHC-H", "Korea1", "euc-kr", "회의가 화요일로 연기"],
    ["UniKS-UTF16-H", "Korea1", "utf-16be", "계약서 검토"],
  ] as const)("%s is read", async ([encoding, ordering, codec, words], { expect }) => {
    const { text } = await textOf("a.pdf", makeAsianPage(encoding, ordering, iconv.encode(words, codec)));
    expect(text).toBe(`[Page 1]\n${words}\n`);
  });

  test("a page whose font can't be read is told, and is no scan", async ({ expect }) => {
    const page = makeAsianPage("No-Such-Table-H", "Japan1", bytesOf("words"));
    expect(await extractFile("a.pdf", page)).toMatchObject({
      reason: "empty",
      message: "The PDF has text in fonts that kb can't read, on 1 of 1 pages, and no other text.",
    });
    const mixed = makePage({
      content: "BT /F1 12 Tf 72 720 Td (seen) Tj /F9 12 Tf (lost) Tj ET",
      annotations: ["/Subtype /Text /Contents (noted)"],
    });
    const { text, properties } = await textOf("a.pdf", mixed);
    expect(text).toContain("noted");
    expect(properties).toEqual({ pages: "1", pagesWithUnreadableFonts: "1" });
  });
});

describe("what people wrote into a PDF", () => {
  const field = (more: string) => `/Subtype /Widget /F 4 ${more}`;

  test("values of its form are read by what the form calls them", async ({ expect }) => {
    const annotations = [
      field("/FT /Tx /T (surname) /TU (Nachname) /V (Oberhuber)"),
      field("/FT /Tx /Ff 4096 /T (remark) /V (first line\\rsecond line)"),
      field("/FT /Ch /Ff 131072 /T (state) /Opt [[(ti) (Tirol)] [(sa) (Salzburg)]] /V (ti)"),
      field("/FT /Ch /Ff 2097152 /T (languages) /Opt [(German) (Turkish)] /V [(German) (Turkish)]"),
      field("/FT /Btn /T (agreed) /V /Yes /AS /Yes /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>"),
      field("/FT /Btn /T (newsletter) /V /Off /AS /Off /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>"),
      field("/FT /Tx /T (empty)"),
    ];
    const { text } = await textOf("form.pdf", makePage({ content: linesOf(["Application"]), annotations }));
    expect(text.split("\n").slice(1)).toEqual([
      "Application",
      "",
      "Nachname: Oberhuber",
      "remark: first line",
      "second line",
      "state: Tirol",
      "languages: German, Turkish",
      "agreed: Yes",
      "",
    ]);
  });

  test("a form without other text is no scan", async ({ expect }) => {
    const { text } = await textOf("form.pdf", makePage({ annotations: [field("/FT /Tx /T (a) /V (only value)")] }));
    expect(text).toBe("[Page 1]\na: only value\n");
  });

  test("passwords, signatures, buttons and what viewers do not show stay out", async ({ expect }) => {
    const annotations = [
      field("/FT /Tx /Ff 8192 /T (pin) /V (outword)"),
      field("/FT /Sig /T (signed) /V << /Type /Sig /Contents <00> /Name (outword) >>"),
      field("/FT /Btn /Ff 65536 /T (send) /V (outword)"),
      "/Subtype /Widget /F 2 /FT /Tx /T (a) /V (outword)",
      "/Subtype /Widget /F 32 /FT /Tx /T (b) /V (outword)",
      "/Subtype /Text /F 2 /Contents (outword)",
      "/Subtype /Text /F 32 /Contents (outword)",
      "/Subtype /Link /Contents (outword) /A << /S /JavaScript /JS (outword) >>",
      field("/FT /Tx /T (in) /V (inword)"),
    ];
    const { text } = await textOf("form.pdf", makePage({ annotations }));
    expect(text).toBe("[Page 1]\nin: inword\n");
  });

  test("comments are read with who wrote them, once", async ({ expect }) => {
    const annotations = [
      "/Subtype /Text /T (Marie) /Contents (Check the notice period)",
      "/Subtype /Highlight /QuadPoints [50 720 300 720 50 700 300 700] /Contents (too long)",
      "/Subtype /FreeText /DA (/F1 12 Tf) /Contents (in the margin)",
      "/Subtype /Popup /Contents (Check the notice period)",
    ];
    const { text } = await textOf("a.pdf", makePage({ content: linesOf(["Lease"]), annotations }));
    expect(text).toBe("[Page 1]\nLease\n\nMarie: Check the notice period\ntoo long\nin the margin\n");
  });

  test("secrets in values and names are masked", async ({ expect }) => {
    const key = `AKIA${"Q7RZ".repeat(4)}`;
    const spec = `<< /Type /Filespec /F (${key}.txt) /EF << /F 6 0 R >> >>`;
    const page = makePage({
      annotations: [field(`/FT /Tx /T (key) /V (${key})`)],
      catalog: `/Names << /EmbeddedFiles << /Names [(a) ${spec}] >> >>`,
      more: [stream("words")],
    });
    const { text, children } = await textOf("a.pdf", page);
    expect(text + (children?.[0]?.fileName ?? "")).not.toContain(key);
    expect(text).toContain("key: [removed: aws key]");
  });

  test("files in it are parts, each once, also where it has no text", async ({ expect }) => {
    const spec = "<< /Type /Filespec /F (invoice.xml) /EF << /F 6 0 R >> >>";
    const page = makePage({
      annotations: [`/Subtype /FileAttachment /FS ${spec}`, "/Subtype /FileAttachment /FS << /F (gone.txt) >>"],
      catalog: `/Names << /EmbeddedFiles << /Names [(a) ${spec}] >> >>`,
      more: [stream("<r>inside</r>")],
    });
    const { text, children, sections, properties } = await textOf("a.pdf", page);
    expect(text).toBe("Attachments:\n- invoice.xml\n");
    expect(sections.map(({ name }) => name)).toEqual(["Attachments"]);
    expect(properties).toEqual({ pages: "1", attachments: "1" });
    expect(children).toMatchObject([{ id: "1/invoice.xml", fileName: "invoice.xml" }]);
  });

  test("more files than the bounds allow are named and counted", async ({ expect }) => {
    const names = Array.from(
      { length: 1_003 },
      (_, at) => `(a${at}) << /Type /Filespec /F (f${at}.txt) /EF << /F 6 0 R >> >>`,
    );
    const page = makePage({
      catalog: `/Names << /EmbeddedFiles << /Names [${names.join(" ")}] >> >>`,
      more: [stream("x")],
    });
    const { text, children, properties } = await textOf("a.pdf", page);
    expect(children).toHaveLength(1_000);
    expect(properties).toEqual({ pages: "1", attachments: "1003", attachmentsLeftOut: "3" });
    expect(text).toContain("- f1002.txt");
  });
});

describe("a hyphen that its font calls soft", () => {
  const font = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 6 0 R";
  const table = (entries: string) =>
    `/CIDInit /ProcSet findresource begin begincmap /CMapName /A def 1 begincodespacerange <00> <7F> endcodespacerange ${entries} endcmap end`;
  const content = linesOf(["ordered micro~", "scopes on 2024~05~01"]);
  const TABLES = [
    "1 beginbfchar <7E> <00AD> endbfchar",
    "2 beginbfrange <20> <7D> <0020> <7E> <7F> [<00ad> <0041>] endbfrange",
    "1 beginbfrange <20> <7D> <0020> endbfrange\n1 beginbfrange <7D> <7F> <00AC> endbfrange",
  ];

  test.for(TABLES)("is one: %s", async (entries, { expect }) => {
    const packed = deflateSync(table(entries)).toString("latin1");
    for (const cmap of [
      stream(table(entries)),
      stream(packed, "/Filter /FlateDecode"),
      stream(packed, "/Filter [/FlateDecode]"),
    ]) {
      const { text } = await textOf("a.pdf", makePage({ content, font, more: [cmap] }));
      expect(text).toBe("[Page 1]\nordered micro-\u00adscopes\non 2024-05-01\n");
    }
  });

  test("changes no other bytes of the file, and takes a time that its length tells", ({ expect }) => {
    const other = Buffer.from(stream("<7E> <00AD> begincmap beginbfchar <7E> <00AD>", "/Type /XObject /Subtype /Form"));
    const before = Buffer.from(other);
    writeDrawnHyphens(other);
    expect(other.equals(before)).toBe(true);
    const many = Buffer.from("1 0 obj<<>>stream\nbegincmap beginbfrange <01><02>[".repeat(20_000));
    writeDrawnHyphens(many);
    expect(many.includes("beginbfrange")).toBe(true);
  });
});

describe("text of a PDF", () => {
  const wordsOf = (text: string) => analyzeDocument({ title: "", path: [], labels: [], text }).terms.split("\n");

  test("a word that a line's end divides is found whole and by its parts", async ({ expect }) => {
    const lines = [
      "They ordered micro-",
      "scopes, a well-",
      "known pump, the Nord-",
      "Bahn and DIVI-",
      "DENDS of 1990-",
      "1999.",
    ];
    const { text } = await textOf("a.pdf", makePage({ content: linesOf(lines) }));
    expect(text.replaceAll("\u00ad", "~")).toBe(
      "[Page 1]\nThey ordered micro-~scopes,\na well-~known\npump, the Nord-\nBahn and DIVI-~DENDS\nof 1990-\n1999.\n",
    );
    expect(wordsOf(text)).toEqual(
      expect.arrayContaining([
        "=microscopes",
        "micro",
        "=scopes",
        "well",
        "known",
        "nord",
        "bahn",
        "=dividends",
        "1999",
      ]),
    );
    expect(wordsOf(text)).not.toContain("nordbahn");
  });

  test.for([
    ["line breaks", "\n\n"],
    ["an answer of HTTP", "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n"],
    ["words for a printer", "\x1b%-12345X@PJL JOB\r\n@PJL ENTER LANGUAGE=PDF\r\n"],
    ["the header of a Mac", `\0\x05a.pdf${"\0".repeat(121)}`],
    ["1,000 bytes", "noise on\r\n".repeat(100)],
  ] as const)("%s before its header are not its text", async ([, before], { expect }) => {
    const result = await textOf("a.pdf", after(before, makePage({ content: linesOf(["leading"]) })));
    expect(result).toMatchObject({ mimeType: "application/pdf", text: "[Page 1]\nleading\n" });
  });

  test("a text about PDF files is none", async ({ expect }) => {
    const about = 'A file begins with "%PDF-1.7" and ends with "%%EOF".\n\n1 0 obj starts an object.\n';
    expect((await textOf("a.txt", about)).mimeType).toBe("text/plain");
    expect((await textOf("a.ts", 'let file = "%PDF-1.4\\n1 0 obj";\n// %%EOF\n')).mimeType).toBe("text/x-typescript");
  });

  test("words of one line that stand apart are two", async ({ expect }) => {
    const content =
      "BT /F1 12 Tf 72 720 Td (Contents) Tj ET BT /F1 12 Tf 130 720 Td (.......) Tj ET BT /F1 12 Tf 400 720 Td (17) Tj ET";
    expect((await textOf("a.pdf", makePage({ content }))).text).toBe("[Page 1]\nContents ....... 17\n");
  });
});
