/** A named piece of a text, as the extractor found it. Offsets in UTF-16 code units. */
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
  /** The section's name after those that it is part of, as in `Install › Linux`; at most three. */
  path: string;
}

/** A piece of a text in UTF-16 code units; `end` is exclusive. */
export interface Stretch {
  start: number;
  end: number;
}

const STEPS = 3;
const BETWEEN = " › ";

/** The innermost section around an offset; undefined before the first. */
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

/** From a section's start to where the next of its level, or of one above, begins. */
export function stretchOf(sections: readonly SectionMark[], section: SectionMark, chars: number): Stretch {
  const next = sections.find(({ start, level }) => start > section.start && level <= section.level);
  return { start: section.start, end: next?.start ?? chars };
}

/**
 * The section that a person means: by the anchor in its address, its path as printed, its name, or its number
 * (`page=3`, `slide 4`, `A1:F40`). Case and outer space do not matter. If several have one name, the first.
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

/** A number or range of cells, with the word for it or without. */
const REF = /^(?:(?:page|slide|sheet|cell|part|p\.)[ =]?)?(\S{1,40})$/;

/** The line number in `L10`, `L10-L20` or `line 10`; undefined for anything else. */
export function lineOfFragment(fragment: string): number | undefined {
  const line = /^l(?:ines?)?[ -]?(\d{1,9})(?:[-:,].*)?$/i.exec(fragment)?.[1];
  return line === undefined ? undefined : Number(line);
}

/** Number of line feeds in a text. */
export function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The fields of an item that give the addresses of its places. */
export interface Addressed {
  url: string | null;
  /** A template that, appended to the url, leads to a line; `{line}` is replaced by its number. */
  lineAnchor: string | null;
}

/**
 * The address of a place in an item: of its line if the source has addresses of lines, else of its section. Undefined
 * when there is none: nothing is guessed, and an address that already ends in a fragment stays as it is. Clean it
 * before showing it.
 */
export function urlOfPlace(
  { url, lineAnchor }: Addressed,
  { section, line }: { section: Pick<SectionMark, "anchor"> | undefined; line: number | undefined },
): string | undefined {
  if (url === null || url.includes("#") || !/^https?:/i.test(url)) return undefined;
  if (lineAnchor !== null && line !== undefined) return url + lineAnchor.replaceAll("{line}", String(line));
  return section?.anchor === undefined ? undefined : `${url}#${section.anchor}`;
}
