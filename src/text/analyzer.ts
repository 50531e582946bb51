import { FACTORS, type Ranking } from "./factors.ts";
import type { WordForms } from "./forms.ts";
import { orderOf } from "./order.ts";
import { sharedTokenizer, type Tokenizer } from "./tokenize.ts";

/** The term vector of an item: what the index stores of its words. */
export interface AnalyzedText {
  /** The distinct terms, sorted by UTF-16 code unit, joined by "\n"; empty if there are no words. */
  terms: string;
  /** One weight per term, in the same order: min(255, 4·tf in title and name + 2·tf in path and labels + tf in the text). */
  weights: Uint8Array;
  /** Document length: the sum of the same weights over all words, before capping. Exact forms stored next to a stem aren't included. */
  length: number;
}

/** Increase it when the same item gets different terms, including the terms of its fields. Indexes of another version are rebuilt. */
export const ANALYZER_VERSION = 3;

export interface DocumentFields {
  title: string;
  /** The file's name when the title differs from it; it is weighted like the title. */
  name?: string | undefined;
  path: readonly string[];
  labels: readonly string[];
  text: string;
}

/**
 * Returns the key of an item if the key is a name. A task's key is a number in a project, and the project's name would match every one of its tasks.
 */
export function nameInKey({ kind, key }: { kind: string; key: string | null }): string | undefined {
  return kind === "task" ? undefined : (key ?? undefined);
}

/** The weight of a word in these fields; a word in the text has weight 1. */
export type FieldWeights = Pick<Ranking, "title" | "place">;

const FIELD_WEIGHTS: FieldWeights = { title: FACTORS.title.weight, place: FACTORS.place.weight };

/**
 * Builds the term vector of an item.
 *
 * How stem and exact form work together: a word is stored, found and scored by its stem ("running" and "runs" are both `run`: one posting list per
 * word). If the word as written differs from its stem, it is stored a second time as `=running`; these exact forms serve quoted words and prefixes,
 * and count neither in scores of plain words nor in the length. Identifiers are stored whole and by their parts; scores and the length include both.
 */
export function analyzeDocument(
  fields: DocumentFields,
  tokenizer: Tokenizer = sharedTokenizer(),
  { title, place } = FIELD_WEIGHTS,
): AnalyzedText {
  // The tokenizer returns the same object each time for a chunk that it knows. The count is stored on that object, so that the chunk's terms are
  // looked up once.
  const met: WordForms[] = [];
  const add = (text: string, weight: number) => {
    tokenizer.chunks(text, ({ forms }) => {
      if (forms.tally === 0) met.push(forms);
      forms.tally += weight;
    });
  };
  add(fields.title, title);
  if (fields.name !== undefined && fields.name !== fields.title) add(fields.name, title);
  for (const text of fields.path) add(text, place);
  for (const text of fields.labels) add(text, place);
  add(fields.text, 1);

  const terms: string[] = [];
  const weights: number[] = [];
  let length = 0;
  for (const forms of met) {
    const weight = forms.tally;
    forms.tally = 0;
    for (const { term, exactTerm } of forms.flat) {
      length += weight;
      terms.push(term);
      weights.push(weight);
      if (exactTerm === term) continue;
      terms.push(exactTerm);
      weights.push(weight);
    }
  }
  return { ...addUp(terms, weights), length };
}

/** Returns each of these terms once, sorted, with its weights added up. */
function addUp(terms: readonly string[], weights: readonly number[]): Pick<AnalyzedText, "terms" | "weights"> {
  const distinct: string[] = [];
  const capped = new Uint8Array(terms.length);
  for (const at of orderOf(terms)) {
    const [term = "", weight = 0] = [terms[at], weights[at]];
    // A word with several forms contributes its stem once per form.
    if (distinct[distinct.length - 1] !== term) distinct.push(term);
    const number = distinct.length - 1;
    capped[number] = Math.min(255, (capped[number] ?? 0) + weight);
  }
  return { terms: distinct.join("\n"), weights: capped.slice(0, distinct.length) };
}
