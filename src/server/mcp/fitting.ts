import type { CountTokens } from "./tokens.ts";

/** Both forms of one answer. Either alone is enough: the text is made from the structured form. Source: B1. */
export interface Rendered<T extends object> {
  text: string;
  structured: T;
}

export interface TokenBudget {
  maxTokens: number;
  count: CountTokens;
}

/** The first candidate within the budget; the last one (made to be tiny) when none is. */
export function firstThatFits<T extends object>(candidates: Iterable<Rendered<T>>, budget: TokenBudget): Rendered<T> {
  let last: Rendered<T> | undefined;
  for (const candidate of candidates) {
    last = candidate;
    if (bothFit(candidate, budget)) break;
  }
  if (last === undefined) throw new Error("An answer has at least one form.");
  return last;
}

/**
 * The form with the most entries that fits, from `most` down to none; undefined when not even that one does. Halves what is
 * left to try, since each form is made and counted again: of 50 entries with long addresses, one by one took a second.
 * Source: S67.
 */
export function mostThatFits<Form>(
  most: number,
  make: (shown: number) => Form,
  isFitting: (form: Form) => boolean,
): Form | undefined {
  let best: Form | undefined;
  let [least, beyond] = [0, most + 1];
  let next = most;
  while (least < beyond) {
    const form = make(next);
    if (isFitting(form)) {
      best = form;
      least = next + 1;
    } else beyond = next;
    next = Math.floor((least + beyond) / 2);
  }
  return best;
}

/** Both forms must fit: hosts show the model one of the two. */
export function bothFit({ text, structured }: Rendered<object>, budget: TokenBudget): boolean {
  return fits(text, budget) && fits(JSON.stringify(structured), budget);
}

/** No token is shorter than a byte, so a short form is not counted. */
export function fits(form: string, { maxTokens, count }: TokenBudget): boolean {
  return Buffer.byteLength(form) <= maxTokens || count(form) <= maxTokens;
}
