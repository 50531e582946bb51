import iconv from "iconv-lite";

/**
 * Returns the encoding that a name declares, for bytes in which ASCII characters are ASCII. Names are read as browsers
 * read them: Latin-1 is treated as Windows-1252. UTF-16 and UTF-32 are detected by the bytes. A declaration of them
 * that could be read in single bytes is wrong, so it is ignored.
 *
 * @returns a name that iconv-lite knows, in lower case; undefined for UTF-8, ASCII, and meaningless names
 * Source: https://encoding.spec.whatwg.org/#names-and-labels
 */
export function readableName(name: string | undefined): string | undefined {
  const lower = lowerName(name).trim();
  const label = labelOf(lower);
  if (label === "" || isUtf8Name(lower) || NO_ENCODING.test(label)) return undefined;
  const read = LABELS[label] ?? lower;
  return read === ISO_2022_JP || iconv.encodingExists(read) ? read : undefined;
}

/** True for a name of UTF-8, or of ASCII, which is a part of UTF-8. */
export function isUtf8Name(name: string | undefined): boolean {
  return UTF_8.test(labelOf(lowerName(name)));
}

/** An encoding that iconv-lite doesn't support and the platform does. */
export const ISO_2022_JP = "iso-2022-jp";

/** Decodes chunks of bytes one after the other; a character may be split between two chunks. */
export interface TextPieces {
  write(bytes: Uint8Array): string;
  end(): string;
}

/**
 * Decodes chunks in the encoding with this name, or in UTF-8. iconv-lite decodes the others, because the platform's
 * decoder treats Windows-1252 as ISO Latin-1, which has no euro sign.
 */
export function makeTextPieces(name: string | undefined): TextPieces {
  const read = WIDE.test(labelOf(lowerName(name))) ? name : readableName(name);
  if (read === undefined || read === ISO_2022_JP) return platformPieces(read ?? "utf-8");
  const decoder = iconv.getDecoder(read);
  return {
    write: (bytes) => decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    end: () => decoder.end() ?? "",
  };
}

function platformPieces(name: string): TextPieces {
  const decoder = new TextDecoder(name);
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

/** Limit in characters of an encoding's name; real names aren't half as long. */
const MOST_NAME_CHARS = 60;

/** Returns an encoding's name in the form used for comparison, without characters that no such name has. */
export function lowerName(name: string | undefined): string {
  return name?.slice(0, MOST_NAME_CHARS).toLowerCase() ?? "";
}

/** Returns the name as iconv-lite compares names: letters and digits only. */
function labelOf(lower: string): string {
  return lower.replaceAll(/[^0-9a-z]/gu, "");
}

const UTF_8 = /^(?:x?(?:unicode\d\d)?utf8(?:mb[34])?|(?:us)?ascii|iso646us|ansix341968)$/u;
const WIDE = /^(?:utf16|utf32)(?:le|be)$/u;
/** Names that iconv-lite knows but that aren't encodings, and encodings in which ASCII characters aren't ASCII. */
const NO_ENCODING = /^(?:base64|hex|binary|internal|cesu8|utf7.*|utf16.*|utf32.*|ucs.*|unicode.*|iso10646.*)$/u;

const WESTERN = "windows-1252";
/** Labels that iconv-lite doesn't know, or maps to a smaller encoding. */
const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["iso88591", "iso885911987", "latin1", "l1", "isoir100", "cp819", "ibm819", "xcp1252"].map((label) => [
      label,
      WESTERN,
    ]),
  ),
  iso88599: "windows-1254",
  latin5: "windows-1254",
  tis620: "windows-874",
  iso885911: "windows-874",
  iso88598i: "iso-8859-8",
  iso88596e: "iso-8859-6",
  iso88596i: "iso-8859-6",
  xmaccyrillic: "maccyrillic",
  xmacukrainian: "macukraine",
  xmacroman: "macintosh",
  xsjis: "shift_jis",
  csshiftjis: "shift_jis",
  mskanji: "shift_jis",
  xeucjp: "euc-jp",
  gb2312: "gb18030",
  gbk: "gb18030",
  xgbk: "gb18030",
  xxbig5: "big5",
  csiso2022jp: ISO_2022_JP,
};
