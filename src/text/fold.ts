/** Letters without a separable accent that people type as plain letters. */
const PLAIN_LETTERS: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
  ς: "σ",
};

// Accents of Latin, Greek and Cyrillic, and Hebrew and Arabic points. Vowel signs of other scripts aren't included, because their readers regard them
// as letters.
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u0652\u0670]/g;
const INVISIBLE = /[\s\u00ad\u200b-\u200d\u2060\ufeff\u0640]/g;
const SPECIAL = /[ßæœøđðþłħıς]/g;

/** Returns a word in the form used for comparison: NFKC, lower case, without accents, invisible characters and apostrophes. */
export function foldWord(raw: string): string {
  if (isAscii(raw)) return raw.toLowerCase();
  return raw
    .normalize("NFKC")
    .toLowerCase()
    .replace(SPECIAL, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .normalize("NFD")
    .replace(ACCENTS, "")
    .replace(INVISIBLE, "")
    .normalize("NFC");
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}
