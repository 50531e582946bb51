/** Whether an element of OpenDocument isn't text of the document. */
export function isLeftOut(name: string): boolean {
  // Names that end in `-source` are templates of an index.
  return LEFT_OUT.has(name) || name.endsWith("-source");
}

/** Deleted text, numbers of notes (which are counted here), and data for machines. */
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
