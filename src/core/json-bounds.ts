import { endOfString } from "./json-text.ts";

/** Limits of a JSON text, which are checked before the text is parsed. */
export interface JsonBounds {
  /** Limit of nested brackets. */
  maxDepth: number;
  /** Keys of objects and elements of arrays, together. */
  maxMembers: number;
}

/** Limit of nesting; legitimate texts aren't nested deeper. */
export const MAX_JSON_DEPTH = 64;

/**
 * Returns the limit that a text exceeds, or undefined when the text may be parsed. Works in one pass without building
 * anything. It stops at the first bracket or comma too many, so a hostile text costs no more than a good one.
 */
export function findJsonFault(text: string, { maxDepth, maxMembers }: JsonBounds): "depth" | "members" | undefined {
  let [depth, members] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        if (++depth > maxDepth) return "depth";
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth--;
        break;
      case COLON:
      case COMMA:
        if (++members > maxMembers) return "members";
        break;
    }
  }
  return undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
