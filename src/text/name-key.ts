import { foldWord } from "./fold.ts";

/** Only this many characters are processed; several times the length of a stored name. */
const LOOKED_AT_CHARS = 2_000;

/** Returns a name in the form used for comparison: its words without case, accents and hidden characters, with one space between words. */
export function nameKeyOf(name: string): string {
  return name.slice(0, LOOKED_AT_CHARS).split(/\s+/u).filter(Boolean).map(foldWord).join(" ");
}
