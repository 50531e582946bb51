/** A named piece of a text, as the extractor found it. Offsets are in UTF-16 code units. */
export interface SectionMark {
  name: string;
  level: number;
  start: number;
  kind?: string;
  ref?: string;
  anchor?: string;
}

/** A position in a document. */
export interface Place {
  section: SectionMark;
  /** The section's name after the names of the sections that contain it, as in `Install › Linux`; at most three names. */
  path: string;
}

/** A piece of a text in UTF-16 code units; `end` is exclusive. */
export interface Stretch {
  start: number;
  end: number;
}

const STEPS = 3;
const BETWEEN = " › ";

/** Returns the innermost section around an offset; undefined before the first section. */
export function placeAt(sections: readonly SectionMark[], at: number): Place | undefined {
  const index = sections.findLastIndex(({ start }) => start <= at);
  const section = sections[index];
  if (section === undefined) return undefined;
  const names = [section.name];
  let { level } = section;
  for (let outer = index - 1; outer >= 0 && level > 1 && names.length < STEPS; outer--) {
    const mark = sections[outer];
    if (mark === undefined || mark.level >= level) continue;
    names.unshift(mark.name);
    ({ level } = mark);
  }
  return { section, path: names.join(BETWEEN) };
}

/** Returns the range from a section's start to the next section of the same level or of a higher one. */
export function stretchOf(sections: readonly SectionMark[], section: SectionMark, chars: number): Stretch {
  const next = sections.find(({ start, level }) => start > section.start && level <= section.level);
  return { start: section.start, end: next?.start ?? chars };
}

/**
 * Finds the section that a person means: by the anchor in its address, its path as printed, its name, or its number (`page=3`, `slide 4`, `A1:F40`).
 * Case and outer space do not matter. If several sections have the same name, it returns the first.
 */
export function findSection(sections: readonly SectionMark[], asked: string): SectionMark | undefined {
  const wanted = asked.trim();
  const folded = wanted.toLowerCase();
  const tests: ((mark: SectionMark) => boolean)[] = [
    (mark) => mark.anchor === wanted,
    (mark) => mark.name.toLowerCase() === folded,
    (mark) => mark.ref !== undefined && REF.exec(folded)?.[1] === mark.ref.toLowerCase(),
    (mark) => placeAt(sections, mark.start)?.path.toLowerCase() === folded,
  ];
  for (const test of tests) {
    const found = sections.find(test);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The number of a page or a range of cells, with or without the word for it. */
const REF = /^(?:(?:page|slide|sheet|cell|part|p\.)[ =]?)?(\S{1,40})$/;

/** Parses the line number in `L10`, `L10-L20` or `line 10`; undefined for anything else. */
export function lineOfFragment(fragment: string): number | undefined {
  const line = /^l(?:ines?)?[ -]?(\d{1,9})(?:[-:,].*)?$/i.exec(fragment)?.[1];
  return line === undefined ? undefined : Number(line);
}

/** Counts the line feeds in a text. */
export function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The fields of an item that contain the addresses of its places. */
export interface Addressed {
  url: string | null;
  /** A template that, appended to the url, leads to a line; `{line}` is replaced by its number. */
  lineAnchor: string | null;
}

/**
 * Returns the address of a place in an item: the address of its line if the source has addresses for lines, otherwise that of its section. Undefined
 * if there is none. Nothing is guessed, and an address that already ends in a fragment stays unchanged. Clean it before showing it.
 */
export function urlOfPlace(
  { url, lineAnchor }: Addressed,
  { section, line }: { section: Pick<SectionMark, "anchor"> | undefined; line: number | undefined },
): string | undefined {
  if (url === null || url.includes("#") || !/^https?:/i.test(url)) return undefined;
  if (lineAnchor !== null && line !== undefined) return url + lineAnchor.replaceAll("{line}", String(line));
  return section?.anchor === undefined ? undefined : `${url}#${section.anchor}`;
}
