import type { CountTokens } from "./tokens.ts";

/**
 * The text form and the structured form of one answer. Each form is complete: the text is made from the structured
 * form. Source: B1.
 */
export interface Rendered<T extends object> {
  text: string;
  structured: T;
}

export interface TokenBudget {
  maxTokens: number;
  count: CountTokens;
}

/** Returns the first candidate within the budget. If none is, returns the last one, which is always very small. */
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

/** The number of entries in a form, and the number of its tokens. */
interface Measured {
  shown: number;
  tokens: number;
}

/** The number of forms whose size is guessed from earlier sizes. After that, halving guarantees an end. */
const GUESSES = 4;

/**
 * Returns the form with the most entries that fits, from `most` down to none; undefined if not even the form without
 * entries fits. Entries have similar sizes, so two or three forms are made and counted instead of up to 50.
 *
 * @param formsOf  the texts of a form, each of which has to fit
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

/** Returns where a line through both sizes meets the budget. */
function between(fitting: Measured, beyond: Measured, maxTokens: number): number {
  const share = (maxTokens - fitting.tokens) / (beyond.tokens - fitting.tokens);
  const shown = Math.floor(fitting.shown + share * (beyond.shown - fitting.shown));
  return Math.min(beyond.shown - 1, Math.max(fitting.shown + 1, shown));
}

function middleOf(fitting: Measured, beyond: Measured): number {
  return Math.floor((fitting.shown + beyond.shown) / 2);
}

/** Whether both forms fit. Both must, because a host shows the model only one of them. */
export async function bothFit(form: Rendered<object>, budget: TokenBudget): Promise<boolean> {
  return fits(bothForms(form), budget);
}

export function bothForms({ text, structured }: Rendered<object>): string[] {
  return [text, JSON.stringify(structured)];
}

/** Whether each of the texts fits the budget. */
export async function fits(texts: readonly string[], budget: TokenBudget): Promise<boolean> {
  return (await sizeOf(texts, budget)) <= budget.maxTokens;
}

/**
 * Returns an upper bound of the tokens in the largest text. No token is shorter than a byte, so short texts aren't
 * counted.
 */
export async function sizeOf(texts: readonly string[], { maxTokens, count }: TokenBudget): Promise<number> {
  const bytes = Math.max(...texts.map((text) => Buffer.byteLength(text)));
  return bytes <= maxTokens ? bytes : Math.max(...(await count(texts)));
}
