import type { ExtractedChild } from "#extract/extractor.ts";
import { cleanText, oneLine } from "#extract/clean.ts";
import type { FormatText } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** Maximum number of members that become child items, and of their bytes in total. */
export const MAX_MEMBERS = 1_000;
export const MAX_MEMBER_BYTES = 64 * 1_048_576;

/** A member as the archive lists it. */
export interface Member {
  path: string;
  /** Absent if the member is only listed because it is encrypted, broken, or beyond the caps. */
  bytes?: Uint8Array;
}

/**
 * Returns the path of a member inside its archive, made from an untrusted name: without a way out of the archive, a drive or control characters.
 * Undefined for members that are never content: folders, resource forks of a Mac, `.git` internals.
 */
export function memberPath(name: string): string | undefined {
  if (/[/\\]$/u.test(name)) return undefined;
  const folders = cleanText(name.slice(0, 2_000))
    .replaceAll("\\", "/")
    .split("/")
    .map((folder) => oneLine(folder, 255))
    .filter((folder) => folder !== "" && folder !== "." && folder !== ".." && !/^[a-z]:$/iu.test(folder));
  const isContent = folders.length > 0 && !folders.includes("__MACOSX") && !folders.includes(".git");
  return isContent && folders.at(-1) !== ".DS_Store" ? folders.slice(-30).join("/") : undefined;
}

/** Makes the result for an archive: the list of its members as text, and the readable members as child items. */
export function archiveText(members: readonly Member[], maxTextLength: number, isCut: boolean): FormatText {
  const out = new TextBuilder(maxTextLength);
  const children: ExtractedChild<Uint8Array>[] = [];
  const seen = new Map<string, number>();
  for (const { path, bytes } of members) {
    out.add(`- ${path}\n`);
    const count = (seen.get(path) ?? 0) + 1;
    seen.set(path, count);
    if (bytes !== undefined) children.push({ id: count === 1 ? path : `${path}#${count}`, fileName: path, bytes });
  }
  const leftOut = members.length - children.length;
  return {
    state: "ok",
    text: out.toString(),
    sections: [],
    properties: { members: String(members.length), ...(leftOut > 0 && { membersLeftOut: String(leftOut) }) },
    isCut: isCut || out.isFull,
    ...(children.length > 0 && { children }),
  };
}
