import { asBuffer } from "#core/as-buffer.ts";

/** Reads the parts of an Office document that is one XML file ("Flat OPC") by name: the XML of each part, or its bytes. */
export function readFlatPackage(bytes: Uint8Array): Map<string, Uint8Array> {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = asBuffer(bytes).toString(isWide ? "utf16le" : "utf8");
  const parts = new Map<string, Uint8Array>();
  const opening = /<pkg:part\s([^>]{0,2000})>/gu;
  for (let part = opening.exec(text); part !== null && parts.size < MAX_PARTS; part = opening.exec(text)) {
    const name = /\bpkg:name\s*=\s*["']\/?([^"']{1,500})["']/u.exec(part[1] ?? "")?.[1];
    const start = opening.lastIndex;
    const end = text.indexOf("</pkg:part>", start);
    if (name === undefined || end < 0) continue;
    const content = contentOf(text, start, end);
    if (content !== undefined) parts.set(name, content);
    opening.lastIndex = end;
  }
  return parts;
}

const MAX_PARTS = 20_000;

function contentOf(text: string, start: number, end: number): Uint8Array | undefined {
  const xml = text.indexOf("<pkg:xmlData", start);
  if (xml >= 0 && xml < end)
    return Buffer.from(text.slice(text.indexOf(">", xml) + 1, text.lastIndexOf("</pkg:xmlData>", end)));
  const binary = text.indexOf("<pkg:binaryData", start);
  if (binary < 0 || binary >= end) return undefined;
  return Buffer.from(text.slice(text.indexOf(">", binary) + 1, text.lastIndexOf("</pkg:binaryData>", end)), "base64");
}
