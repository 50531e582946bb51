import chardet from "chardet";
import iconv from "iconv-lite";
import { type Alphabet, DOUBTS, MULTI_BYTE, SINGLE_BYTE, type Table } from "./letters.ts";

export interface GuessOptions {
  /** Prefers the encodings of DOS, in which archives store the names of their files. */
  prefersDos?: boolean;
}

/**
 * Guesses the encoding of bytes that aren't UTF-8 from the letters that the bytes would be. Each candidate is scored by
 * how it decodes the bytes beyond ASCII: frequent letters of one language, in words of one script, raise its score;
 * control characters and bytes without a letter lower it. The result of chardet, which uses statistics of letter
 * sequences, is added to the score: chardet is reliable for long texts, the letters are reliable for short ones.
 *
 * @returns a lower-case name; `windows-1252`, which has a letter for almost every byte, if nothing fits
 */
export function guessEncoding(bytes: Buffer, options: GuessOptions = {}): string {
  const sample = aroundNonAscii(bytes, LETTER_BYTES);
  const opinions = opinionsOf(aroundNonAscii(bytes, SAMPLE_BYTES));
  let best = { name: "windows-1252", score: -0.5 };
  for (const name of new Set([...(options.prefersDos === true ? DOS : []), ...opinions.keys(), ...OWN])) {
    const text = decodeSample(name, sample, bytes.length > sample.length);
    if (WITHOUT_LETTER.test(text)) continue;
    const marks = marksIn(text);
    const doubt = doubtOf(name, options) / Math.max(1, marks.length);
    const total = scoreOf(name, marks) - doubt + OPINION_WEIGHT * opinionOf(opinions, name);
    if (total > best.score + EPSILON) best = { name, score: total };
  }
  return best.name;
}

/**
 * Number of bytes for chardet. The statistics of an encoding settle long before this many bytes; chardet takes 3 ms for
 * them.
 */
const SAMPLE_BYTES = 32_768;
/** Number of bytes for the letter score, which settles sooner. */
const LETTER_BYTES = 4_096;
const OPINION_WEIGHT = 0.6;
const EPSILON = 1e-6;
const OWN = [...Object.keys(MULTI_BYTE), ...Object.keys(SINGLE_BYTE)];
const DOS = ["cp437", "cp850", "cp866", "cp852"];

function opinionsOf(sample: Buffer): Map<string, number> {
  const found = new Map<string, number>();
  for (const { name, confidence } of chardet.analyse(sample)) {
    if (name !== "UTF-8" && confidence >= 10 && iconv.encodingExists(name))
      found.set(name.toLowerCase(), confidence / 100);
  }
  return found;
}

/**
 * Returns chardet's opinion of an encoding. Windows encodings have all letters of the ISO encodings that they extend,
 * and the Ukrainian encoding has those of the Russian one.
 */
function opinionOf(opinions: ReadonlyMap<string, number>, name: string): number {
  return Math.max(opinions.get(name) ?? 0, opinions.get(EXTENDS[name] ?? "") ?? 0);
}

const EXTENDS: Readonly<Record<string, string>> = {
  "koi8-u": "koi8-r",
  "windows-1250": "iso-8859-2",
  "windows-1252": "iso-8859-1",
  "windows-1253": "iso-8859-7",
  "windows-1254": "iso-8859-9",
  "windows-1255": "iso-8859-8",
};

/** Decodes the sample. Drops an incomplete character at its end, because a truncated sample may end inside one. */
function decodeSample(name: string, sample: Buffer, isCut: boolean): string {
  const text = iconv.decode(sample, name);
  return isCut && MULTI_BYTE[name] !== undefined ? text.replace(/\ufffd{1,2}.?$/u, "") : text;
}

function doubtOf(name: string, { prefersDos = false }: GuessOptions): number {
  if (prefersDos && DOS.includes(name)) return 0;
  return (DOUBTS[name] ?? 0.9) + (prefersDos ? 0.4 : 0);
}

/** Returns how plausible the letters are, from -1 to 1.2. */
function scoreOf(name: string, marks: readonly Mark[]): number {
  const table = MULTI_BYTE[name];
  if (table !== undefined) return meanOf(marks, (mark) => scoreUnspaced(mark, name, table));
  const alphabets = SINGLE_BYTE[name] ?? ALPHABETS_OF_ISO[name];
  // Encodings without alphabets here are scored by chardet alone.
  if (alphabets === undefined) return 0;
  return alphabets.reduce(
    (best, alphabet) =>
      Math.max(
        best,
        meanOf(marks, (mark) => scoreLetter(mark, alphabet)),
      ),
    -1,
  );
}

/** Alphabets of encodings that only chardet names. */
const ALPHABETS_OF_ISO: Readonly<Record<string, readonly Alphabet[]>> = {
  "iso-8859-1": SINGLE_BYTE["windows-1252"] ?? [],
  "iso-8859-8": SINGLE_BYTE["windows-1255"] ?? [],
};

// oxlint-disable-next-line no-control-regex -- C1 controls are in no text of these encodings
const WITHOUT_LETTER = /[\ufffd\x80-\x9f\ue000-\uf8ff]/u;
const NON_ASCII = /[^\0-\x7f]/gu;
/** Limit of characters beyond ASCII that are examined. */
const MAX_LETTERS = 300;

/** A character beyond ASCII, with the characters before and after it. */
interface Mark {
  letter: string;
  before: string;
  after: string;
}

function marksIn(text: string): Mark[] {
  const marks: Mark[] = [];
  for (const { 0: letter, index } of text.matchAll(NON_ASCII)) {
    marks.push({ letter, before: text.charAt(index - 1), after: text.charAt(index + letter.length) });
    if (marks.length >= MAX_LETTERS) break;
  }
  return marks;
}

function meanOf(marks: readonly Mark[], score: (mark: Mark) => number): number {
  return marks.reduce((sum, mark) => sum + score(mark), 0) / Math.max(1, marks.length);
}

function scoreLetter({ letter, before, after }: Mark, { letters, isLatin }: Alphabet): number {
  const lower = letter.toLowerCase();
  const rank = letters.indexOf(lower);
  if (rank < 0) return scoreSign(letter, before, after);
  const isUpper = lower !== letter;
  // A capital after a small letter isn't part of a word, and words contain no symbols of programming languages.
  if (isUpper ? isSmall(before) : /[A-Z]/u.test(after) && letter !== "ß") return -0.7;
  if (/[\^_`{|}~\\@]/u.test(before + after) || (letter === before && letter === after)) return -0.7;
  if (FINAL.test(letter) && isWord(after)) return -0.7;
  if (isLatin && isNonAsciiLetter(before) && isNonAsciiLetter(after)) return -0.7;
  if (!isLatin && (isAsciiLetter(before) || isAsciiLetter(after))) return -0.7;
  if (isLatin && !isAsciiLetter(before) && !isAsciiLetter(after) && !isNonAsciiLetter(before + after)) return 0;
  return 1.1 - rank / letters.length - (isUpper ? 0.1 : 0);
}

function scoreSign(letter: string, before: string, after: string): number {
  if (BOX.test(letter)) return before === letter || after === letter ? 0.8 : isWord(before) || isWord(after) ? -1 : 0.2;
  if (!SIGNS.test(letter)) return -1;
  const isMisplaced = isWord(after) && (isWord(before) ? !INSIDE_WORDS.test(letter) : BEHIND_WORDS.test(letter));
  return isMisplaced ? -1 : 0.1;
}

const BOX = /[\u2500-\u259f]/u;
const SIGNS = /[\u00a0«»„“”‚‘’‹›–—…•·€£§©®°±№™½¼¾²³¿¡´]/u;
const BEHIND_WORDS = /[®°²³¼½¾™´]/u;
/** Greek and Hebrew letters that occur only at the end of words. */
const FINAL = /[ςךםןףץ]/u;
const INSIDE_WORDS = /[’‘´·\u00a0–—…]/u;

const isAsciiLetter = (letter: string) => /[a-z]/iu.test(letter);
const isNonAsciiLetter = (letter: string) => /[^\0-\x7f]/u.test(letter) && /\p{L}/u.test(letter);
const isSmall = (letter: string) => /\p{Ll}/u.test(letter);
const isWord = (letter: string) => /[\p{L}\p{N}]/u.test(letter);

/**
 * Scores a character of a script with thousands of letters. Frequent letters score highest. A letter next to a Latin
 * letter probably results from bytes decoded in the wrong pairs.
 */
function scoreUnspaced({ letter, before, after }: Mark, name: string, table: Table): number {
  if (HALF_WIDTH.test(letter)) return HALF_WIDTH.test(before) || HALF_WIDTH.test(after) ? 0.1 : -1;
  if (!UNSPACED.test(letter)) return UNSPACED_SIGNS.test(letter) ? 0.3 : -0.7;
  if (isAsciiLetter(before) || isAsciiLetter(after)) return -0.4;
  if (table.frequent.has(letter)) return 1.2;
  if (KANA.test(letter)) return table.hasKana ? 0.7 : -0.2;
  const lead = iconv.encode(letter, name)[0] ?? 0;
  return lead >= table.common[0] && lead <= table.common[1] ? 0.6 : -0.1;
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}ー]/u;
const HALF_WIDTH = /[\uff61-\uff9f]/u;
const UNSPACED_SIGNS = /[\u3000-\u303f\uff01-\uff5e·—…“”‘’※○●◎]/u;

/**
 * Returns a sample that starts shortly before the first non-ASCII byte, because a licence header in English reveals
 * nothing.
 */
function aroundNonAscii(bytes: Buffer, length: number): Buffer {
  const first = bytes.findIndex((byte) => byte > 0x7f);
  const start = Math.max(0, first - 256);
  return bytes.subarray(start, start + length);
}
