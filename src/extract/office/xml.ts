import { isAscii, isUtf8 } from "node:buffer";
import { Parser } from "htmlparser2";
import { xmlEncodingOf } from "#core/encodings/declared.ts";
import { withoutCutLetter } from "#core/encodings/decode.ts";
import { makeTextPieces, type TextPieces } from "#core/encodings/names.ts";
import { prefixOfNamespace } from "./namespaces.ts";

export type Attributes = Readonly<Record<string, string>>;

export interface XmlHandler {
  /** Called at the start of an element. Return true to leave out the element with everything in it. */
  open?(name: string, attributes: Attributes): boolean | void;
  close?(name: string): void;
  /** Called with text; consecutive characters may come in several pieces. */
  text?(data: string): void;
  /** True when nothing more is needed; called after every chunk. */
  isDone?(): boolean;
}

/** Passes the bytes of a document chunk by chunk, until the receiver returns false. */
export type XmlSource = (onPiece: (piece: Uint8Array) => boolean | void) => void;

/** Real documents are nested less than 200 levels deep, and the parser's own cost grows with the square of the depth. */
const MAX_DEPTH = 1_000;
/** Maximum number of different element names in a document; a document with more is made to fill memory. */
const MAX_NAMES = 20_000;

/**
 * Walks through an XML document in one pass without a tree. Names come with the usual prefix of their namespace (`w:p`, `text:p`), even if the
 * document uses another prefix. Only the five entities of XML and numeric ones are decoded: a document's own entities are never expanded, external
 * ones never loaded.
 *
 * @throws Error when elements are nested more than 1,000 deep; broken XML is read as far as it makes sense
 */
export function walkXml(source: XmlSource, handler: XmlHandler): void {
  const names = new NameTable();
  let depth = 0;
  let leftOutAt = 0;
  const parser = new Parser(
    {
      onopentag(rawName, attributes) {
        depth++;
        if (depth > MAX_DEPTH) throw new Error(`its elements are nested more than ${MAX_DEPTH} deep`);
        if (leftOutAt > 0) return;
        const name = names.resolve(rawName, attributes);
        if (handler.open?.(name, names.resolveAttributes(attributes)) === true) leftOutAt = depth;
      },
      onclosetag(rawName) {
        if (leftOutAt === 0) handler.close?.(names.known(rawName));
        else if (leftOutAt === depth) leftOutAt = 0;
        depth--;
      },
      ontext(data) {
        if (leftOutAt === 0) handler.text?.(data);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  let text: TextPieces | undefined;
  source((piece) => {
    text ??= makeTextPieces(encodingOf(piece));
    for (let from = 0; from < piece.length; from += PIECE_BYTES) {
      parser.write(text.write(piece.subarray(from, from + PIECE_BYTES)));
      if (handler.isDone?.() === true) return false;
    }
    return true;
  });
  if (handler.isDone?.() !== true) parser.end();
}

/** Makes a source from bytes that are already in memory. */
export function xmlFromBytes(bytes: Uint8Array): XmlSource {
  return (onPiece) => void onPiece(bytes);
}

/** Returns the value of a switch such as `<w:b w:val="0"/>`; a switch without a value is on. */
export function isOn(value: string | undefined): boolean {
  return value === undefined || !["0", "false", "off", "none"].includes(value);
}

const PIECE_BYTES = 65_536;

/** Converts the document's names to those with the usual prefixes. */
class NameTable {
  private readonly prefixes = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private hasOtherPrefixes = false;

  resolve(rawName: string, attributes: Attributes): string {
    const known = this.names.get(rawName);
    if (known !== undefined) return known;
    if (this.names.size > MAX_NAMES) throw new Error(`it has more than ${MAX_NAMES} kinds of elements`);
    // Namespaces are declared at the element that first uses them, or before it, so elements with a known name need no check.
    for (const [key, value] of Object.entries(attributes)) this.declare(key, value);
    const name = this.rename(rawName);
    this.names.set(rawName, name);
    return name;
  }

  known(rawName: string): string {
    return this.names.get(rawName) ?? rawName;
  }

  resolveAttributes(attributes: Attributes): Attributes {
    if (!this.hasOtherPrefixes) return attributes;
    // Attributes without a prefix have no namespace, even if there is a default namespace.
    return Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [key.includes(":") ? this.rename(key) : key, value]),
    );
  }

  private declare(key: string, uri: string): void {
    if (!key.startsWith("xmlns")) return;
    const own = key === "xmlns" ? "" : key.slice("xmlns:".length);
    const usual = prefixOfNamespace(uri) ?? own;
    this.prefixes.set(own, usual);
    if (own !== usual && own !== "") this.hasOtherPrefixes = true;
  }

  private rename(rawName: string): string {
    const colon = rawName.indexOf(":");
    const own = colon < 0 ? "" : rawName.slice(0, colon);
    const usual = this.prefixes.get(own) ?? own;
    const local = rawName.slice(colon + 1);
    return usual === "" ? local : `${usual}:${local}`;
  }
}

/** Detects the encoding by the byte order mark, by valid UTF-8 in the first bytes, or by the declaration. */
function encodingOf(start: Uint8Array): string | undefined {
  const [a, b, c, d] = start;
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0 && c === 0x3f && d === 0)) return "utf-16le";
  if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c && c === 0 && d === 0x3f)) return "utf-16be";
  const declared = a === 0xef && b === 0xbb ? undefined : xmlEncodingOf(start);
  return declared === undefined || isUtf8Beyond(start.subarray(0, PIECE_BYTES)) ? undefined : declared;
}

/** Whether the bytes are UTF-8 with letters beyond ASCII; the last letter may be truncated. */
function isUtf8Beyond(bytes: Uint8Array): boolean {
  const whole = withoutCutLetter(bytes);
  return isUtf8(whole) && !isAscii(whole);
}
