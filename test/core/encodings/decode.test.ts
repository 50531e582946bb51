import iconv from "iconv-lite";
import { describe, test } from "vitest";
import { decodeText } from "#core/encodings/decode.ts";
import { bytesOf, extractFile, textOf } from "../../extract/documents.ts";
import { makeBroken, makeMore, makeSnippets, type Snippet } from "../../extract/snippets.ts";

const RUSSIAN =
  "Съешь же ещё этих мягких французских булок да выпей чаю. Широкая электрификация южных губерний даст мощный толчок подъёму сельского хозяйства.";
const JAPANESE =
  "これは日本語の文章です。検索サービスは文字コードを正しく判定しなければなりません。東京都の天気は晴れです。";
const CHINESE =
  "这是一个用于测试编码检测的中文文本。搜索服务必须正确识别文件的编码，否则无法找到任何内容。今天天气很好。";
const GERMAN =
  "Falsches Üben von Xylophonmusik quält jeden größeren Zwerg. Die Straße führt über den Fluß, während die Bäume blühen.";

describe("decodeText", () => {
  test.for([
    ["koi8-r", RUSSIAN],
    ["windows-1251", RUSSIAN],
    ["shift_jis", JAPANESE],
    ["euc-jp", JAPANESE],
    ["iso-2022-jp", JAPANESE],
    ["gb18030", CHINESE],
    ["big5", "這是一個用於測試編碼檢測的中文文本。搜尋服務必須正確識別檔案的編碼，否則無法找到任何內容。"],
    ["windows-1252", GERMAN],
    ["utf-16le", GERMAN],
    ["utf-16be", GERMAN],
    ["utf-32le", GERMAN],
    ["utf-32be", GERMAN],
    ["utf-32le", RUSSIAN],
    ["utf-32be", JAPANESE],
    ["koi8-u", "Звіт про продажі за третій квартал підготовлено вчасно, єдиною їдальнею."],
  ] as const)("reads %s without a byte order mark", ([encoding, text], { expect }) => {
    // iconv-lite reads ISO-2022-JP no more than it writes it: the platform's decoder does.
    const bytes =
      encoding === "iso-2022-jp" ? bytesOf("\x1b$B$3$l$OF|K\\8l\x1b(B", "latin1") : iconv.encode(text, encoding);
    const decoded = decodeText(bytes, 1_000_000);
    expect(decoded?.text).toBe(encoding === "iso-2022-jp" ? "これは日本語" : text);
  });

  test.for(["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"])(
    "reads %s with a byte order mark, which is no text",
    (encoding, { expect }) => {
      const decoded = decodeText(iconv.encode(CHINESE, encoding, { addBOM: true }), 1_000_000);
      expect(decoded).toEqual({ text: CHINESE, encoding, isCut: false });
    },
  );

  test("keeps UTF-8 with one broken place in four, and numbers of 32 bits are no text", ({ expect }) => {
    const words = "Überprüfung der Grundstücksverträge in der Geschäftsstelle, où l'évaluation française précède. ";
    const bytes = Buffer.concat([bytesOf(words), Buffer.from([0xff, 0x20, 0xfe, 0x20, 0xe4, 0x20]), bytesOf("Ende")]);
    expect(decodeText(bytes, 1_000_000)).toMatchObject({ encoding: "utf-8", text: expect.stringContaining(words) });
    const numbers = Buffer.from(Uint32Array.from({ length: 500 }, (_, n) => 0x400 + ((n * 7919) % 40_000)).buffer);
    expect(decodeText(numbers, 1_000_000)?.encoding ?? "none").not.toMatch(/utf-32/u);
  });

  test("keeps UTF-8 with a few broken bytes as UTF-8", ({ expect }) => {
    const bytes = Buffer.concat([bytesOf(RUSSIAN), Buffer.from([0xd0, 0x20, 0xff]), bytesOf(RUSSIAN)]);
    const decoded = decodeText(bytes, 1_000_000);
    expect(decoded?.encoding).toBe("utf-8");
    expect(decoded?.text).toContain("\ufffd");
    expect(decoded?.text.startsWith(RUSSIAN)).toBe(true);
  });

  test("follows what a document declares before statistics", ({ expect }) => {
    expect(decodeText(Uint8Array.of(0x41, 0xa4), 100, "iso-8859-15")?.text).toBe("A€");
  });

  test("says that bytes with many control characters are no text", ({ expect }) => {
    expect(
      decodeText(
        Uint8Array.from({ length: 1_000 }, (_, index) => index % 32),
        1_000_000,
      ),
    ).toBeUndefined();
  });

  test("does not decode far more than is wanted, and cuts no character", async ({ expect }) => {
    const decoded = decodeText(bytesOf("ä".repeat(100_001)), 50_000);
    expect(decoded?.isCut).toBe(true);
    expect(decoded?.text).toBe("ä".repeat(100_000));
    const result = await textOf("a.txt", "😀".repeat(1_000), { maxTextLength: 301 });
    expect(result.text).toBe("😀".repeat(150));
    expect(result.properties["truncated"]).toBe("Only the first 300 characters were read.");
  });
});

describe("an encoding that nothing names", () => {
  const wrong = (snippets: readonly Snippet[]) =>
    snippets
      .filter(({ bytes, text }) => decodeText(bytes, 1_000_000)?.text !== text)
      .map(({ encoding, length, text }) => `${encoding}, ${length}: ${text.slice(0, 40)}`);

  test("is found for 420 snippets of 20 encodings, three lengths and seven texts", ({ expect }) => {
    const snippets = makeSnippets();
    expect(snippets).toHaveLength(420);
    expect(wrong(snippets)).toEqual([]);
  });

  test("is found for Korea's seven-bit one and UTF-16 without its mark", ({ expect }) => {
    expect(wrong(makeMore())).toEqual([]);
  });

  test.for([1, 3, 10])("is UTF-8 with %d broken bytes", (count, { expect }) => {
    for (const { bytes } of makeBroken(count)) expect(decodeText(bytes, 1_000_000)?.encoding).toBe("utf-8");
  });

  test.for([
    ["windows-1252", "“Hello” – it’s fine, £100 per m²"],
    ["windows-1252", "Ingatlan: 5 €"],
    ["windows-1251", "ПРИКАЗ О НАЗНАЧЕНИИ"],
    ["koi8-r", "ВСЕМ СОТРУДНИКАМ ОТДЕЛА"],
    ["cp866", "╔══════╗\n║ Итого ║\n╚══════╝\nвсего продано товаров"],
    ["cp437", "┌───┐\n│ a │\n└───┘"],
    ["windows-1257", "Lietuvių kalba yra graži"],
    ["windows-874", "ภาษาไทยเป็นภาษาราชการ"],
    ["shift_jis", "売上表"],
    ["euc-jp", "売上表を更新"],
    ["euc-kr", "재고 목록"],
    ["gb18030", "采购订单编号"],
  ] as const)("%s is found by few letters: %s", ([encoding, text], { expect }) => {
    expect(decodeText(iconv.encode(text, encoding), 1_000)?.text).toBe(text);
  });

  test("a character that the end of the sample cuts counts for nothing", ({ expect }) => {
    const text = `${"会议推迟到星期二".repeat(700)}完`;
    for (const start of ["", "a"]) {
      const bytes = iconv.encode(start + text, "gb18030");
      expect(decodeText(bytes, 1_000_000)?.text).toBe(start + text);
    }
  });
});

describe("an encoding that a document names", () => {
  test("is a field, of a table, too, unless it is UTF-8", async ({ expect }) => {
    const table = "Имя;Город\nИван;Москва\nОльга;Казань\n";
    const { properties } = await textOf("a.csv", iconv.encode(table, "windows-1251"));
    expect(properties).toEqual({ rows: "2", columns: "2", encoding: "windows-1251" });
    expect((await textOf("a.csv", table)).properties).toEqual({ rows: "2", columns: "2" });
  });

  test("is not UTF-8 where the bytes are not even mostly that", ({ expect }) => {
    const bytes = iconv.encode(RUSSIAN, "windows-1251");
    for (const name of ["utf-8", "UTF8", "us-ascii"]) expect(decodeText(bytes, 1_000, name)?.text).toBe(RUSSIAN);
  });

  test("stays UTF-8 where more than half of its characters are valid, whatever else is named", ({ expect }) => {
    const half = Buffer.concat([bytesOf("größer, Übergröße "), Buffer.from([0xff, 0x20, 0xfe])]);
    expect(decodeText(half, 1_000, "utf-8")?.encoding).toBe("utf-8");
    const stray = Buffer.concat([bytesOf(RUSSIAN), Buffer.from([0xff])]);
    expect(decodeText(stray, 1_000, "windows-1251")?.encoding).toBe("utf-8");
  });

  test("is read behind a long script, and not from one", async ({ expect }) => {
    const script = `<script>var a = '<meta charset="koi8-r">';${"/* filler */".repeat(1_000)}</script>`;
    const page = `<html><head>${script}<meta charset="iso-8859-15"></head><body><p>5 \u20ac</p></body></html>`;
    expect((await textOf("a.html", iconv.encode(page, "iso-8859-15"))).text).toContain("5 €");
  });
});

describe("an encoding that a page, a feed or XML names wrongly", () => {
  const xml = (name: string, text: string) =>
    `<?xml version="1.0" encoding="${name}"?>\n<data><row name="${text}">${text}</row></data>`;
  const feed = (name: string, text: string) =>
    `<?xml version="1.0" encoding="${name}"?><rss version="2.0"><channel><title>T</title><item><title>${text}</title></item></channel></rss>`;
  const page = (name: string, text: string) =>
    `<!doctype html><html><head><meta charset="${name}"><title>T</title></head><body><p>${text}</p></body></html>`;
  const late = (name: string, text: string) =>
    page(name, text).replace("<head>", `<head><script>${"x=1;".repeat(900)}</script>`);
  const WESTERN = `${GERMAN} – 5 €`;

  test.for([
    ["utf-16", "windows-1251", RUSSIAN],
    ["UCS-2", "windows-1252", WESTERN],
    ["unicode", "windows-1252", WESTERN],
    ["utf-32", "windows-1252", WESTERN],
    ["utf-7", "windows-1252", WESTERN],
    ["base64", "windows-1251", RUSSIAN],
    ["hex", "windows-1251", RUSSIAN],
    ["binary", "windows-1251", RUSSIAN],
    ["utf_8", "windows-1251", RUSSIAN],
    ["utf8mb4", "shift_jis", JAPANESE],
    ["no-such-9", "shift_jis", JAPANESE],
    ["iso-8859-1", "windows-1252", WESTERN],
    ["iso-8859-1", "utf-8", WESTERN],
    ["utf-16", "utf-8", RUSSIAN],
    ["no-such-9", "utf-8", JAPANESE],
    ["utf-8", "utf-16le", RUSSIAN],
    ["x-mac-cyrillic", "maccyrillic", RUSSIAN],
  ] as const)("%s is read as %s", async ([name, encoding, text], { expect }) => {
    for (const [fileName, make] of [
      ["a.xml", xml],
      ["a.rss", feed],
      ["a.html", page],
      ["b.html", late],
    ] as const)
      expect((await textOf(fileName, iconv.encode(make(name, text), encoding))).text, fileName).toContain(text);
  });

  test("of a part of a document is one that its bytes are in", async ({ expect }) => {
    const flat = (name: string) =>
      `<?xml version="1.0" encoding="${name}"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:p>${WESTERN}</text:p></office:text></office:body></office:document>`;
    for (const [name, encoding] of [
      ["iso-8859-1", "utf-8"],
      ["windows-1252", "windows-1252"],
      ["no-such-9", "utf-8"],
    ] as const)
      expect((await textOf("a.fodt", iconv.encode(flat(name), encoding))).text).toContain(WESTERN);
  });
});

describe("zeros", () => {
  const line = "2025-06-01 12:00 started\n";

  test.for([
    ["a block in a log", `${line.repeat(20)}${"\0".repeat(4_096)}${line.repeat(20)}`],
    ["a block at its beginning", `${"\0".repeat(40_000)}${line.repeat(20)}`],
    ["a block at its end", `${line.repeat(20)}${"\0".repeat(70_000)}`],
    ["one in a note", "first\0second"],
    ["one in two hundred bytes", `${"word ".repeat(40)}\0`.repeat(30)],
  ] as const)("%s are spaces", async ([, text], { expect }) => {
    const result = await textOf("a.log", text);
    expect(result.text).not.toContain("\0");
    expect(result.text.trim()).toBe(text.replaceAll(/\0+/gu, " ").trim());
  });

  test("a container whose head is text is binary, and said so", async ({ expect }) => {
    const noise = Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * at) % 251));
    const bytes = Buffer.concat([bytesOf("Name: value\n".repeat(400)), noise]);
    expect(await extractFile("a.p7m", bytes)).toMatchObject({ reason: "unsupported_type" });
  });

  test("programs, databases and random bytes stay binary", async ({ expect }) => {
    const names = ["id", "name", "created", "owner"].map((name) => name.padEnd(16, "\0")).join("");
    const table = Buffer.concat([bytesOf("TABL\u0003\0\0\0"), bytesOf(names.repeat(50))]);
    const records = Buffer.alloc(4_096);
    for (let at = 0; at < records.length; at += 8) records.writeUInt32LE(at * 7, at);
    const random = Uint8Array.from({ length: 4_096 }, (_, at) => ((at * 2_654_435_761) >>> 13) & 0xff);
    const strings = bytesOf(["main", "printf", "libc.so.6", "exit"].join("\0").repeat(100));
    for (const bytes of [table, records, random, strings])
      expect(await extractFile("a.dat", bytes)).toMatchObject({ reason: "unsupported_type" });
  });
});

describe("what is for a terminal", () => {
  test.for([
    ["colours", "\x1b[31mERROR\x1b[0m in \x1b[1;38;5;42mmodule\x1b[0m", "ERROR in module"],
    ["colours in a word", "mod\x1b[32mule", "module"],
    ["titles that end with BEL", "\x1b]0;my shell\x07$ make", "$ make"],
    ["titles that end with ST", "\x1b]2;my shell\x1b\\$ make", "$ make"],
    ["links, whose words stay", "see \x1b]8;;https://one.test/a\x1b\\the docs\x1b]8;;\x1b\\ now", "see the docs now"],
    ["a title without an end", "\x1b]0;half\nnext", "0;half\nnext"],
    ["places of the cursor", "one\x1b[20Gtwo\x1b[2;5Hthree\x1b[K", "one two three"],
    ["character sets", "\x1b(Bplain\x1b=", "plain"],
    ["words for a device", "a\x1bP1$r0m\x1b\\b", "ab"],
    ["bold and underlined letters of manuals", "N\bNA\bAM\bME\bE _\bw_\bo_\br_\bd", "NAME word"],
  ] as const)("%s go", async ([, raw, clean], { expect }) => {
    expect((await textOf("a.log", `${raw}\n`)).text).toBe(`${clean}\n`);
  });
});
