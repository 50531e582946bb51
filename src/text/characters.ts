/** What the tokenizer needs to know of a UTF-16 code unit. */
export const SEPARATOR = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 3;
/** Letter of a script that is written without spaces between words: cut into bigrams. */
export const UNSPACED = 4;
/** Sticks to the character before it: combining marks, soft hyphens, joiners. */
export const MARK = 5;
/** Joins words of one identifier when a word stands on both sides. */
export const JOINER = 6;
/** First half of a surrogate pair: ask `classOfPair`. */
export const HIGH_SURROGATE = 7;
const UNKNOWN = 255;

const JOINERS = "_./-@'\\\u2019";
const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff70]/u;
/** Invisible inside words: soft hyphen, zero-width space and joiners, word joiner, byte order mark, half-width voice marks. */
const STICKY = /[\p{M}\u00ad\u200b-\u200d\u2060\ufeff\uff9e\uff9f]/u;

export interface CharacterClasses {
  /** Class of a code unit. */
  of(unit: number): number;
  /** Class of the character of a surrogate pair. */
  ofPair(high: number, low: number): number;
}

/** A table that learns each character's class when it first meets it (64 kB; nothing is computed up front). */
export function makeCharacterClasses(): CharacterClasses {
  const table = new Uint8Array(0x10000).fill(UNKNOWN);
  return {
    of(unit) {
      const known = table[unit] ?? SEPARATOR;
      if (known !== UNKNOWN) return known;
      return (table[unit] = classify(unit));
    },
    ofPair: (high, low) => classify((high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000),
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
