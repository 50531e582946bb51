import type { IndexedDocument } from "#storage/search-index.ts";

/** Prefixes of index terms that aren't words. They contain a control character, which the tokenizer never emits. */
export const PERSON_TERM = "\u0001p";
export const ASSIGNEE_TERM = "\u0001a";
export const CONTAINER_TERM = "\u0001c";
export const FIELD_TERM = "\u0001f";

/** Whether this is the term of a person, a container or a field, not a word of a text. */
export function isIdTerm(term: string): boolean {
  return term.startsWith("\u0001");
}

/** Called with `text.slice(start, end)` as a term, without allocating a substring. */
export type VisitTerm = (text: string, start: number, end: number, weight: number) => void;

/**
 * Calls `visit` with every index term of a document and its weight: words first, then people, containers and fields.
 */
export function visitTerms(document: IndexedDocument, visit: VisitTerm): void {
  const { terms, weights } = document.text;
  let start = 0;
  for (let i = 0; i < weights.length; i++) {
    const found = terms.indexOf("\n", start);
    const end = found < 0 ? terms.length : found;
    visit(terms, start, end, weights[i] ?? 0);
    start = end + 1;
  }
  visitIdTerms(document, (term) => visit(term, 0, term.length, 1));
}

/**
 * Calls `visit` with every index term that isn't a word: people, assignees, containers and fields. Their weight is 1.
 */
export function visitIdTerms(
  document: Pick<IndexedDocument, "people" | "assignees" | "containers" | "fields">,
  visit: (term: string) => void,
): void {
  for (const id of new Set(document.people)) visit(PERSON_TERM + id);
  for (const id of new Set(document.assignees)) visit(ASSIGNEE_TERM + id);
  for (const id of new Set(document.containers)) visit(CONTAINER_TERM + id);
  // A row that an earlier version wrote has no fields; its workspace is being rebuilt.
  for (const term of new Set(document.fields)) visit(FIELD_TERM + term);
}
