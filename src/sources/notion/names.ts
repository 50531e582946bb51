import { digestOf } from "#sources/digest.ts";

// Control characters, and marks that change the direction of the surrounding text.
// oxlint-disable-next-line no-control-regex -- names may hold them
const UNSEEN = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;
const MAX_CHARS = 500;

/** Returns the displayed text of a title. */
export function cleanName(name: string, otherwise = "Untitled"): string {
  const clean = name
    .slice(0, 10 * MAX_CHARS)
    .replace(UNSEEN, " ")
    .replace(/\s+/g, " ")
    .trim()
    .normalize("NFC");
  return clean === "" ? otherwise : [...clean].slice(0, MAX_CHARS).join("");
}

export function digest(value: unknown): string {
  return digestOf(value, 16);
}
