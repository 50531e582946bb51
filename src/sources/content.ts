import { type HeldBytes, piecesOf, type Spool, SPOOLED_FROM_BYTES } from "#core/spool.ts";
import type { SourceSpec } from "./contract.ts";
import type { FileContent } from "./item.ts";

/** Larger content is left out, whatever the source's own limit: no text is taken of it. */
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

/** The bytes of a content, spooled where they are many: the caller closes them. Undefined when there are too many. */
export async function readContent(
  { bytes, stream }: Pick<FileContent, "bytes" | "stream">,
  spool: Spool,
): Promise<HeldBytes | undefined> {
  if (bytes && bytes.length <= SPOOLED_FROM_BYTES) return bytes;
  return spool.keep(stream ?? piecesOf(bytes ?? new Uint8Array()), MAX_CONTENT_BYTES);
}

/** Ends a content that nobody reads, so that its connection or file is closed. */
export async function leaveContent({ stream }: Pick<FileContent, "stream">): Promise<void> {
  for await (const _ of stream ?? []) break;
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
