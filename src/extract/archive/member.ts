import type { ExtractedChild } from "#extract/extractor.ts";
import { cleanText, oneLine } from "#extract/clean.ts";
import type { FormatText } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** Members that become child items, and bytes of all of them. */
export const MAX_MEMBERS = 1_000;
export const MAX_MEMBER_BYTES = 64 * 1_048_576;

/** A member as the archive lists it. */
export interface Member {
  path: string;
  /** Absent = it is only listed: encrypted, broken, or beyond the caps. */
  bytes?: Uint8Array;
}

/**
 * The path of a member inside its archive, from an untrusted name: no way out, no drive, no control characters.
 * Undefined for what is never content: folders, resource forks of a Mac, `.git` internals.
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

/** The archive as text, which is the list of its members, and the readable ones as child items. */
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
