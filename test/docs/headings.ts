/** The anchors of a page's headings, as GitHub makes them. */
export function headingIds(page: string): string[] {
  return (page.match(/^#+ .*$/gm) ?? []).map((heading) =>
    heading
      .replace(/^#+ /, "")
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
