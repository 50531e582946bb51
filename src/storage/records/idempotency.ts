import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { changesOf } from "#storage/results.ts";
import { IDEMPOTENCY_RECORDS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** The result of a request that may be sent again. */
export type IdempotencyRecord = RecordOf<typeof IDEMPOTENCY_RECORDS>;

/** Answers of creates, by a hash of everything that distinguishes one request from another. Source: S14. */
export function makeIdempotencyStore(sql: SqlHandles) {
  const records = acrossWorkspaces(sql, IDEMPOTENCY_RECORDS);
  return {
    /**
     * Claims a key for a first request: gives nothing, or the record that is there already. A record that is over at
     * `now` does not count.
     */
    async begin({
      keyHash,
      bodyHash,
      now,
      expiresAt,
    }: {
      keyHash: string;
      bodyHash: string;
      now: number;
      expiresAt: number;
    }): Promise<IdempotencyRecord | undefined> {
      const fresh = {
        bodyHash,
        status: null,
        answer: null,
        targetId: null,
        createdAt: now,
        expiresAt,
      };
      // One statement: of two at once, one makes the row and the other finds it.
      const claimed = records
        .inserting({ keyHash, ...fresh })
        .onConflict((conflict) =>
          conflict.column("keyHash").doUpdateSet(fresh).where("idempotency_records.expiresAt", "<=", now),
        );
      return (await changesOf(claimed)) === 1 ? undefined : records.find({ keyHash });
    },

    finish: (keyHash: string, outcome: Pick<IdempotencyRecord, "status" | "answer" | "targetId">) =>
      records.update({ keyHash }, outcome),

    /** Gives the key back: nothing was made. */
    drop: (keyHash: string) => records.remove({ keyHash }),

    /** Deletes what is over; at most `limit`. @returns how many */
    async sweep(now: number, limit: number): Promise<number> {
      const due = records.select().select("keyHash").where("expiresAt", "<=", now).limit(limit);
      const keys = (await due.execute()).map(({ keyHash }) => keyHash);
      return keys.length === 0 ? 0 : changesOf(records.deleting().where("keyHash", "in", keys));
    },
  };
}
