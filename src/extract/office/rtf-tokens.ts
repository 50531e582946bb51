export interface RtfHandler {
  beginGroup(): void;
  endGroup(): void;
  /** Receives a control word or symbol without its backslash, and its number, if any. */
  control(word: string, value: number | undefined): void;
  /** Receives bytes in the current encoding. */
  bytes(bytes: Uint8Array): void;
  isDone(): boolean;
}

/** Splits an RTF document into its tokens. Anything that isn't RTF is treated as text, as every reader does. */
export function readRtfTokens(bytes: Uint8Array, handler: RtfHandler): void {
  let at = 0;
  while (at < bytes.length && !handler.isDone()) {
    const byte = bytes[at] ?? 0;
    if (byte === OPEN) {
      handler.beginGroup();
      at++;
    } else if (byte === CLOSE) {
      handler.endGroup();
      at++;
    } else if (byte === BACKSLASH) at = readControl(bytes, at + 1, handler);
    else if (byte === CR || byte === LF || byte === 0) at++;
    else {
      const start = at;
      while (at < bytes.length && IS_TEXT[bytes[at] ?? 0] === 1) at++;
      handler.bytes(bytes.subarray(start, at));
    }
  }
}

const OPEN = 0x7b;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const APOSTROPHE = 0x27;
const MINUS = 0x2d;
const MAX_WORD_LENGTH = 32;

const MARKS = [OPEN, CLOSE, BACKSLASH, CR, LF, 0];
const IS_TEXT = Uint8Array.from({ length: 256 }, (_, byte) => (MARKS.includes(byte) ? 0 : 1));

function readControl(bytes: Uint8Array, start: number, handler: RtfHandler): number {
  const first = bytes[start] ?? 0;
  if (first === APOSTROPHE) {
    const value = hexValue(bytes[start + 1]) * 16 + hexValue(bytes[start + 2]);
    if (value >= 0) handler.bytes(Uint8Array.of(value));
    return start + (value >= 0 ? 3 : 1);
  }
  // Escaped braces and backslashes may be the second byte of a character.
  if (first === OPEN || first === CLOSE || first === BACKSLASH) {
    handler.bytes(bytes.subarray(start, start + 1));
    return start + 1;
  }
  if (!isLetter(first)) {
    handler.control(first === CR || first === LF ? "par" : String.fromCharCode(first), undefined);
    return start + 1;
  }
  let at = start;
  while (isLetter(bytes[at] ?? 0) && at - start < MAX_WORD_LENGTH) at++;
  const word = Buffer.from(bytes.subarray(start, at)).toString("latin1");
  const isNegative = bytes[at] === MINUS && isDigit(bytes[at + 1] ?? 0);
  if (isNegative) at++;
  let value: number | undefined;
  for (let digits = 0; isDigit(bytes[at] ?? 0) && digits < 10; digits++, at++)
    value = (value ?? 0) * 10 + (bytes[at] ?? 0) - 0x30;
  // A space that ends the control word isn't text.
  if (bytes[at] === SPACE) at++;
  if (word === "bin") return at + Math.max(0, value ?? 0);
  handler.control(word, value === undefined || !isNegative ? value : -value);
  return at;
}

function isLetter(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** Returns a number far below zero if the byte isn't a digit, so that the sum of two values is negative too. */
function hexValue(byte: number | undefined): number {
  const digit = byte === undefined ? Number.NaN : Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? -1_000 : digit;
}
