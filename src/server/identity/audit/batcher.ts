import type { Parts } from "#storage/records/parts.ts";
import { ApiError } from "#api/errors.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";

/** Buffers audit rows that no caller waits for, and writes them in batches. */
export type AuditBatcher = ReturnType<typeof makeAuditBatcher>;

/** Runs a function later. */
export type Schedule = (run: () => void, ms: number) => void;

export interface AuditBatcherOptions extends Pick<Parts, "store" | "log"> {
  /** Tests replace it. */
  schedule?: Schedule;
  /** Called with each workspace whose rows were written. */
  onWritten?(workspaceId: string): void;
}

/** Maximum time that a row waits, in milliseconds, and maximum rows written at once: about 5 ms of the writer. */
const WAIT_MS = 1_000;
const GROUP = 200;
/**
 * Maximum waiting rows, about 10 MB. If there are more, the disk is full or the writer is blocked. Requests are then
 * refused, since nothing may be shown without an audit row.
 */
const MAX_WAITING = 10_000;

/**
 * Makes the batcher for the audit rows of all workspaces. Rows are in memory until they are written, so a killed
 * process loses at most a second of them.
 */
export function makeAuditBatcher({ store, log, schedule = scheduleUnheld, onWritten }: AuditBatcherOptions) {
  const waiting = new Map<string, NewAuditRecord[]>();
  let count = 0;
  let taken = 0;
  let isScheduled = false;
  let writing: Promise<void> = Promise.resolve();

  function later(): void {
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      void flush();
    }, WAIT_MS);
  }

  async function writeAll(): Promise<void> {
    for (const [workspaceId, rows] of waiting) {
      while (rows.length > 0) {
        taken += 1;
        const group = rows.slice(0, GROUP);
        try {
          await store.in(workspaceId).audit.appendMany(group);
        } catch (error) {
          log.error({ workspaceId, rows: rows.length, err: error }, "the audit can't be written");
          later();
          return;
        }
        onWritten?.(workspaceId);
        rows.splice(0, group.length);
        count -= group.length;
      }
      waiting.delete(workspaceId);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(writeAll);
    return writing;
  }

  const hasRoom = (): boolean => count < MAX_WAITING;

  return {
    /** Adds a row. @throws ApiError `unavailable` if too many rows are waiting */
    add(workspaceId: string, row: NewAuditRecord): void {
      if (!hasRoom()) {
        throw new ApiError("unavailable", {
          message: "kb can't record reads at the moment, so it shows nothing. The server's log says why.",
          retryAfterMs: WAIT_MS,
        });
      }
      const rows = waiting.get(workspaceId);
      if (rows) rows.push(row);
      else waiting.set(workspaceId, [row]);
      count += 1;
      if (count % GROUP === 0) void flush();
      else later();
    },
    /** Returns false if so many rows wait that `add` would refuse the next one. */
    hasRoom,
    /** The number of batches whose writing has started. A row added since the last one can still be changed. */
    taken: (): number => taken,
    /** Writes all rows added so far. Never throws: a failed write is retried. */
    flush,
  };
}

/** Sets a timer that doesn't keep the process alive. The server writes waiting rows when it stops. */
export function scheduleUnheld(run: () => void, ms: number): void {
  setTimeout(run, ms).unref();
}
