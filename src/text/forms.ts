import { append } from "#core/append.ts";
import { foldWord } from "./fold.ts";
import { stemEnglish } from "./stem-english.ts";

/**
 * One searchable form of a piece of text. `term` is the term looked up in the index: the English stem of the word, or
 * the word itself. `exact` is the word as written (normalized); if it differs from the term, the index also has
 * `EXACT_MARK + exact`, for quoted words and prefixes.
 */
export interface WordForm {
  term: string;
  exact: string;
  /** The index term of the exact form; equal to `term` if both forms are the same. */
  exactTerm: string;
  /** UTF-16 offsets inside the chunk. */
  start: number;
  end: number;
  /** Whether this is a whole identifier that also has parts; a whole has no position of its own in phrases. */
  isWhole: boolean;
  /** Parts of a whole, one level down: forms of the parts, or groups of them. */
  parts: readonly WordForm[];
}

/** Starts the index terms of exact forms; no tokenizer output begins with it. */
export const EXACT_MARK = "=";

/** Longer words are noise (encoded data). Longer identifiers are stored only by their parts. */
export const MAX_TERM_LENGTH = 64;

export interface WordForms {
  /** All wholes and leaf words of a chunk, in reading order; `roots` contains the same forms as trees. */
  flat: readonly WordForm[];
  roots: readonly WordForm[];
  /** A counter for callers that count the chunks of one text. It is 0 before and after the count. */
  tally: number;
}

/**
 * Patterns that split an identifier, from the coarsest to the finest. A hyphen makes an identifier only together with a digit (`ABC-123`, `utf-8`). A
 * hyphen followed by a soft hyphen was at the end of a line: the word matches whole, without the hyphen, and by its parts.
 */
const CUTS = [/[/\\]/, /@/, /\./, /-(?!\u00ad)/, /-\u00ad/, /_+/] as const;
const HYPHEN_CUT = 3;
const LINE_END_CUT = 4;

/**
 * Returns the forms of a chunk: words joined by `_ . / \ - @ '` without a space in between. Identifiers are returned whole and split:
 * `src/mainFile.ts` yields itself, `src`, `mainfile.ts`, `mainfile`, `main`, `file`, `ts`.
 */
export function decompose(chunk: string): WordForms {
  const roots = cut(chunk, 0, 0);
  const flat: WordForm[] = [];
  const visit = (form: WordForm) => {
    flat.push(form);
    form.parts.forEach(visit);
  };
  roots.forEach(visit);
  return { flat, roots, tally: 0 };
}

/** A form made of one normalized word. */
export function wordForm(exact: string, start: number, end: number, parts: readonly WordForm[] = []): WordForm {
  const term = stem(exact);
  const exactTerm = term === exact ? term : EXACT_MARK + exact;
  return { term, exact, exactTerm, start, end, isWhole: parts.length > 0, parts };
}

function cut(text: string, offset: number, level: number): readonly WordForm[] {
  const separator = CUTS[level];
  if (separator === undefined) return cutApostrophes(text, offset);
  if (!separator.test(text)) return cut(text, offset, level + 1);
  const parts: WordForm[] = [];
  let at = 0;
  for (const piece of text.split(separator)) {
    const start = piece === "" ? at : text.indexOf(piece, at);
    if (piece !== "") append(parts, cut(piece, offset + start, level + 1));
    at = start + piece.length;
  }
  if (level === LINE_END_CUT && parts.length > 1)
    return [wordForm(foldWord(text.replaceAll("-", "")), offset, offset + text.length, parts)];
  const isIdentifier = level !== HYPHEN_CUT || /\p{N}/u.test(text);
  if (!isIdentifier || parts.length < 2 || text.length > MAX_TERM_LENGTH) return parts;
  const exact = foldWord(text);
  const end = offset + text.length;
  return [{ term: exact, exact, exactTerm: exact, start: offset, end, isWhole: true, parts }];
}

/** Removes apostrophes: `Anna's` becomes Anna; in `O'Brien` and `don't` only the apostrophe is dropped. */
function cutApostrophes(text: string, offset: number): readonly WordForm[] {
  if (!/['\u2019]/.test(text)) return cutCamelCase(text, offset);
  const bare = text.replace(/['\u2019][sS]$/, "");
  if (!/['\u2019]/.test(bare)) return cutCamelCase(bare, offset);
  return leaf(foldWord(bare.replace(/['\u2019]/g, "")), offset, offset + text.length);
}

function cutCamelCase(text: string, offset: number): readonly WordForm[] {
  const exact = foldWord(text);
  if (exact === text || !/[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u.test(text)) {
    return leaf(exact, offset, offset + text.length);
  }
  const parts: WordForm[] = [];
  for (const match of text.matchAll(/\p{Lu}+(?!\p{Ll})[\p{N}\p{M}]*|\p{Lu}?[^\p{Lu}]+|\p{Lu}/gu)) {
    append(parts, leaf(foldWord(match[0]), offset + match.index, offset + match.index + match[0].length));
  }
  if (parts.length < 2 || exact.length > MAX_TERM_LENGTH) return parts;
  return [wordForm(exact, offset, offset + text.length, parts)];
}

function leaf(exact: string, start: number, end: number): readonly WordForm[] {
  return exact === "" || exact.length > MAX_TERM_LENGTH ? [] : [wordForm(exact, start, end)];
}

function stem(word: string): string {
  if (word.length < 3) return word;
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code < 97 || code > 122) return word;
  }
  return stemEnglish(word);
}
