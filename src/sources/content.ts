import type { FileContent, SourceSpec } from "./contract.ts";

/** Larger content is left out, whatever the source's own limit: it is held in memory while it is read. */
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

/** The bytes of a content; undefined when there are too many. */
export async function readContent(content: Pick<FileContent, "bytes" | "stream">): Promise<Uint8Array | undefined> {
  if (content.bytes) return content.bytes;
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of content.stream ?? []) {
    length += part.length;
    if (length > MAX_CONTENT_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

/**
 * Why a content may not be that which an item was listed with: who may read it was said of the listed version. Where `kb`
 * itself says who may read a connector, any version is for the same people. `untold`: a fault of the source.
 */
export function faultOfVersion(
  { acl, hasLastingContent }: Pick<SourceSpec<unknown>, "acl" | "hasLastingContent">,
  listed: string | null | undefined,
  { version }: Pick<FileContent, "version">,
): "other" | "untold" | undefined {
  if (acl === "connector") return undefined;
  if (version === undefined) return hasLastingContent === true ? undefined : "untold";
  return version === listed ? undefined : "other";
}
