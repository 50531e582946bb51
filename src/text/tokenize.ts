import { foldWord } from "./fold.ts";
import { StringTable } from "./string-table.ts";
import { decompose, wordForm, type WordForm, type WordForms } from "./forms.ts";

export interface Token {
  /** The index term: the stem, the whole identifier or the bigram. */
  term: string;
  /** The index term of the word as written; `term` if both are the same. */
  exactTerm: string;
  /** UTF-16 offsets in the text. */
  start: number;
  end: number;
  /** Running number of words. Wholes, and the last character of an unspaced run, have the same number as a neighbour. */
  position: number;
  /** Whether this is a whole identifier, or the last character of an unspaced run. Neither is a word of phrases. */
  isExtra: boolean;
}

/** A piece of text without spaces, which is the unit in which a query is parsed. */
export interface Chunk {
  start: number;
  end: number;
  /** For an unspaced run, these are its bigrams, which have no wholes; `last` is the run's last character alone. */
  forms: WordForms;
  isUnspaced: boolean;
}

let shared: Tokenizer | undefined;

/** Returns the tokenizer of this thread, which is made at the first call. It is only a cache. */
export function sharedTokenizer(): Tokenizer {
  shared ??= makeTokenizer();
  return shared;
}

/** Number of chunks that the tokenizer caches: the vocabulary of a few thousand documents. */
const CACHE_SIZE = 60_000;
const CACHED_LENGTH = 40;

export interface Tokenizer {
  chunks(text: string, visit: (chunk: Chunk) => void): void;
  tokenize(text: string): Token[];
}

/**
 * Makes a tokenizer; each has its own cache of words (some MB when full), so make one per thread or service.
 *
 * Its tokens are Unicode words (similar to UAX 29: letters, numbers, marks), identifiers whole and split, and for unspaced scripts bigrams of
 * characters with their marks. Offsets are UTF-16 code units of the original text, before normalization.
 */
export function makeTokenizer(): Tokenizer {
  const classes = makeCharacterClasses();
  let table = new StringTable();
  let known: WordForms[] = [];

  const formsOf = (text: string, start: number, end: number): WordForms => {
    if (end - start > CACHED_LENGTH) return decompose(text.slice(start, end));
    const number = table.intern(text, start, end);
    let forms = known[number];
    if (forms !== undefined) return forms;
    forms = known[number] = decompose(text.slice(start, end));
    if (known.length >= CACHE_SIZE) {
      table = new StringTable();
      known = [];
    }
    return forms;
  };

  /** Returns the class and the width of the character at `i`. */
  const classAt = (text: string, i: number): number => {
    const found = classes.of(text.charCodeAt(i));
    if (found !== HIGH_SURROGATE) return found;
    const low = text.charCodeAt(i + 1);
    return low >= 0xdc00 && low <= 0xdfff ? classes.ofPair(text.charCodeAt(i), low) : SEPARATOR;
  };

  const chunks = (text: string, visit: (chunk: Chunk) => void): void => {
    let i = 0;
    while (i < text.length) {
      const found = classAt(text, i);
      if (isWordClass(found)) {
        const end = endOfChunk(text, i, classAt);
        visit({ start: i, end, forms: formsOf(text, i, end), isUnspaced: false });
        i = end;
      } else if (found === UNSPACED) {
        const end = endOfRun(text, i, classAt);
        visit({ start: i, end, forms: bigrams(text.slice(i, end), classAt), isUnspaced: true });
        i = end;
      } else i += width(text, i);
    }
  };

  const tokenize = (text: string): Token[] => {
    const tokens: Token[] = [];
    let position = 0;
    chunks(text, (chunk) => {
      const { flat } = chunk.forms;
      for (let k = 0; k < flat.length; k++) {
        const form = flat[k];
        if (form === undefined) continue;
        const isExtra = form.isWhole || (chunk.isUnspaced && k > 0 && k === flat.length - 1);
        const { term, exactTerm } = form;
        tokens.push({
          term,
          exactTerm,
          start: chunk.start + form.start,
          end: chunk.start + form.end,
          position,
          isExtra,
        });
        if (!isExtra) position++;
      }
    });
    return tokens;
  };
  return { chunks, tokenize };
}

type ClassAt = (text: string, i: number) => number;

function isWordClass(found: number): boolean {
  return found === LOWER || found === UPPER || found === DIGIT;
}

function width(text: string, i: number): number {
  const unit = text.charCodeAt(i);
  if (unit < 0xd800 || unit > 0xdbff) return 1;
  const low = text.charCodeAt(i + 1);
  return low >= 0xdc00 && low <= 0xdfff ? 2 : 1;
}

/** Returns the end of a chunk, which continues through marks, and through one joiner (or several `_`) with a word on both sides. */
function endOfChunk(text: string, start: number, classAt: ClassAt): number {
  let i = start;
  while (i < text.length) {
    const unit = text.charCodeAt(i);
    if (unit >= 97 && unit <= 122) {
      i++;
      continue;
    }
    const found = classAt(text, i);
    if (isWordClass(found) || found === MARK) {
      i += width(text, i);
      continue;
    }
    if (found !== JOINER) break;
    let next = i + 1;
    if (text[i] === "_") while (text[next] === "_") next++;
    // A hyphen at the end of a line.
    if (text[i] === "-" && text[next] === "\u00ad") next++;
    if (next >= text.length || !isWordClass(classAt(text, next))) break;
    i = next;
  }
  return endWithSigns(text, start, i);
}

/** Includes the signs of `C++`, `C#` and `F#`, which are names. */
function endWithSigns(text: string, start: number, end: number): number {
  if (end - start > 2) return end;
  const signs = text.startsWith("++", end) ? 2 : text[end] === "#" ? 1 : 0;
  if (signs === 0 || !/[a-z]/i.test(text[end - 1] ?? "")) return end;
  const after = text[end + signs] ?? " ";
  return /[\s.,;:!?()/"'<>|\]*]/.test(after) ? end + signs : end;
}

function endOfRun(text: string, start: number, classAt: ClassAt): number {
  let i = start;
  while (i < text.length) {
    const found = classAt(text, i);
    if (found !== UNSPACED && found !== MARK) break;
    i += width(text, i);
  }
  return i;
}

/** Returns each two neighbouring characters (with their marks), then the last character alone, so that a prefix finds it too. */
function bigrams(run: string, classAt: ClassAt): WordForms {
  const starts: number[] = [];
  for (let i = 0; i < run.length; i += width(run, i)) if (classAt(run, i) === UNSPACED) starts.push(i);
  const forms: WordForm[] = starts.map((start, k) => {
    const end = starts[k + 2] ?? run.length;
    return wordForm(foldWord(run.slice(start, end)), start, end);
  });
  return { flat: forms, roots: forms, tally: 0 };
}

/** Classes of UTF-16 code units for the tokenizer. */
const SEPARATOR = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
/** Letter of a script that is written without spaces between words: cut into bigrams. */
const UNSPACED = 4;
/** A character that attaches to the one before it: combining marks, soft hyphens, joiners. */
const MARK = 5;
/** Joins words of one identifier if there is a word on both sides. */
const JOINER = 6;
/** First half of a surrogate pair: call `classOfPair`. */
const HIGH_SURROGATE = 7;
const UNKNOWN = 255;

const JOINERS = "_./-@'\\\u2019";
const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff70]/u;
/**
 * Invisible inside words: soft hyphen, zero-width space and joiners, word joiner, byte order mark, half-width voice
 * marks.
 */
const STICKY = /[\p{M}\u00ad\u200b-\u200d\u2060\ufeff\uff9e\uff9f]/u;

/** Makes a table that caches each character's class when it is first used. The table has 64 kB; nothing is computed in advance. */
function makeCharacterClasses() {
  const table = new Uint8Array(0x10000).fill(UNKNOWN);
  return {
    /** Class of a code unit. */
    of(unit: number): number {
      const known = table[unit] ?? SEPARATOR;
      if (known !== UNKNOWN) return known;
      return (table[unit] = classify(unit));
    },
    /** Class of the character of a surrogate pair. */
    ofPair: (high: number, low: number): number => classify((high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000),
  };
}

function classify(codePoint: number): number {
  if (codePoint >= 0xd800 && codePoint <= 0xdbff) return HIGH_SURROGATE;
  if (codePoint >= 0xdc00 && codePoint <= 0xdfff) return SEPARATOR;
  const character = String.fromCodePoint(codePoint);
  if (JOINERS.includes(character)) return JOINER;
  if (STICKY.test(character)) return MARK;
  if (/\p{N}/u.test(character)) return DIGIT;
  if (!/\p{L}/u.test(character)) return SEPARATOR;
  if (UNSPACED_SCRIPT.test(character)) return UNSPACED;
  return /\p{Lu}/u.test(character) ? UPPER : LOWER;
}
