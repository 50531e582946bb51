import iconv from "iconv-lite";
import { describe, test } from "vitest";
import { decodeText } from "#extract/decode.ts";
import { bytesOf, textOf } from "./documents.ts";

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
