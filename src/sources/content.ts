import { type HeldBytes, piecesOf, type Spool, SPOOLED_FROM_BYTES } from "#core/spool.ts";
import type { SourceSpec } from "./contract.ts";
import type { FileContent } from "./item.ts";

/** Content above this size is left out, regardless of the source's own limit, and no text is extracted from it. */
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

/**
 * Returns the bytes of a content, spooled to disk if they are many. The caller closes them. Undefined if the content is
 * too large.
 */
export async function readContent(
  { bytes, stream }: Pick<FileContent, "bytes" | "stream">,
  spool: Spool,
): Promise<HeldBytes | undefined> {
  if (bytes && bytes.length <= SPOOLED_FROM_BYTES) return bytes;
  return spool.keep(stream ?? piecesOf(bytes ?? new Uint8Array()), MAX_CONTENT_BYTES);
}

/** Discards a content without reading it, and closes its connection or file. */
export async function leaveContent({ stream }: Pick<FileContent, "stream">): Promise<void> {
  for await (const _ of stream ?? []) break;
}

/**
 * Explains why a content may not match the version that its item was listed with: the access list belongs to the listed
 * version. With `acl: "connector"` the same people may read any version. `untold`: the source failed to report a
 * version.
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
