import { foldWord } from "./fold.ts";

/** Several times the length of a stored name. */
const LOOKED_AT_CHARS = 2_000;

/** A name as it is compared: its words without case, accents and hidden characters, with one space between. */
export function nameKeyOf(name: string): string {
  return name.slice(0, LOOKED_AT_CHARS).split(/\s+/u).filter(Boolean).map(foldWord).join(" ");
}
