import type { Cut } from "./cut.ts";
import { findPrivateKeys } from "./private-keys.ts";
import { findTokens } from "./tokens.ts";

/** The result of masking a text. */
export interface MaskedText {
  text: string;
  /** The replaced pieces in ascending order, one for each secret. */
  cuts: readonly Cut[];
}

/**
 * Removes credentials: tokens in distinctive formats, private keys, and passwords in database addresses. Each is replaced with a mask such as
 * `[removed: aws key]`. A text without credentials is returned unchanged. Source: S37.
 */
export function maskSecrets(text: string): MaskedText {
  const cuts = [...findPrivateKeys(text), ...findTokens(text)].sort((a, b) => a.start - b.start);
  if (cuts.length === 0) return { text, cuts };
  const kept: Cut[] = [];
  const parts: string[] = [];
  let at = 0;
  for (const cut of cuts) {
    // A token inside a private key was removed with the key.
    if (cut.start < at) continue;
    parts.push(text.slice(at, cut.start), cut.mask);
    kept.push(cut);
    at = cut.end;
  }
  parts.push(text.slice(at));
  return { text: parts.join(""), cuts: kept };
}
