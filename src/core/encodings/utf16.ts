import iconv from "iconv-lite";

/**
 * Detects UTF-16 and UTF-32 without a byte order mark. Text of mostly Latin letters has zeros in every second byte and
 * nowhere else; in UTF-32, in three of four. Text of other scripts has few zeros, and its other bytes are letters of
 * one script.
 */
export function guessUtf16(sample: Buffer): string | undefined {
  if (sample.length < 4) return undefined;
  return fromZeros(sample) ?? fromScripts(sample);
}

function fromZeros(sample: Buffer): string | undefined {
  const zeros = [0, 0, 0, 0];
  const quads = Math.floor(sample.length / 4);
  for (let i = 0; i < quads * 4; i++) if (sample[i] === 0) zeros[i & 3] = (zeros[i & 3] ?? 0) + 1;
  const [a = 0, b = 0, c = 0, d = 0] = zeros.map((count) => count / quads);
  if (b > 0.95 && c > 0.95 && d > 0.95 && a < 0.05) return "utf-32le";
  if (a > 0.95 && b > 0.95 && c > 0.95 && d < 0.05) return "utf-32be";
  // In UTF-32 text of other scripts, only the two highest bytes are zeros. A table of numbers isn't text of one script.
  const wide = c === 1 && d === 1 ? "utf-32le" : a === 1 && b === 1 ? "utf-32be" : undefined;
  if (wide !== undefined && isTextOfOneScript(iconv.decode(sample.subarray(0, quads * 4), wide))) return wide;
  const guess = b + d > 1 && a + c < 0.1 ? "utf-16le" : a + c > 1 && b + d < 0.1 ? "utf-16be" : undefined;
  // A table of small numbers has zeros in the same places, but its other bytes aren't letters.
  return guess !== undefined && !CONTROLS.test(decodeUtf16(sample, guess)) ? guess : undefined;
}

function fromScripts(sample: Buffer): string | undefined {
  const guesses = ["utf-16le", "utf-16be"].filter((name) => isTextOfOneScript(decodeUtf16(sample, name)));
  return guesses.length === 1 ? guesses[0] : undefined;
}

function decodeUtf16(sample: Buffer, name: string): string {
  return iconv.decode(sample.subarray(0, sample.length & ~1), name);
}

/**
 * True when nearly all characters are ASCII, punctuation or one script. Single-byte letters look like Han when read in
 * pairs, so the text must also contain spaces, line breaks or kana.
 */
function isTextOfOneScript(text: string): boolean {
  if (CONTROLS.test(text) || STRANGE.test(text)) return false;
  const length = [...text].length;
  const common = countOf(text, COMMON);
  return SCRIPTS.some((script) => {
    const letters = countOf(text, script);
    return letters * 4 >= length && letters + common >= length * 0.98 && (EVIDENCE.test(text) || isKana(text, letters));
  });
}

function isKana(text: string, letters: number): boolean {
  return countOf(text, /[\u3041-\u30ff、。「」]/gu) * 4 >= letters;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

// oxlint-disable-next-line no-control-regex -- text has none of these
const CONTROLS = /[\0-\x08\x0e-\x1a\x1c-\x1f]/u;
const STRANGE = /[\p{Cn}\p{Co}\p{Cs}\ufffd]/u;
const EVIDENCE = /[ \n\u3000]/u;
const COMMON = /[\t\n\r -~\u00a0-\u024f\p{Mn}\u2010-\u203a\u20ac\u2116\u3000-\u303f\uff00-\uff65]/gu;
const SCRIPTS = [
  /\p{Script=Cyrillic}/gu,
  /\p{Script=Greek}/gu,
  /[\p{Script=Hebrew}\u0591-\u05f4]/gu,
  /[\p{Script=Arabic}\u060c-\u06ff]/gu,
  /\p{Script=Thai}/gu,
  /\p{Script=Devanagari}/gu,
  /\p{Script=Armenian}/gu,
  /\p{Script=Georgian}/gu,
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/gu,
  /[\p{Script=Hangul}\p{Script=Han}]/gu,
];
