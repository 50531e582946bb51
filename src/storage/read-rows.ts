import type { NewAuditRecord } from "./audit-chain.ts";

/** The action of audit rows that record which items were shown or read. */
export const READ_ACTION = "items.read";

/** Details of an audit row about answers that showed items. */
export interface ReadDetails extends Record<string, unknown> {
  client: string | null;
  /** The items that this credential received for the first time that day from this network. */
  kbIds: string[];
  answers: number;
  /** How many items the answers showed in addition to `kbIds`. */
  repeats: number;
}

export interface ReadRecord extends NewAuditRecord {
  details: ReadDetails;
}

export interface JoinReadsArgs {
  workspaceId: string;
}

/** Read records merged at once: some 10 ms of the writer's time. */
export const JOINED_AT_ONCE = 500;

/** Limit of ids in a row that covers several answers. */
export const MAX_IDS = 200;

const DAY_MS = 86_400_000;

/**
 * Merges read records of the same credential, address, tool, client and UTC day into rows, in the order of `records`.
 * Each row has the time of its last answer, and the address and request of its first.
 */
export function joinRecords(records: readonly ReadRecord[]): ReadRecord[] {
  const joined: ReadRecord[] = [];
  const open = new Map<string, ReadRecord>();
  for (const record of records) {
    const key = keyOf(record);
    const row = open.get(key);
    if (row !== undefined && row.details.kbIds.length + record.details.kbIds.length <= MAX_IDS) addRead(row, record);
    else {
      const next = { ...record, details: { ...record.details, kbIds: [...record.details.kbIds] } };
      joined.push(next);
      open.set(key, next);
    }
  }
  return joined;
}

/** Adds an answer to a row. The row keeps the request of its first answer. */
export function addRead(row: ReadRecord, next: ReadRecord): void {
  row.at = next.at;
  row.details.kbIds.push(...next.details.kbIds);
  row.details.answers += next.details.answers;
  row.details.repeats += next.details.repeats;
}

function keyOf({ at, actorUserId, credential, ip, targetType, targetId, outcome, details }: ReadRecord): string {
  const day = Math.floor(at / DAY_MS);
  return JSON.stringify([day, actorUserId, credential, ip, targetType, targetId, outcome, details.client]);
}
