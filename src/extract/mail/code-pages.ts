/** Returns the encoding of a Windows code page by its number. */
export function charsetOfCodePage(page: number): string {
  return CHARSETS[page] ?? `windows-${page}`;
}

/** Code pages with names other than `windows-…`. */
const CHARSETS: Readonly<Record<number, string>> = {
  20127: "us-ascii",
  65001: "utf-8",
  932: "shift_jis",
  936: "gb18030",
  949: "euc-kr",
  950: "big5",
  20866: "koi8-r",
  28591: "iso-8859-1",
  28592: "iso-8859-2",
  50220: "iso-2022-jp",
  50221: "iso-2022-jp",
  51932: "euc-jp",
  51949: "euc-kr",
};
