/** The initial dictionary that every compressed text may refer to. Source: MS-OXRTFCP. */
const DICTIONARY = Buffer.from(
  "{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx",
  "latin1",
);
const MAX_BYTES = 32 * 1_048_576;

/** Decompresses RTF in Outlook's compression; undefined if the bytes aren't such a text. Source: MS-OXRTFCP. */
export function unpackRtf(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 16) return undefined;
  const kind = bytes.toString("latin1", 8, 12);
  const size = Math.min(MAX_BYTES, bytes.readUInt32LE(4));
  if (kind === "MELA") return bytes.subarray(16, 16 + size);
  if (kind !== "LZFu") return undefined;
  const window = Buffer.alloc(4_096, 0x20);
  DICTIONARY.copy(window);
  // The stated size isn't trusted: a byte of input produces at most 68 bytes of output.
  const out = Buffer.alloc(Math.min(size, (bytes.length - 16) * 68));
  let write = DICTIONARY.length;
  let length = 0;
  const put = (byte: number) => {
    window[write] = byte;
    write = (write + 1) & 4_095;
    if (length < out.length) out[length++] = byte;
  };
  for (let at = 16; at < bytes.length && length < out.length;) {
    const control = bytes[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < bytes.length; bit++) {
      if ((control & (1 << bit)) === 0) {
        put(bytes[at++] ?? 0);
        continue;
      }
      const reference = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
      at += 2;
      const offset = reference >> 4;
      if (offset === write) return out.subarray(0, length);
      for (let i = 0; i < (reference & 15) + 2; i++) put(window[(offset + i) & 4_095] ?? 0);
    }
  }
  return out.subarray(0, length);
}

/** Returns the HTML from which Outlook made an RTF (`\fromhtml`), or its plain text; both are approximations. Source: MS-OXRTFEX. */
export function textOfRtf(rtf: Buffer, decode: (bytes: Uint8Array) => string): { isHtml: boolean; text: string } {
  const source = rtf.toString("latin1");
  const isHtml = /\\fromhtml1?\b/u.test(source.slice(0, 2_000));
  const out: number[] = [];
  const stack: { isHidden: boolean; isTag: boolean }[] = [];
  let group = { isHidden: false, isTag: false };
  let suppressed = false;
  const add = (text: string) => {
    if (group.isHidden || (suppressed && !group.isTag)) return;
    for (const byte of Buffer.from(text, "latin1")) out.push(byte);
  };
  const pieces = /\\'([0-9a-fA-F]{2})|\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gu;
  for (const [, hex, word, number, symbol, brace, text] of source.matchAll(pieces)) {
    if (brace === "{") {
      stack.push(group);
      group = { ...group };
    } else if (brace === "}") group = stack.pop() ?? group;
    else if (hex !== undefined) add(String.fromCharCode(Number.parseInt(hex, 16)));
    else if (text !== undefined) add(text);
    else if (symbol !== undefined) {
      if (symbol === "*") group.isHidden = true;
      else add(SYMBOLS[symbol] ?? "");
    } else if (word === "htmlrtf") suppressed = number !== "0";
    else if (word === "htmltag") group = { isHidden: false, isTag: true };
    else if (word !== undefined && HIDDEN.has(word)) group.isHidden = true;
    else if (word === "par" || word === "line") add("\n");
    else if (word === "tab") add("\t");
    else if (word === "u" && number !== undefined) {
      const code = Number(number) & 0xffff;
      add(isHtml ? `&#${code};` : Buffer.from(String.fromCharCode(code)).toString("latin1"));
    }
  }
  return { isHtml, text: decode(Uint8Array.from(out)) };
}

const SYMBOLS: Readonly<Record<string, string>> = { "\\": "\\", "{": "{", "}": "}", "~": " ", _: "-", "\n": "\n" };
const HIDDEN: ReadonlySet<string> = new Set(
  "fonttbl colortbl stylesheet info pict object header footer mhtmltag".split(" "),
);
