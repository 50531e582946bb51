import type { IndexedDocument } from "#server/ports/search-index.ts";

/** Prefixes of index terms that are no words; the tokenizer never makes a control character. */
export const PERSON_TERM = "\u0001p";
export const ASSIGNEE_TERM = "\u0001a";
export const CONTAINER_TERM = "\u0001c";

/** Calls `visit` with every index term of a document and its weight: words first, then people and containers. */
export function visitTerms(document: IndexedDocument, visit: (term: string, weight: number) => void): void {
  const { terms, weights } = document.text;
  if (terms !== "") {
    const words = terms.split("\n");
    for (let i = 0; i < words.length; i++) visit(words[i] ?? "", weights[i] ?? 0);
  }
  for (const id of new Set(document.people)) visit(PERSON_TERM + id, 1);
  for (const id of new Set(document.assignees)) visit(ASSIGNEE_TERM + id, 1);
  for (const id of new Set(document.containers)) visit(CONTAINER_TERM + id, 1);
}
