import { ApiError } from "#api/errors.ts";
import type { ExtractedChild, Extractor } from "#extract/extractor.ts";
import { type HeldBytes, letGo } from "#core/spool.ts";
import { isInside, outermostId } from "#core/child-ids.ts";
import { childIdIn } from "./children.ts";

/** A file's bytes and name, as returned by a source. */
export interface FileBytes {
  /** The caller must close the bytes. */
  bytes: HeldBytes;
  mimeType?: string;
  fileName: string;
}

/**
 * Makes the reader of a file inside a file. It closes the bytes of the outer file. Nothing is cached: the outer file is
 * opened again, level by level, in the extraction process.
 *
 * @throws ApiError `source_not_found` when the outer file no longer contains the file
 */
export function makeChildOpener(extractor: Pick<Extractor, "extract">) {
  return async (workspaceId: string, file: FileBytes, externalId: string): Promise<FileBytes> => {
    const signal = AbortSignal.timeout(60_000);
    let at = outermostId(externalId);
    let found = file;
    while (at !== externalId) {
      const about = { title: "", path: [], labels: [], readsArchives: true, keepsSecrets: true };
      const asked = extractor.extract({ workspace: workspaceId, ...found, ...about }, signal);
      const { bytes: outer } = found;
      const read = await asked.finally(() => letGo(outer));
      const children = read.state === "ok" ? (read.children ?? []) : [];
      const next = findChild(children, at, externalId);
      for (const child of children) if (child !== next?.child) letGo(child.bytes);
      if (!next) throw new ApiError("source_not_found", { message: "The outer file no longer contains this file." });
      const { bytes, fileName, mimeType } = next.child;
      found = { bytes, fileName: fileName.slice(fileName.lastIndexOf("/") + 1), ...(mimeType && { mimeType }) };
      at = next.id;
    }
    return found;
  };
}

function findChild(children: readonly ExtractedChild[], parentId: string, wanted: string) {
  for (const child of children) {
    const id = childIdIn(parentId, child);
    if (id === wanted || isInside(id, wanted)) return { child, id };
  }
  return undefined;
}
