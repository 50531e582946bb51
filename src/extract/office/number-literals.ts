/** The text that a section of a number format shows besides the number. */
export interface FormatSection {
  /** The numbers that the section applies to; undefined if its position determines that: positive, negative, zero. */
  condition?: (value: number) => boolean;
  before: string;
  after: string;
  /** Text that is shown instead of the number. */
  instead?: string;
  /** The mask with places `0` and `#` for digits, and the text between them: `000-00-0000`. */
  mask?: string;
}

/** Returns the sections of a format; undefined if none shows words, currency signs or marks between digits. */
export function readSections(code: string): readonly FormatSection[] | undefined {
  const sections = splitSections(code.slice(0, MAX_CODE_LENGTH)).slice(0, MAX_SECTIONS).map(readSection);
  return sections.some(showsMore) ? sections : undefined;
}

/** Formats a number as people see it. @param text the number alone */
export function withLiterals(text: string, value: number, sections: readonly FormatSection[]): string {
  const section = sectionFor(value, sections);
  if (section === undefined) return text;
  const { before, after, instead, mask } = section;
  return instead ?? before + (mask === undefined ? text : masked(value, mask, text)) + after;
}

/** Returns the words before a number with their spacing: `CHF 5`, but `A5`, which is a name. `asAfter` does the same for words after it: `5 kg`. */
export function asBefore(words: string): string {
  const shown = cleaned(words).trimStart();
  return /^[A-Z]{3}$/u.test(shown) ? `${shown} ` : shown;
}

export function asAfter(words: string): string {
  const shown = cleaned(words).trimEnd();
  return /^\p{L}/u.test(shown) ? ` ${shown}` : shown;
}

const MAX_CODE_LENGTH = 500;
/** The sections for positive, negative and zero; the fourth is for words. */
const MAX_SECTIONS = 3;
/** Matches words in quotes, escapes, fillers, currencies, colours and conditions, and the number itself. Source: ECMA-376, part 1, 18.8.31. */
const TOKEN =
  /"(?<quoted>[^"]*)"|\\(?<escaped>.)|[_*].|\[\$(?<currency>[^\]-]*)[^\]]*\]|\[[^\]]*\]|(?<number>General|[@0#?]|[.,%/]|E[+-])|(?<bare>.)/giu;

function splitSections(code: string): string[] {
  const sections = [""];
  for (const [token] of code.matchAll(/"[^"]*"|\\.|[_*].|\[[^\]]*\]|./gu)) {
    if (token === ";") sections.push("");
    else sections[sections.length - 1] += token;
  }
  return sections;
}

function readSection(code: string): FormatSection {
  const tokens = [...code.matchAll(TOKEN)].map(({ groups = {} }) => groups);
  const first = tokens.findIndex(isPlace);
  const last = tokens.findLastIndex(isPlace);
  const words = (from: number, to: number) => tokens.slice(from, to).map(literalOf).join("");
  const condition = conditionOf(code);
  const base = { ...(condition !== undefined && { condition }), before: "", after: "" };
  if (first < 0) {
    const instead = cleaned(words(0, tokens.length)).trim();
    return instead === "" ? base : { ...base, instead };
  }
  const mask = maskOf(tokens.slice(first, last + 1));
  // A comma after the digits divides by a thousand: with `0,"k"` the shown number differs from the value.
  if (tokens[last + 1]?.["number"] === ",") return base;
  const literals = { before: asBefore(words(0, first)), after: asAfter(words(last + 1, tokens.length)) };
  return { ...base, ...literals, ...(mask !== undefined && { mask }) };
}

type Token = Readonly<Record<string, string | undefined>>;

function isPlace({ number }: Token): boolean {
  return number !== undefined && /^(?:general|[@0#?])$/iu.test(number);
}

function literalOf({ quoted, escaped, currency, bare }: Token): string {
  return quoted ?? escaped ?? currency ?? (bare !== undefined && /[\p{Sc} ]/u.test(bare) ? bare : "");
}

/** Returns a mask of digits with marks between them, as in telephone numbers; undefined for numbers to calculate with. */
function maskOf(tokens: readonly Token[]): string | undefined {
  const isPlain = tokens.every(({ number }) => number === undefined || number === "0" || number === "#");
  const mask = tokens.map((token) => token["number"] ?? token["bare"] ?? literalOf(token)).join("");
  return isPlain && /^[0#][\d#() .\u00a0-]*$/u.test(mask) && /[^0#]/u.test(mask) ? mask : undefined;
}

function conditionOf(code: string): FormatSection["condition"] {
  const [, sign, limit = ""] = /\[(<=|>=|<>|[<>=])(-?\d{1,15}(?:\.\d{1,15})?)\]/u.exec(code) ?? [];
  const other = Number(limit);
  switch (sign) {
    case "<=":
      return (value) => value <= other;
    case ">=":
      return (value) => value >= other;
    case "<>":
      return (value) => value !== other;
    case "<":
      return (value) => value < other;
    case ">":
      return (value) => value > other;
    case "=":
      return (value) => value === other;
    default:
      return undefined;
  }
}

function sectionFor(value: number, sections: readonly FormatSection[]): FormatSection | undefined {
  if (sections.some(({ condition }) => condition !== undefined))
    return sections.find(({ condition }) => condition === undefined || condition(value));
  return sections[value < 0 ? 1 : value === 0 ? 2 : 0] ?? sections[0];
}

function showsMore({ before, after, instead, mask }: FormatSection): boolean {
  return before !== "" || after !== "" || instead !== undefined || mask !== undefined;
}

/** Returns the words without the signs of negative numbers; empty if there are only signs. */
function cleaned(words: string): string {
  const shown = words
    .replaceAll(/[\s\u00a0]+/gu, " ")
    .replaceAll(/[\u200e\u200f]/gu, "")
    .replace(/^ ?[-–+(]+ ?/u, "");
  return /[\p{L}\p{N}\p{Sc}]/u.test(shown) ? shown : "";
}

/** Puts the digits in the places of the mask, starting from the right; digits without a place come first. */
function masked(value: number, mask: string, text: string): string {
  const digits = /^\d{1,15}$/u.test(String(value)) ? [...String(value)] : undefined;
  if (digits === undefined) return text;
  const shown = [...mask]
    .toReversed()
    .map((place) => (/[0#]/u.test(place) ? (digits.pop() ?? place.replace("#", "")) : place));
  return digits.join("") + shown.toReversed().join("");
}

/**
 * Returns a number with the words and currencies that a program shows around it: `Step 3` for 3. A number that is shown in thousands or as words
 * stays unchanged.
 */
export function withShownWords(text: string, shown: string): string {
  const digits = /^(?<before>\D{0,200})(?<digits>\d(?:[\d.,'’ \u00a0\u202f]*\d)?)(?<after>\D{0,200})$/u.exec(
    shown,
  )?.groups;
  if (digits === undefined) return text;
  const whole = /^-?(\d+)/u.exec(text)?.[1] ?? "";
  const isWhole = !text.includes("e") && (digits["digits"] ?? "").replaceAll(/\D/gu, "").length >= whole.length;
  return isWhole ? asBefore(digits["before"] ?? "") + text + asAfter(digits["after"] ?? "") : text;
}
