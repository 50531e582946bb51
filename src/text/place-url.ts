import type { SectionMark } from "./sections.ts";

/** What of an item says how to reach its places. */
export interface Addressed {
  url: string | null;
  /** What leads to a line when it stands after the url; `{line}` stands for its number. */
  lineAnchor: string | null;
}

/**
 * The address of a place in an item: of its line where the source has addresses of lines, else of its section. Undefined when
 * there is none: nothing is guessed, and an address that ends in a place already stays as it is. To be cleaned before it is shown.
 */
export function urlOfPlace(
  { url, lineAnchor }: Addressed,
  { section, line }: { section: Pick<SectionMark, "anchor"> | undefined; line: number | undefined },
): string | undefined {
  if (url === null || url.includes("#") || !/^https?:/i.test(url)) return undefined;
  if (lineAnchor !== null && line !== undefined) return url + lineAnchor.replaceAll("{line}", String(line));
  return section?.anchor === undefined ? undefined : `${url}#${section.anchor}`;
}
