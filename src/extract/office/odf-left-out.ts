/** True for elements of OpenDocument that are no text of the document. */
export function isLeftOut(name: string): boolean {
  // How an index is made up.
  return LEFT_OUT.has(name) || name.endsWith("-source");
}

/** Deleted text, numbers of notes (we count them), what is there for machines. */
const LEFT_OUT = new Set([
  "text:tracked-changes",
  "table:tracked-changes",
  "text:note-citation",
  "text:hidden-text",
  "text:script",
  "text:page-number",
  "office:scripts",
  "office:forms",
  "office:binary-data",
  "office:event-listeners",
  "presentation:settings",
  "presentation:date-time-decl",
  "text:list-style",
  "math:annotation",
  "table:content-validations",
]);
