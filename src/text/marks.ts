import { type ParsedQuery, parseQuery, type PhraseWord, type QueryUnit } from "./query.ts";
import { sharedTokenizer, type Token } from "./tokenize.ts";

/** The words and phrases of a query to find in a text, ready for snippets and `find`. */
export interface Marks {
  /** Index terms, each with the number of the query unit that it belongs to. */
  terms: ReadonlyMap<string, number>;
  prefixes: readonly { prefix: string; unit: number }[];
  phrases: readonly { words: readonly PhraseWord[]; unit: number }[];
}

/** A marked piece of text. */
export interface Mark {
  start: number;
  end: number;
  unit: number;
}

/** Makes the marks of a query as people write it. Excluded words aren't marked. */
export function makeMarks(query: string): Marks {
  return marksOf(parseQuery(query));
}

/** Makes the marks of a parsed query. */
export function marksOf({ units }: Pick<ParsedQuery, "units">): Marks {
  const terms = new Map<string, number>();
  const prefixes: { prefix: string; unit: number }[] = [];
  const phrases: { words: readonly PhraseWord[]; unit: number }[] = [];
  const addWord = (unit: QueryUnit & { type: "word" }, number: number) => {
    if (!terms.has(unit.term)) terms.set(unit.term, number);
    for (const part of unit.parts) if (part.type === "word") addWord(part, number);
  };
  units.forEach((unit, number) => {
    if (unit.type === "word") addWord(unit, number);
    else if (unit.type === "prefix") prefixes.push({ prefix: unit.prefix, unit: number });
    else phrases.push({ words: unit.words, unit: number });
  });
  return { terms, prefixes, phrases };
}

/** Returns all marked pieces of a text, sorted by start. Parts of a marked whole may overlap it. */
export function findMarks(text: string, marks: Marks): Mark[] {
  const found = marks.phrases.length > 0 ? findPhrases(text, marks) : findWords(text, marks);
  return found.length > 1 ? found.sort((a, b) => a.start - b.start || a.end - b.end) : found;
}

/** Most queries have no phrase, and then the neighbouring words don't matter. */
function findWords(text: string, marks: Marks): Mark[] {
  const found: Mark[] = [];
  sharedTokenizer().chunks(text, ({ start, forms }) => {
    for (const form of forms.flat) {
      const unit = unitOf(marks, form);
      if (unit !== undefined) found.push({ start: start + form.start, end: start + form.end, unit });
    }
  });
  return found;
}

function findPhrases(text: string, marks: Marks): Mark[] {
  const tokens = sharedTokenizer().tokenize(text);
  const found: Mark[] = [];
  for (const token of tokens) {
    const unit = unitOf(marks, token);
    if (unit !== undefined) found.push({ start: token.start, end: token.end, unit });
  }
  addPhrases(tokens, marks, found);
  return found;
}

function unitOf(marks: Marks, { term, exactTerm }: Pick<Token, "term" | "exactTerm">): number | undefined {
  return marks.terms.get(term) ?? prefixUnit(marks, exactTerm);
}

function prefixUnit({ prefixes }: Marks, exactTerm: string): number | undefined {
  if (prefixes.length === 0) return undefined;
  const word = exactTerm.startsWith("=") ? exactTerm.slice(1) : exactTerm;
  return prefixes.find(({ prefix }) => word.startsWith(prefix))?.unit;
}

function addPhrases(tokens: readonly Token[], marks: Marks, found: Mark[]): void {
  const words = tokens.filter((token) => !token.isExtra);
  for (const { words: wanted, unit } of marks.phrases) {
    for (let i = 0; i + wanted.length <= words.length; i++) {
      if (!wanted.every((word, k) => words[i + k]?.exactTerm === word.exactTerm)) continue;
      const first = words[i];
      const last = words[i + wanted.length - 1];
      if (first !== undefined && last !== undefined) found.push({ start: first.start, end: last.end, unit });
    }
  }
}
