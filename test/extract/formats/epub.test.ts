import { describe, test } from "vitest";
import { extractFile, textOf } from "../documents.ts";
import { makeEpub } from "../office-files.ts";
import { makeZip } from "../zip-files.ts";

describe("an EPUB book", () => {
  test("is read in the order of its spine, with its headings as sections", async ({ expect }) => {
    const chapters = { "b.xhtml": "<h1>First</h1><p>One</p>", "a.xhtml": "<h1>Second</h1><h2>Part</h2><p>Two</p>" };
    const result = await textOf("a.epub", makeEpub(chapters));
    expect(result.text).toBe("# First\n\nOne\n\n# Second\n\n## Part\n\nTwo\n");
    expect(result.sections.map(({ name, start }) => [name, result.text.slice(start, start + 4)])).toEqual([
      ["First", "# Fi"],
      ["Second", "# Se"],
      ["Part", "## P"],
    ]);
  });

  test("a chapter without a heading has its title from the table of contents, old or new", async ({ expect }) => {
    const chapters = { "a b.xhtml": "<p>One</p>", "c.xhtml": "<p>The second</p><p>Two</p>" };
    const contents = '<a href="a%20b.xhtml#x">The <i>first</i></a><a href="c.xhtml">The second</a>';
    const result = await textOf("a.epub", makeEpub(chapters, { contents }));
    expect(result.text).toBe("# The first\n\nOne\n\nThe second\n\nTwo\n");
    expect(result.sections.map(({ name }) => name)).toEqual(["The first", "The second"]);
  });

  test("empty elements of XHTML do not swallow the text", async ({ expect }) => {
    const result = await textOf(
      "a.epub",
      makeEpub({ "a.xhtml": '<a id="x"/><p>One <br/>two<script src="x"/> three</p>' }),
    );
    expect(result.text).toBe("One\ntwo three\n");
  });

  test("its properties are read", async ({ expect }) => {
    const head =
      "<dc:title>The book</dc:title><dc:creator>Ana</dc:creator><dc:creator>Bo</dc:creator><dc:language>en-GB</dc:language><dc:publisher>One</dc:publisher><dc:subject>x</dc:subject>";
    const result = await textOf("a.epub", makeEpub({ "a.xhtml": "<p>x</p>" }, { head }));
    expect(result).toMatchObject({ title: "The book", language: "en" });
    expect(result.properties).toEqual({ author: "Ana, Bo", publisher: "One", keywords: "x", chapters: "1" });
  });

  test("with copy protection is encrypted; disguised fonts are no matter", async ({ expect }) => {
    const encryption = (name: string) =>
      `<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData><enc:CipherReference URI="${name}"/></enc:CipherData></enc:EncryptedData></encryption>`;
    const book = (name: string) =>
      makeEpub({ "a.xhtml": "<p>x</p>" }, { parts: { "META-INF/encryption.xml": encryption(name) } });
    expect(await extractFile("a.epub", book("OEBPS/a.xhtml"))).toMatchObject({ reason: "encrypted" });
    expect(await extractFile("a.epub", book("OEBPS/font.otf"))).toMatchObject({ state: "ok" });
  });

  test("without its package file fails", async ({ expect }) => {
    expect(await extractFile("a.epub", makeZip({ mimetype: "application/epub+zip" }))).toMatchObject({
      reason: "failed",
      message: "The file can't be read as application/epub+zip: the book has no package file.",
    });
  });
});
