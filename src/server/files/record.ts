import type { FileRecord } from "#api/files.ts";
import { cleanLine, permalinkOf } from "#api/clean.ts";
import { outsideUrl } from "#api/own-url.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import { factsOnWire } from "#core/item-facts.ts";
import type { ItemRecord } from "#storage/item-record.ts";

/**
 * Makes the File record of an item. `aclCheckedAt` (epoch milliseconds) is its connector's; null if access is set in
 * kb, or if it was never checked. If the source gives no http(s) URL, or a URL of this server, the record has the
 * permalink, because paths of the server must not be shown (B16).
 */
export function toFileRecord(item: ItemRecord, aclCheckedAt: number | null, baseUrl: string): FileRecord {
  return {
    kbId: item.kbId,
    externalId: item.externalId,
    providerId: item.providerId,
    source: item.source,
    connectorId: item.connectorId,
    url: outsideUrl(item.url, baseUrl) ?? permalinkOf(baseUrl, item.kbId),
    ...factsOnWire(item, "file"),
    indexedAt: isoOf(item.indexedAt),
    aclCheckedAt: isoOrNull((item.ownClockAt ?? aclCheckedAt) || null),
    indexState: item.indexState,
    textState: {
      state: item.textChars > 0 ? "ok" : "none",
      reason: item.textReason,
      message: item.textMessage === null ? null : cleanLine(item.textMessage, MAX_MESSAGE),
      chars: item.textChars,
      asOf: isoOrNull(item.formerSince),
    },
  };
}

const MAX_MESSAGE = 500;
