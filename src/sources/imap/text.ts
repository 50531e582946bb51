import { isUtf8 } from "node:buffer";
import { decodeNamed, decodeWords } from "#core/encoded-words.ts";

/** Decodes the displayed name of a folder, which most servers encode in a modified UTF-7. Source: RFC 3501 §5.1.3. */
export function folderText(name: string): string {
  return name.replace(/&([A-Za-z0-9+,]*)-/g, (_all, coded: string) => {
    if (coded === "") return "&";
    const bytes = Buffer.from(coded.replaceAll(",", "/"), "base64");
    return bytes
      .subarray(0, bytes.length & ~1)
      .swap16()
      .toString("utf16le");
  });
}

/**
 * Decodes a header with its encoded words. Bytes above ASCII are UTF-8, or otherwise Windows-1252. Source: RFC 2047,
 * RFC 6532.
 */
export function headerText(bytes: Buffer | null): string {
  const raw = bytes === null ? "" : isUtf8(bytes) ? bytes.toString("utf8") : western(bytes);
  return decodeWords(raw, decodeWord).replace(/\s+/gu, " ").trim();
}

function decodeWord(bytes: Buffer, charset: string): string | undefined {
  return decodeNamed(bytes, charset) ?? (PLAIN.has(charset) ? western(bytes) : undefined);
}

const PLAIN: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii", "ascii"]);

/** Decodes Windows-1252. Node's own decoder reads it as Latin-1, which has no euro sign. */
function western(bytes: Buffer): string {
  return decodeNamed(bytes, "windows-1252") ?? "";
}
