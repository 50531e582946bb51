import { describe, test } from "vitest";
import { extractFile, makePdf, textOf } from "../documents.ts";
import { makeDocx, makeOdf, makeXlsx, wordParagraph } from "../office-files.ts";
import { makeZip } from "../zip-files.ts";

describe("a chunk of another document in Word's", () => {
  const chunk = (name: string, content: string | Uint8Array) => {
    const body = `${wordParagraph("before")}<w:altChunk r:id="c1"/>${wordParagraph("after")}`;
    return makeDocx({ body, rels: { c1: `aFChunk ${name}` }, parts: { [`word/${name}`]: content } });
  };
  const MHT = `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="m"\r\n\r\n--m\r\nContent-Type: text/html; charset="windows-1252"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Se=F1or <b>chu</b>nk</p>\r\n--m--\r\n`;

  test.for([
    ["HTML", "c.html", "<html><body><p>Señor <b>chu</b>nk</p></body></html>"],
    ["HTML that names its encoding", "c.htm", Buffer.from(`<meta charset="windows-1252"><p>Señor chunk</p>`, "latin1")],
    ["a saved page", "c.mht", MHT],
    ["a saved page under another name", "c.dat", MHT],
    ["Word", "c.docx", makeDocx({ body: wordParagraph("Señor chunk") })],
    ["RTF", "c.rtf", "{\\rtf1\\ansi Se\\'f1or chunk\\par}"],
    ["plain text", "c.txt", "Señor chunk"],
    ["plain text of UTF-16", "c.txt", Buffer.from("\ufeffSeñor chunk", "utf16le")],
  ] as const)("that is %s is read where it is", async ([, name, content], { expect }) => {
    expect((await textOf("a.docx", chunk(name, content))).text).toBe("before\n\nSeñor chunk\n\nafter\n");
  });

  test("ends after three documents in each other, and where it is broken", async ({ expect }) => {
    let inner = makeDocx({ body: wordParagraph("level9") });
    for (let level = 8; level >= 1; level--) {
      const body = `${wordParagraph(`level${level}`)}<w:altChunk r:id="c1"/>`;
      inner = makeDocx({ body, rels: { c1: "aFChunk c.docx" }, parts: { "word/c.docx": inner } });
    }
    const { text } = await textOf("a.docx", inner);
    expect(text.match(/level\d/gu)).toEqual(["level1", "level2", "level3", "level4"]);
    const broken = await textOf("a.docx", chunk("c.docx", Buffer.from("PK\u0003\u0004broken")));
    expect(broken.text).toBe("before\n\nafter\n");
  });
});

describe("a document without text keeps what it says of itself", () => {
  const core = `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Umowa Łódź</dc:title><dc:creator>Ana</dc:creator></cp:coreProperties>`;
  const about = { title: "Umowa Łódź", properties: { author: "Ana" } };

  test.for([
    ["a.docx", makeDocx({ body: "", parts: { "docProps/core.xml": core } }), about],
    [
      "a.odt",
      makeOdf("text", { body: "", meta: "<dc:title>Umowa Łódź</dc:title><dc:creator>Ana</dc:creator>" }),
      about,
    ],
    [
      "a.html",
      `<html lang="pl"><head><title>Umowa Łódź</title><meta name="author" content="Ana"></head><body><div></div></body></html>`,
      { ...about, language: "pl" },
    ],
    [
      "a.pdf",
      makePdf([""], { info: { Title: "Umowa", Author: "Ana" } }),
      { title: "Umowa", properties: { author: "Ana", pages: "1" } },
    ],
    ["a.md", "---\ntitle: Umowa Łódź\nauthor: Ana\n---\n", about],
    ["a.xlsx", makeXlsx([{ name: "S", rows: "" }]), { properties: { sheets: "1" } }],
  ] as const)("%s", async ([name, content, expected], { expect }) => {
    const more = { hasFileTitle: true } as const;
    const result = await extractFile(name, content, {}, more);
    expect(result).toMatchObject({ state: "no_text", reason: "empty", ...expected });
    const without = await extractFile(name, name.endsWith("xlsx") ? "" : content, {});
    if ("title" in expected) expect(result.analyzed.length).toBeGreaterThan(without.analyzed.length);
  });

  test("a secret in its title is taken out", async ({ expect }) => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    const result = await extractFile(
      "a.html",
      `<title>${token}</title><meta name="author" content="${token}"><body></body>`,
    );
    expect(JSON.stringify(result)).not.toContain(token);
    expect(result).toMatchObject({ maskedSecrets: 1 });
  });
});

test.for([
  ["Apple Pages", "a.pages", ["Index/Document.iwa", "Metadata/Properties.plist"]],
  ["Apple Pages", "letter.zip", ["letter.pages/Index.zip", "letter.pages/buildVersionHistory.plist"]],
  ["Apple Numbers", "a.numbers", ["Index/CalculationEngine.iwa", "Index/Document.iwa"]],
  ["Apple Keynote", "a.key", ["Index/Slide-123.iwa", "Index/Document.iwa"]],
  ["Apple Keynote", "talk", ["index.apxl", "QuickLook/Thumbnail.jpg"]],
  ["XPS", "a.oxps", ["FixedDocumentSequence.fdseq", "[Content_Types].xml"]],
  ["WACZ", "a.wacz", ["datapackage.json", "archive/data.warc.gz"]],
] as const)("%s is said by its name (%s), its members are none", async ([label, name, members], { expect }) => {
  const zip = makeZip(Object.fromEntries(members.map((member) => [member, "words"])));
  const result = await extractFile(name, zip, {}, { readsArchives: true });
  expect(result).toMatchObject({ state: "no_text", reason: "unsupported_type" });
  expect(result.state === "no_text" && result.message).toContain(`kb can't read text from ${label} files`);
});

test("an archive with a folder called Index stays one", async ({ expect }) => {
  const zip = makeZip({ "Index/a.txt": "words", "index.xml": "<a/>" });
  const result = await extractFile("a.zip", zip, {}, { readsArchives: true });
  expect(result).toMatchObject({ state: "ok" });
});

describe("calendars and cards", () => {
  test("have whole letters where a line is folded within one", async ({ expect }) => {
    const folded = (text: string) => Buffer.from(text.replace("|", "\r\n "), "latin1");
    const words = Buffer.from("SUMMARY:Grüße aus Łódź").toString("latin1");
    for (const at of [words.indexOf("\xc3") + 1, words.indexOf("\xc5") + 1]) {
      const line = folded(`${words.slice(0, at)}|${words.slice(at)}`);
      const file = Buffer.concat([
        Buffer.from("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n"),
        line,
        Buffer.from("\r\nEND:VEVENT\r\n"),
      ]);
      expect((await textOf("a.ics", file)).title).toBe("Grüße aus Łódź");
    }
  });

  test("have whole lines, breaks and a title", async ({ expect }) => {
    const ics =
      'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY;LANGUAGE=pl:Spotkanie kwar\r\n talne\\, Łódź\r\nATTENDEE;CN="Ana: lead":mailto:ana@one.test\r\nDESCRIPTION:first\\nsecondword\r\nATTACH;ENCODING=BASE64;VALUE=BINARY:QUJDRA==\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n';
    const result = await textOf("a.ics", ics);
    expect(result.title).toBe("Spotkanie kwartalne, Łódź");
    expect(result.text).toContain("SUMMARY:Spotkanie kwartalne, Łódź\n");
    expect(result.text).toContain("ATTENDEE:Ana: lead <ana@one.test>\nDESCRIPTION:first\nsecondword\n");
    expect(result.text).not.toContain("QUJDRA");
  });

  test("of several people are sections; old ones are decoded", async ({ expect }) => {
    const vcf =
      "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCrgen=\n =20Groß\nPHOTO;ENCODING=BASE64;JPEG:\n AAAA\n\nEND:VCARD\nBEGIN:VCARD\nitem1.FN:Zoë\nEND:VCARD\n";
    const result = await textOf("people.vcf", vcf);
    expect(result.sections.map(({ name }) => name)).toEqual(["Jürgen Groß", "Zoë"]);
    expect(result.title).toBeUndefined();
    expect(result.text).not.toContain("AAAA");
  });
});
