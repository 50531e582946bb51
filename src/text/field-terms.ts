import { foldWord } from "./fold.ts";

/** The value of a field. Its type is known only from its form. */
type Value = string | number | boolean | readonly string[];

/** Maximum length of a field's name, and of a value that is compared, in UTF-16 code units. */
export const MAX_FIELD_NAME_CHARS = 100;
const MAX_COMPARED_CHARS = 200;
/** Only this many characters of a name are processed, because an untrusted name may have any length. */
const LOOKED_AT_CHARS = 4 * MAX_FIELD_NAME_CHARS;
/** Maximum number of terms from an item's fields: a hundred lists of hundreds would outweigh the item's text. */
const MAX_TERMS = 2_000;

/** Separates name and value in a term. Numbers have another mark, so that the text `1.10` isn't equal to the number 1.1. */
const TEXT_MARK = "\u0002";
const NUMBER_MARK = "\u0003";

/**
 * Returns the name of a field as it is stored and shown: letters, digits, `_`, `-` and `.` are kept, and everything else becomes `_`. Empty for a
 * text without a letter or digit, which isn't a name.
 */
export function fieldName(rawName: string): string {
  const name = rawName
    .slice(0, LOOKED_AT_CHARS)
    .normalize("NFKC")
    .replace(/[^\p{L}\p{M}\p{N}.-]+/gu, "_");
  const whole = name.replace(/^[_.-]+/u, "").slice(0, MAX_FIELD_NAME_CHARS);
  return whole.replace(/[_.-]+$/u, "").replace(/\p{Surrogate}/gu, "");
}

/** Returns the common key of a field's spellings: `Due date`, `due-date`, `due_date` and `dueDate` all have the key `duedate`. */
export function fieldKey(name: string): string {
  return foldWord(name.slice(0, LOOKED_AT_CHARS)).replace(/[^\p{L}\p{M}\p{N}]+/gu, "");
}

/**
 * Returns the terms that match an item by its fields, each once. Texts are compared without regard to case, accents and white space, and numbers by
 * value. A date matches by its day, month and year as written, a list by each of its values, and `Ana <ana@one.test>` also by name and address.
 */
export function fieldTerms(fields: Readonly<Record<string, Value>>): string[] {
  const terms = new Set<string>();
  for (const [name, value] of Object.entries(fields)) {
    const key = fieldKey(name);
    if (key === "") continue;
    if (typeof value === "number") terms.add(key + NUMBER_MARK + String(value));
    else for (const text of textsOf(value)) terms.add(key + TEXT_MARK + text);
  }
  return [...terms].slice(0, MAX_TERMS);
}

/** Returns the terms for `key:value`; an item with any of these terms matches. Empty when the pair can't match anything. */
export function termsOfPair({ key, value }: { key: string; value: string }): string[] {
  const folded = fieldKey(key);
  const text = foldValue(value);
  if (folded === "" || text === "") return [];
  const number = NUMBER.test(value.trim()) ? Number(value) : Number.NaN;
  return [folded + TEXT_MARK + text, ...(Number.isFinite(number) ? [folded + NUMBER_MARK + String(number)] : [])];
}

/** An RFC 3339 date: a day, or a day with a time. The zone is optional, because cameras omit it. Only texts in this form are dates. */
const DATE = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?)?$/;
const NUMBER = /^[+-]?\d{1,21}(?:\.\d{1,25})?(?:[eE][+-]?\d{1,3})?$/;
const PERSON = /^([^<>]{1,200})<([^<>\s]{1,200}@[^<>\s]{1,200})>$/;

function textsOf(value: Exclude<Value, number>): string[] {
  if (typeof value === "boolean") return [String(value)];
  const texts = typeof value === "string" ? [value] : value;
  return texts.flatMap(formsOf).filter((text) => text !== "");
}

function formsOf(text: string): string[] {
  const trimmed = text.trim();
  const [, year, month, day] = DATE.exec(trimmed) ?? [];
  if (year !== undefined) return [year, `${year}-${month}`, `${year}-${month}-${day}`, foldValue(trimmed)];
  const [, name, address] = PERSON.exec(trimmed) ?? [];
  return [trimmed, ...(name === undefined || address === undefined ? [] : [name, address])].map(foldValue);
}

/**
 * Returns the words in the form used for comparison, with one space between words. The text is truncated before normalization too, because an
 * untrusted text may have any length.
 */
function foldValue(text: string): string {
  const words = text
    .slice(0, 4 * MAX_COMPARED_CHARS)
    .split(/\s+/u)
    .map(foldWord);
  const folded = words
    .filter((word) => word !== "")
    .join(" ")
    .slice(0, MAX_COMPARED_CHARS);
  // oxlint-disable-next-line no-control-regex -- they part name and value, and end a term
  return folded.replace(/[\0-\x1f\p{Surrogate}]/gu, "").trim();
}
