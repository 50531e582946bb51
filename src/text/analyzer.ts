import { FACTORS, type Ranking } from "./factors.ts";
import type { WordForms } from "./forms.ts";
import { orderOf } from "./order.ts";
import { sharedTokenizer, type Tokenizer } from "./tokenize.ts";

/** The term vector of an item: what the index stores of its words. */
export interface AnalyzedText {
  /** Distinct terms, sorted by UTF-16 code unit, joined by "\n"; empty for no words. */
  terms: string;
  /** One per term, in the same order: min(255, 4·tf in title and name + 2·tf in path and labels + tf in the text). */
  weights: Uint8Array;
  /**
   * Document length: the same weights of all words added up before capping; exact forms next to a stem do not count.
   */
  length: number;
}

/**
 * Increase it when the same item gets different terms, those of its fields included: indexes of another version are
 * rebuilt.
 */
export const ANALYZER_VERSION = 3;

export interface DocumentFields {
  title: string;
  /** The file's name when the title differs from it: it counts like the title. */
  name?: string | undefined;
  path: readonly string[];
  labels: readonly string[];
  text: string;
}

/**
 * The key of an item if it is a name: a task's key is a number in a project, and the project's name would match every
 * one of its tasks.
 */
export function nameInKey({ kind, key }: { kind: string; key: string | null }): string | undefined {
  return kind === "task" ? undefined : (key ?? undefined);
}

/** The weight of a word in these fields; one in the text counts once. */
export type FieldWeights = Pick<Ranking, "title" | "place">;

const FIELD_WEIGHTS: FieldWeights = { title: FACTORS.title.weight, place: FACTORS.place.weight };

/**
 * Builds the term vector of an item.
 *
 * How stem and exact form work together: a word is stored, found and scored by its stem ("running" and "runs" are both
 * `run`: one posting list per word). If the word as written differs from its stem, it is stored a second time as
 * `=running`; these exact forms serve quoted words and prefixes, and count neither in scores of plain words nor in the
 * length. Identifiers are stored whole and by their parts; both count.
 */
export function analyzeDocument(
  fields: DocumentFields,
  tokenizer: Tokenizer = sharedTokenizer(),
  { title, place } = FIELD_WEIGHTS,
): AnalyzedText {
  // A chunk known to the tokenizer is the same object each time: with the count on that object, its terms are looked up
  // once.
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

/** Each of these terms once, sorted, with its weights added up. */
function addUp(terms: readonly string[], weights: readonly number[]): Pick<AnalyzedText, "terms" | "weights"> {
  const distinct: string[] = [];
  const capped = new Uint8Array(terms.length);
  for (const at of orderOf(terms)) {
    const [term = "", weight = 0] = [terms[at], weights[at]];
    // A word in several forms contributes its stem once for each.
    if (distinct[distinct.length - 1] !== term) distinct.push(term);
    const number = distinct.length - 1;
    capped[number] = Math.min(255, (capped[number] ?? 0) + weight);
  }
  return { terms: distinct.join("\n"), weights: capped.slice(0, distinct.length) };
}
