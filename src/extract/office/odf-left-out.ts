/** True for elements of OpenDocument that aren't text of the document. */
export function isLeftOut(name: string): boolean {
  // The template of an index.
  return LEFT_OUT.has(name) || name.endsWith("-source");
}

/** Deleted text, numbers of notes (we count them), and data for machines. */
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
