import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { changesOf } from "#storage/results.ts";
import { IDEMPOTENCY_RECORDS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** The result of a request that may be sent again. */
export type IdempotencyRecord = RecordOf<typeof IDEMPOTENCY_RECORDS>;

/**
 * Reads and writes the answers to requests that create something, by a hash of everything that distinguishes one
 * request from another. Source: S14.
 */
export function makeIdempotencyStore(sql: SqlHandles) {
  const records = acrossWorkspaces(sql, IDEMPOTENCY_RECORDS);
  return {
    /**
     * Claims a key for a first request. Returns undefined, or the record that already exists. A record that has expired
     * at `now` is ignored.
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
      // One statement: if two requests arrive at once, one creates the row and the other finds it.
      const claimed = records
        .inserting({ keyHash, ...fresh })
        .onConflict((conflict) =>
          conflict.column("keyHash").doUpdateSet(fresh).where("idempotency_records.expiresAt", "<=", now),
        );
      return (await changesOf(claimed)) === 1 ? undefined : records.find({ keyHash });
    },

    finish: (keyHash: string, outcome: Pick<IdempotencyRecord, "status" | "answer" | "targetId">) =>
      records.update({ keyHash }, outcome),

    /** Releases the key, because nothing was created. */
    drop: (keyHash: string) => records.remove({ keyHash }),

    /** Deletes expired records, at most `limit`. @returns how many */
    async sweep(now: number, limit: number): Promise<number> {
      const due = records.select().select("keyHash").where("expiresAt", "<=", now).limit(limit);
      const keys = (await due.execute()).map(({ keyHash }) => keyHash);
      return keys.length === 0 ? 0 : changesOf(records.deleting().where("keyHash", "in", keys));
    },
  };
}
