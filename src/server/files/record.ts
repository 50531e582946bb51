import type { FileRecord } from "#api/files.ts";
import { cleanLine, cleanUrl, permalinkOf } from "#api/clean.ts";
import type { ItemRecord } from "#storage/records/item-record.ts";

/**
 * The File record of an item. `aclCheckedAt` (epoch milliseconds) is its connector's; null where access is set here.
 * Where the source gives no http(s) URL it is the permalink: paths of the server are nobody's business (B16).
 */
export function toFileRecord(item: ItemRecord, aclCheckedAt: number | null, baseUrl: string): FileRecord {
  return {
    kbId: item.kbId,
    externalId: item.externalId,
    key: item.key,
    providerId: item.providerId,
    source: item.source,
    connectorId: item.connectorId,
    kind: item.kind,
    title: item.title,
    url: cleanUrl(item.url) ?? permalinkOf(baseUrl, item.kbId),
    path: item.path,
    mimeType: item.mimeType,
    size: item.size,
    author: item.author,
    status: item.status,
    assignees: item.assignees,
    dueAt: toTimestamp(item.dueAt),
    labels: item.labels,
    createdAt: toTimestamp(item.createdAt),
    updatedAt: toTimestamp(item.updatedAt),
    indexedAt: new Date(item.indexedAt).toISOString(),
    aclCheckedAt: toTimestamp(aclCheckedAt),
    indexState: item.indexState,
    textState: {
      state: item.textChars > 0 ? "ok" : "none",
      reason: item.textReason,
      message: item.textMessage === null ? null : cleanLine(item.textMessage, MAX_MESSAGE),
      chars: item.textChars,
    },
    fields: item.fields,
  };
}

const MAX_MESSAGE = 500;

function toTimestamp(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
