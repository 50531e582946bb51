import { phraseWords, type PhraseWord } from "#text/query.ts";
import { sharedTokenizer } from "#text/tokenize.ts";

/**
 * Reads the stored fields in which a phrase must occur as a whole: the title first, then path segments, labels, and the
 * text last. Undefined when the item no longer exists. `most` limits the text to that many UTF-16 code units.
 */
export type ReadText = (workspaceId: string, kbId: string, most?: number) => readonly string[] | undefined;

/** Checks whether the words are adjacent, as written, in one of the fields. */
export function fieldsHavePhrase(fields: readonly string[], words: readonly PhraseWord[]): boolean {
  return fields.some((field) => hasPhrase(field, words));
}

function hasPhrase(field: string, words: readonly PhraseWord[]): boolean {
  const present = phraseWords(sharedTokenizer().tokenize(field));
  const first = words[0];
  for (let i = 0; i + words.length <= present.length; i++) {
    if (present[i]?.exactTerm !== first?.exactTerm) continue;
    if (words.every((word, k) => present[i + k]?.exactTerm === word.exactTerm)) return true;
  }
  return false;
}
