import { append } from "#core/append.ts";
import { FACTORS, type Ranking } from "./factors.ts";
import type { WordForm } from "./forms.ts";
import { foldWord } from "./fold.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { type Chunk, sharedTokenizer, type Token, type Tokenizer } from "./tokenize.ts";

/** One condition that an item fulfils or doesn't. `written` is the part of the query that it was parsed from. */
export type QueryUnit =
  /** `parts` replace an identifier (`server/main.ts`) if no item visible to the viewer contains the whole identifier. */
  | { type: "word"; written: string; term: string; parts: readonly QueryUnit[] }
  | { type: "prefix"; written: string; prefix: string }
  /** A quoted text: words in this order with nothing in between, compared as written instead of by stem. It may be a single word. */
  | { type: "phrase"; written: string; words: readonly PhraseWord[] };

export interface PhraseWord {
  term: string;
  exactTerm: string;
}

export interface ParsedQuery {
  /** Units that items should have. */
  units: readonly QueryUnit[];
  /** Units that items must not have. */
  excluded: readonly QueryUnit[];
  /** Whether words beyond the limit were left out. */
  isCut: boolean;
}

/** Maximum number of words in a query. Source: S24. */
export const MAX_WORDS = 64;
export const MAX_PREFIXES = 4;
const MIN_PREFIX_LENGTH = 2;

interface Piece {
  text: string;
  isQuoted: boolean;
  isExcluded: boolean;
}

/**
 * Parses a query as people and agents write it; no text is an error.
 *
 * Words, "phrases", prefix*; `-word` and `-"phrase"` only where the minus starts a word and a letter or quote follows (never `--flag`); a quote
 * without its partner is a plain character; `AND` is ignored, `OR` is a word (and a stop word); stop words are dropped before the query is truncated,
 * unless they are quoted or alone. Source: B8, S24.
 */
export function parseQuery(
  query: string,
  tokenizer: Tokenizer = sharedTokenizer(),
  stopWords: Ranking["stopWords"] = FACTORS.stopWords.weight,
): ParsedQuery {
  const wanted: QueryUnit[] = [];
  const unwanted: QueryUnit[] = [];
  for (const { text, isQuoted, isExcluded } of splitPieces(query)) {
    const found = isQuoted ? quotedUnit(text, tokenizer) : plainUnits(text, tokenizer);
    append(isExcluded ? unwanted : wanted, found);
  }
  const budget = { words: MAX_WORDS, prefixes: MAX_PREFIXES, isCut: false };
  const fitting = (units: readonly QueryUnit[]) => distinct(units).flatMap((unit) => withinBudget(unit, budget) ?? []);
  // Excluded words are rarely many, and dropping one would show results that weren't wanted.
  const excluded = fitting(unwanted);
  const significant = stopWords === FACTORS.stopWords.off ? wanted : dropStopWords(wanted);
  return { units: fitting(significant), excluded, isCut: budget.isCut };
}

/** Returns a key that is equal for units with the same meaning. */
export function unitKey(unit: QueryUnit): string {
  switch (unit.type) {
    case "word":
      return `w ${unit.term}`;
    case "prefix":
      return `p ${unit.prefix}`;
    case "phrase":
      return `" ${unit.words.map((word) => word.exactTerm).join(" ")}`;
  }
}

const QUOTES = '"\u201c\u201d\u201e';

function splitPieces(query: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = "";
  const flush = () => {
    if (plain.trim() !== "") pieces.push({ text: plain, isQuoted: false, isExcluded: false });
    plain = "";
  };
  let i = 0;
  while (i < query.length) {
    const isWordStart = i === 0 || /\s/.test(query[i - 1] ?? "");
    const isExcluded = isWordStart && query[i] === "-" && /[\p{L}"\u201c\u201e]/u.test(characterAt(query, i + 1));
    const at = isExcluded ? i + 1 : i;
    const phraseEnd = isQuote(query[at]) ? closingQuote(query, at) : -1;
    if (phraseEnd > 0) {
      flush();
      pieces.push({ text: query.slice(at + 1, phraseEnd), isQuoted: true, isExcluded });
      i = phraseEnd + 1;
    } else if (isExcluded && !isQuote(query[at])) {
      flush();
      const word = /^\S+/.exec(query.slice(at))?.[0] ?? "";
      pieces.push({ text: word, isQuoted: false, isExcluded });
      i = at + word.length;
    } else plain += query[i++];
  }
  flush();
  return pieces;
}

function characterAt(text: string, i: number): string {
  const codePoint = text.codePointAt(i);
  return codePoint === undefined ? "" : String.fromCodePoint(codePoint);
}

function isQuote(character: string | undefined): boolean {
  return character !== undefined && QUOTES.includes(character);
}

function closingQuote(query: string, from: number): number {
  for (let i = from + 1; i < query.length; i++) if (isQuote(query[i])) return i;
  return -1;
}

function quotedUnit(text: string, tokenizer: Tokenizer): QueryUnit[] {
  const words = phraseWords(tokenizer.tokenize(text));
  return words.length === 0 ? [] : [{ type: "phrase", written: text.trim(), words }];
}

/** Returns the words by which a phrase is compared: all leaf words, without wholes. */
export function phraseWords(tokens: readonly Token[]): PhraseWord[] {
  return tokens.filter((token) => !token.isExtra).map(({ term, exactTerm }) => ({ term, exactTerm }));
}

function plainUnits(text: string, tokenizer: Tokenizer): QueryUnit[] {
  const units: QueryUnit[] = [];
  tokenizer.chunks(text, (chunk) => {
    const written = text.slice(chunk.start, chunk.end);
    if (written === "AND") return;
    const isPrefix = text[chunk.end] === "*" && !/[\p{L}\p{N}]/u.test(characterAt(text, chunk.end + 1));
    append(units, chunk.isUnspaced ? unspacedUnits(chunk, written) : spacedUnits(chunk, written, isPrefix));
  });
  return units;
}

function spacedUnits(chunk: Chunk, written: string, isPrefix: boolean): QueryUnit[] {
  const units = chunk.forms.roots.map((form) => wordUnit(form, written));
  const last = chunk.forms.roots.at(-1);
  if (!isPrefix || last === undefined) return units;
  const prefix = foldWord(written.slice(last.start, last.end));
  if (prefix.length < MIN_PREFIX_LENGTH) return units;
  return [...units.slice(0, -1), { type: "prefix", written: `${written}*`, prefix }];
}

function wordUnit(form: WordForm, written: string): QueryUnit {
  const parts = form.parts.map((part) => wordUnit(part, written));
  return { type: "word", written, term: form.term, parts };
}

/** Returns the bigrams of a run. A single character is searched for at the start of bigrams, and at the end of runs. */
function unspacedUnits(chunk: Chunk, written: string): QueryUnit[] {
  const { flat } = chunk.forms;
  const only = flat[0];
  if (flat.length === 1 && only !== undefined) return [{ type: "prefix", written, prefix: only.exact }];
  return flat.slice(0, -1).map((form) => ({
    type: "word",
    written: written.slice(form.start, form.end),
    term: form.term,
    parts: [],
  }));
}

function withinBudget(
  unit: QueryUnit,
  budget: { words: number; prefixes: number; isCut: boolean },
): QueryUnit | undefined {
  const cost = unit.type === "phrase" ? unit.words.length : 1;
  if (cost > budget.words) {
    budget.isCut = true;
    if (unit.type !== "phrase" || budget.words === 0) return undefined;
    // The beginning of a long phrase is still useful. If it were dropped, a query that consists of one long phrase would match everything.
    const words = unit.words.slice(0, budget.words);
    budget.words = 0;
    return { ...unit, words };
  }
  budget.words -= cost;
  if (unit.type !== "prefix") return unit;
  if (budget.prefixes > 0) {
    budget.prefixes--;
    return unit;
  }
  budget.isCut = true;
  return undefined;
}

function dropStopWords(units: readonly QueryUnit[]): readonly QueryUnit[] {
  const significant = units.filter((unit) => unit.type !== "word" || !STOP_WORDS.has(unit.written.toLowerCase()));
  return significant.length > 0 ? significant : units;
}

function distinct(units: readonly QueryUnit[]): QueryUnit[] {
  return [...new Map(units.map((unit) => [unitKey(unit), unit] as const).toReversed()).values()].toReversed();
}
