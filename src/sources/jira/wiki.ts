/**
 * The text of Jira's wiki markup, without most of its marks. Total: what is not understood stays as it was written. No pattern
 * looks beyond the next mark of its kind, so each place is looked at once. Source: S67.
 */
export function textOfWiki(markup: unknown): string {
  if (typeof markup !== "string") return "";
  return markup
    .replaceAll("\r\n", "\n")
    .replaceAll(/\{(?:code|noformat|quote|panel|color)(?::[^{}\n]{0,500})?\}/g, "")
    .replaceAll(/^h[1-6]\.\s+/gm, "")
    .replaceAll(/^bq\.\s+/gm, "")
    .replaceAll(/^[*#-]{1,10}\s+/gm, "- ")
    .replaceAll(/^\|.*$/gm, (row) =>
      row
        .trimEnd()
        .replace(/^\|{1,2}/, "")
        .replace(/\|{1,2}$/, "")
        .split(/\|{1,2}/)
        .map((cell) => cell.trim())
        .join(" | "),
    )
    .replaceAll(/\[~(?:accountid:)?([^[\]\n|]{1,200})\]/g, "@$1")
    .replaceAll(/\[([^[\]\n|]{1,500})\|([^[\]\n|]{1,2000})(?:\|[^[\]\n]{0,200})?\]/g, "$1 ($2)")
    .replaceAll(/\[(https?:\/\/[^[\]\n|]{1,2000})\]/g, "$1")
    .replaceAll(/![^!\n|]{1,300}(?:\|[^!\n]{0,300})?!/g, "")
    .replaceAll(/(^|[\s(])([*_+])((?!\2)\S(?:(?:(?!\2)[^\n]){0,500}?(?!\2)\S)?)\2(?=$|[\s.,;:!?)])/gm, "$1$3")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
