/**
 * Replaces accent commands and letter names of TeX with the letters that people search for: `M{\"u}ller` is Müller. Hyphenation marks are removed
 * from words. Other commands are kept. Source: https://latexref.xyz/Accents.html
 */
export function texLetters(text: string): string {
  return text
    .replaceAll(WRITTEN, (found: string, braced: string | undefined, bare: string | undefined) => {
      const command = braced ?? bare;
      return command === undefined ? found : (letterOf(command) ?? found);
    })
    .replaceAll(DIVISIONS, "");
}

/** Returns the letter for an accent with its base letter, or for a name. */
function letterOf(command: string): string | undefined {
  const [, accent = "", below = ""] = ACCENTED.exec(command) ?? [];
  if (accent === "") return LETTERS[/^[A-Za-z]+/u.exec(command)?.[0] ?? ""];
  const letter = `${below}${MARKS[accent] ?? ""}`.normalize("NFC");
  return letter.length === 1 ? letter : undefined;
}

const MARKS: Readonly<Record<string, string>> = {
  "`": "\u0300",
  "'": "\u0301",
  "^": "\u0302",
  "~": "\u0303",
  "=": "\u0304",
  ".": "\u0307",
  '"': "\u0308",
  u: "\u0306",
  r: "\u030a",
  H: "\u030b",
  v: "\u030c",
  d: "\u0323",
  c: "\u0327",
  k: "\u0328",
};

const LETTERS: Readonly<Record<string, string>> = {
  ss: "ß",
  ae: "æ",
  AE: "Æ",
  oe: "œ",
  OE: "Œ",
  aa: "å",
  AA: "Å",
  o: "ø",
  O: "Ø",
  l: "ł",
  L: "Ł",
  dh: "ð",
  DH: "Ð",
  th: "þ",
  TH: "Þ",
  dj: "đ",
  DJ: "Đ",
  ng: "ŋ",
  NG: "Ŋ",
};

/** The characters that TeX drops after the name of a command. */
const END = String.raw`(?![A-Za-z])(?:\{\}| )?`;
const BELOW = String.raw`(?:\{ ?(?:[A-Za-z]|\\[ij]) ?\}|[A-Za-z]|\\[ij]${END})`;
const COMMAND = String.raw`(?:['${"`"}^"~=.] ?${BELOW}|[urHvdck](?:(?=\{)| )${BELOW}|(?:${Object.keys(LETTERS).join("|")})${END})`;
/** Two backslashes end a line. They match first, and are kept. */
const WRITTEN = new RegExp(String.raw`\\\\|\{\\(${COMMAND})\}|\\(${COMMAND})`, "gu");
const DIVISIONS = /(?<=\p{L})\\-(?=\p{L})/gu;
const ACCENTED = /^(['`^"~=.]|[urHvdck](?=[ {])) ?\{? ?\\?([A-Za-z])/u;
