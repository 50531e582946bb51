import type { SourceContainer } from "#sources/contract.ts";
import { readableSegment } from "./paths.ts";

/** The folders that a file lives in, by their paths; `nameOf` makes of a segment what people read. */
export function foldersOf(segments: readonly string[], nameOf: (segment: string) => string): SourceContainer[] {
  return segments.map((segment, depth) => {
    const id = segments.slice(0, depth + 1).join("/");
    const parentId = segments.slice(0, depth).join("/");
    return { type: "folder", id, name: nameOf(segment), isHome: true, ...(parentId !== "" && { parentId }) };
  });
}

/** What people read is in composed form (NFC); the id keeps the name as it is. */
export function readableName(segment: string): string {
  const name = readableSegment(segment);
  return SEEN.test(name) ? name.normalize("NFC") : "Untitled";
}

/** A character that is neither white nor a control. */
// oxlint-disable-next-line no-control-regex -- names may hold them
const SEEN = /[^\0-\x1f\x7f\s]/;
