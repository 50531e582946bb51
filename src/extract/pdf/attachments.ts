import { MAX_MEMBER_BYTES, MAX_MEMBERS } from "#extract/archive/member.ts";
import { oneLine } from "#extract/clean.ts";
import type { ExtractedChild } from "#extract/extractor.ts";
import { numbered } from "#extract/numbered.ts";
import type { TextBuilder } from "#extract/text-builder.ts";
import type { PdfDocument } from "./open.ts";

export interface FoundFile {
  fileName: string;
  bytes: Uint8Array;
}

/** Reads the files in the document's own list. If the list is unreadable, the text is still kept. */
export async function readAttachments(pdf: PdfDocument): Promise<FoundFile[]> {
  const found: unknown = await pdf.getAttachments().catch(() => undefined);
  return Object.values(found ?? {}).flatMap((file) => fileOf(file) ?? []);
}

/** Converts a file as pdf.js returns it: `{ filename, content }`. */
export function fileOf(file: unknown): FoundFile | undefined {
  if (typeof file !== "object" || file === null || !("filename" in file) || !("content" in file)) return undefined;
  const { filename, content } = file;
  if (typeof filename !== "string" || !(content instanceof Uint8Array) || content.length === 0) return undefined;
  return { fileName: oneLine(filename, 200) || "attachment", bytes: content };
}

/** Returns each file once, because programs also list the files that they attach to a page. */
export function distinctFiles(files: readonly FoundFile[]): FoundFile[] {
  const byName = new Map<string, FoundFile[]>();
  return files.filter((file) => {
    const others = byName.get(file.fileName) ?? [];
    if (others.length >= MAX_OF_A_NAME || others.some(({ bytes }) => Buffer.compare(bytes, file.bytes) === 0))
      return false;
    byName.set(file.fileName, [...others, file]);
    return true;
  });
}

/** Maximum number of files with the same name that are compared with each other. */
const MAX_OF_A_NAME = 100;

/** Adds the names of the files at the end of the text, and the files as child items, within the limits for archives. */
export function addAttachments(out: TextBuilder, files: readonly FoundFile[]): ExtractedChild<Uint8Array>[] {
  if (files.length === 0) return [];
  if (out.offset > 0) out.add("\n");
  out.section("Attachments", 1, out.offset, { kind: "part" });
  out.add(`Attachments:\n${files.map(({ fileName }) => `- ${fileName}\n`).join("")}`);
  let room = MAX_MEMBER_BYTES;
  return numbered(files.slice(0, MAX_MEMBERS)).filter(({ bytes }) => {
    const fits = bytes.length <= room;
    if (fits) room -= bytes.length;
    return fits;
  });
}
