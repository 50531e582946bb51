import type { SourceContainer } from "#sources/item.ts";
import { readableSegment } from "./paths.ts";

/** Returns the folders that contain a file, by their paths. `nameOf` returns the displayed name of a segment. */
export function foldersOf(segments: readonly string[], nameOf: (segment: string) => string): SourceContainer[] {
  let parentId = "";
  return segments.map((segment, depth) => {
    const id = depth === 0 ? segment : `${parentId}/${segment}`;
    const parent = parentId === "" ? {} : { parentId };
    parentId = id;
    return { type: "folder", id, name: nameOf(segment), isHome: true, ...parent };
  });
}

/** Returns a displayed name in composed form (NFC). The id keeps the name unchanged. */
export function readableName(segment: string): string {
  const name = readableSegment(segment);
  return SEEN.test(name) ? name.normalize("NFC") : "Untitled";
}

/** A character that is neither white space nor a control character. */
// oxlint-disable-next-line no-control-regex -- names may hold them
const SEEN = /[^\0-\x1f\x7f\s]/;
