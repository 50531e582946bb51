import { append } from "#core/append.ts";
import { addressPlaces, type LinkMark, webAddress } from "#extract/link-addresses.ts";
import type { PdfItems, TextItem } from "./open.ts";

/** An area of a page that links to an address, in points from the lower left corner. */
export interface PageLink {
  address: string;
  left: number;
  right: number;
  bottom: number;
  top: number;
}

/** Returns the link of an annotation; undefined for links within the document. */
export function linkOf(annotation: Readonly<Record<string, unknown>>): PageLink | undefined {
  // pdf.js returns an address that is safe to follow, and the address in the file, which may differ from it and be the link's text.
  const { url, unsafeUrl, rect } = annotation;
  const address = typeof url === "string" ? webAddress(typeof unsafeUrl === "string" ? unsafeUrl : url) : undefined;
  if (address === undefined || !Array.isArray(rect)) return undefined;
  const [x1 = NaN, y1 = NaN, x2 = NaN, y2 = NaN] = rect.map(Number);
  const link = {
    address,
    left: Math.min(x1, x2),
    right: Math.max(x1, x2),
    bottom: Math.min(y1, y2),
    top: Math.max(y1, y2),
  };
  return [x1, y1, x2, y2].every(Number.isFinite) ? link : undefined;
}

/** Returns the pieces of a page with the addresses of its links after their words, as in other formats. Links on pictures have no words. */
export function withLinks(items: PdfItems, links: readonly PageLink[]): PdfItems {
  if (links.length === 0) return items;
  const own = links.slice(0, MAX_LINKS);
  const starts: number[] = [];
  const marks: LinkMark[] = [];
  let text = "";
  for (const item of items) {
    starts.push(text.length);
    if (!("str" in item)) continue;
    if (marks.length < MAX_MARKS) append(marks, marksIn(item, own, text.length));
    text += item.hasEOL ? `${item.str}\n` : item.str;
  }
  return written(items, starts, addressPlaces(text, marks));
}

const MAX_LINKS = 300;
/** Distance in code units. */
const NEAR = 12;
const MAX_MARKS = 5_000;

/** Returns which parts of a piece are covered by links, if its text is horizontal and runs from left to right. */
function marksIn(item: TextItem, links: readonly PageLink[], offset: number): LinkMark[] {
  const [, slant, , , x, y] = item.transform.map(Number);
  if (item.dir !== "ltr" || slant !== 0 || x === undefined || y === undefined || item.str.trim() === "") return [];
  const middle = y + item.height / 4;
  const over = links.filter(({ left, right, bottom, top }) => {
    return middle >= bottom && middle <= top && right > x && left < x + item.width;
  });
  if (over.length === 0) return [];
  const { starts, ends } = edgesOf(item.str, x, item.width);
  return over.flatMap(({ left, right, address }) => {
    const [start, end] = [nearest(starts, left), nearest(ends, right)];
    // The width of a letter is estimated, so a mark may cover too much or too little.
    const isShown = item.str.slice(Math.max(0, start - NEAR), end + NEAR).includes(address);
    return end > start && !isShown ? [{ start: offset + start, end: offset + end, address }] : [];
  });
}

interface Edge {
  at: number;
  x: number;
}

/** Estimates where words begin and end, by the width of letters in most fonts. */
function edgesOf(text: string, x: number, width: number): { starts: Edge[]; ends: Edge[] } {
  const places = [0];
  for (let at = 0; at < text.length; at++) places.push((places.at(-1) ?? 0) + widthOf(text.charAt(at)));
  const scale = width / Math.max(1, places.at(-1) ?? 0);
  const edgeAt = (at: number) => ({ at, x: x + (places[at] ?? 0) * scale });
  const words = [...text.matchAll(/[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}]+/gu)];
  return {
    starts: words.map(({ index }) => edgeAt(index)),
    ends: words.map(({ index, 0: word }) => edgeAt(index + word.length)),
  };
}

function widthOf(letter: string): number {
  if (/[iljtfrI.,:;'|!()[\] ]/u.test(letter)) return 0.3;
  return /[mwMW@—\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(letter)
    ? 0.9
    : /\p{Lu}/u.test(letter)
      ? 0.7
      : 0.53;
}

function nearest(edges: readonly Edge[], x: number): number {
  let best: Edge | undefined;
  for (const edge of edges) if (best === undefined || Math.abs(edge.x - x) < Math.abs(best.x - x)) best = edge;
  return best?.at ?? 0;
}

function written(
  items: PdfItems,
  starts: readonly number[],
  places: readonly { at: number; address: string }[],
): PdfItems {
  let next = 0;
  return items.map((item, index) => {
    if (!("str" in item)) return item;
    const start = starts[index] ?? 0;
    const end = start + item.str.length;
    let str = "";
    let done = 0;
    // A position at the end of a piece belongs to that piece, unless the piece is empty.
    for (let place = places[next]; place !== undefined && place.at <= end; place = places[++next]) {
      str += `${item.str.slice(done, place.at - start)} (${place.address})`;
      done = place.at - start;
    }
    return str === "" ? item : { ...item, str: str + item.str.slice(done) };
  });
}
