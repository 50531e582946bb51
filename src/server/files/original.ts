import { ApiError, isApiError } from "#api/errors.ts";
import { cleanLine, MAX_CHARS } from "#api/clean.ts";
import { itemNotFound, type Policy } from "#storage/policy/policy.ts";
import type { Actor } from "#storage/access/actor.ts";
import { readItem } from "./content.ts";
import { type MaskedStore, refuseFoundSecrets, refuseKnownMasked } from "./masked-originals.ts";

/** An item's current bytes at its source. */
export interface Original {
  bytes: Uint8Array;
  /** A media type that is safe to send to a browser. */
  mimeType: string;
  fileName: string;
}

/**
 * Fetches an item's bytes from its connector's source. The connectors provide it. Undefined = the source has no bytes.
 */
export type FetchOriginal = (
  workspaceId: string,
  connectorId: string,
  externalId: string,
) => Promise<{ bytes: Uint8Array; mimeType?: string; fileName: string } | undefined>;

/** Media types that no browser runs and that load nothing. All others are sent as `application/octet-stream`. */
const SAFE_TYPES = new Set([
  "text/plain",
  "text/csv",
  "text/tab-separated-values",
  "text/markdown",
  "application/json",
  "application/pdf",
  "application/zip",
  "application/gzip",
  "application/epub+zip",
  "application/rtf",
  "application/msword",
  "application/vnd.ms-excel",
  "application/vnd.ms-powerpoint",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.oasis.opendocument.text",
  "application/vnd.oasis.opendocument.spreadsheet",
  "application/vnd.oasis.opendocument.presentation",
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/**
 * Returns the item's bytes from its source. Access is checked before the source is requested and, because the fetch
 * takes time, again before the bytes are sent.
 *
 * @throws ApiError `not_found`, `original_masked` when its text was masked (S37), `no_text` when the source keeps no
 *   bytes, `source_changed` when it keeps another version than the one for which this reader's access was checked,
 *   `source_unavailable` without any of the source's own words (S43)
 */
export async function readOriginal(
  policy: Policy,
  { store, fetchOriginal }: { store: MaskedStore; fetchOriginal: FetchOriginal },
  actor: Actor,
  kbId: string,
): Promise<Original> {
  const item = await readItem(policy, actor, kbId, async (_open, found) => found);
  const title = cleanLine(item.title, MAX_CHARS.title);
  const original = await fetchOriginal(actor.workspaceId, item.connectorId, item.externalId).catch((cause: unknown) => {
    if (!isApiError(cause) || cause.class === "internal" || cause.code === "source_changed") throw cause;
    throw new ApiError("source_unavailable", {
      message: `The original of "${title}" can't be fetched from ${item.providerId} now. To read the stored text, leave out original.`,
      cause,
    });
  });
  if (!original) {
    throw new ApiError("no_text", {
      message: `${item.providerId} has no original of "${title}". Read its text instead.`,
    });
  }
  await refuseKnownMasked(store, actor, item);
  await refuseFoundSecrets(store, actor, item, original.bytes);
  if (!(await policy.mayRead(actor, [kbId])).has(kbId)) throw itemNotFound(kbId);
  const mimeType = original.mimeType?.split(";")[0]?.trim().toLowerCase() ?? "";
  return {
    bytes: original.bytes,
    mimeType: SAFE_TYPES.has(mimeType) ? mimeType : "application/octet-stream",
    fileName: original.fileName,
  };
}

/** Returns the `Content-Disposition` of an attachment: an ASCII name for old clients and the full name by RFC 8187. */
export function attachment(fileName: string): string {
  const name = cleanLine(fileName, 150).replace(/[/\\]/g, "_") || "file";
  const ascii = name.replace(/[^ !#$&+\-.0-9A-Z^_`a-z{}~]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
