/** The name of a folder as people read it: most servers write it in a UTF-7 of their own. Source: RFC 3501 §5.1.3. */
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

const WORD = /=\?([\w.:-]{1,40})(?:\*[\w-]*)?\?([BQbq])\?([^?\s]*)\?=/g;

/** A header with its encoded words read. Source: RFC 2047. */
export function headerText(bytes: Buffer | null): string {
  const raw = bytes?.toString("utf8") ?? "";
  return raw
    .replace(/(\?=)\s+(?==\?)/g, "$1")
    .replace(WORD, (all, charset: string, encoding: string, coded: string) => {
      const text = encoding.toUpperCase() === "B" ? Buffer.from(coded, "base64") : fromQ(coded);
      try {
        return new TextDecoder(charset).decode(text);
      } catch {
        return all;
      }
    })
    .replace(/\s+/g, " ")
    .trim();
}

function fromQ(coded: string): Buffer {
  const text = coded
    .replaceAll("_", " ")
    .replace(/=([0-9A-Fa-f]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(text, "latin1");
}
