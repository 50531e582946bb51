import { foldWord } from "./fold.ts";

/** A name as it is compared: its words without case, accents and hidden characters, with one space between. */
export function nameKeyOf(name: string): string {
  return name.split(/\s+/u).filter(Boolean).map(foldWord).join(" ");
}
