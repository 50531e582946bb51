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

/** The first candidate within the budget; if none is, the last one, which is made to be tiny. */
export async function firstThatFits<T extends object>(
  candidates: Iterable<Rendered<T>>,
  budget: TokenBudget,
): Promise<Rendered<T>> {
  let last: Rendered<T> | undefined;
  for (const candidate of candidates) {
    last = candidate;
    if (await bothFit(candidate, budget)) break;
  }
  if (last === undefined) throw new Error("An answer has at least one form.");
  return last;
}

/** The number of entries in a form, and its tokens. */
interface Measured {
  shown: number;
  tokens: number;
}

/** This many forms are guessed from the sizes of earlier ones; after that, halving is guaranteed to end. */
const GUESSES = 4;

/**
 * The form with the most entries that fits, from `most` down to none; undefined when not even that one does. Entries
 * have about the same size, so two or three forms are made and counted instead of 50, one by one.
 *
 * @param formsOf  the texts of a form that have to fit, each alone
 */
export async function mostThatFits<Form>(
  most: number,
  make: (shown: number) => Form,
  formsOf: (form: Form) => readonly string[],
  budget: TokenBudget,
): Promise<Form | undefined> {
  let best: Form | undefined;
  let fitting: Measured = { shown: -1, tokens: 0 };
  let beyond: Measured = { shown: most + 1, tokens: Infinity };
  for (let tries = 0, shown = most; fitting.shown + 1 < beyond.shown; tries++) {
    const form = make(shown);
    const measured = { shown, tokens: await sizeOf(formsOf(form), budget) };
    if (measured.tokens <= budget.maxTokens) [best, fitting] = [form, measured];
    else beyond = measured;
    shown = tries < GUESSES ? between(fitting, beyond, budget.maxTokens) : middleOf(fitting, beyond);
  }
  return best;
}

/** Where a line through both sizes meets the budget. */
function between(fitting: Measured, beyond: Measured, maxTokens: number): number {
  const share = (maxTokens - fitting.tokens) / (beyond.tokens - fitting.tokens);
  const shown = Math.floor(fitting.shown + share * (beyond.shown - fitting.shown));
  return Math.min(beyond.shown - 1, Math.max(fitting.shown + 1, shown));
}

function middleOf(fitting: Measured, beyond: Measured): number {
  return Math.floor((fitting.shown + beyond.shown) / 2);
}

/** Both forms must fit: hosts show the model one of the two. */
export async function bothFit(form: Rendered<object>, budget: TokenBudget): Promise<boolean> {
  return fits(bothForms(form), budget);
}

export function bothForms({ text, structured }: Rendered<object>): string[] {
  return [text, JSON.stringify(structured)];
}

/** Whether each of the texts is within the budget. */
export async function fits(texts: readonly string[], budget: TokenBudget): Promise<boolean> {
  return (await sizeOf(texts, budget)) <= budget.maxTokens;
}

/** Upper bound of the tokens of the largest text. No token is shorter than a byte, so short texts are not counted. */
export async function sizeOf(texts: readonly string[], { maxTokens, count }: TokenBudget): Promise<number> {
  const bytes = Math.max(...texts.map((text) => Buffer.byteLength(text)));
  return bytes <= maxTokens ? bytes : Math.max(...(await count(texts)));
}
