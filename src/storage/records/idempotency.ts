import type { SqlHandles } from "#storage/handles.ts";

/** The result of a request that may be sent again. */
export interface IdempotencyRecord {
  bodyHash: string;
  /** Null while the first request runs, or for ever when the server died over it. */
  status: number | null;
  /** The JSON of the answer; null for one that held a secret. */
  answer: string | null;
  /** Id of the created object. */
  targetId: string | null;
}

/** Answers of creates, by a hash of everything that distinguishes one request from another. Source: S14. */
export function makeIdempotencyStore(sql: SqlHandles) {
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
      const { numInsertedOrUpdatedRows } = await sql.write
        .insertInto("idempotency_records")
        .values({ keyHash, ...fresh })
        .onConflict((conflict) =>
          conflict.column("keyHash").doUpdateSet(fresh).where("idempotency_records.expiresAt", "<=", now),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 1n) return undefined;
      return sql.read
        .selectFrom("idempotency_records")
        .select(["bodyHash", "status", "answer", "targetId"])
        .where("keyHash", "=", keyHash)
        .executeTakeFirst();
    },

    async finish(
      keyHash: string,
      outcome: { status: number; answer: string | null; targetId: string | null },
    ): Promise<void> {
      await sql.write.updateTable("idempotency_records").set(outcome).where("keyHash", "=", keyHash).execute();
    },

    /** Gives the key back: nothing was made. */
    async drop(keyHash: string): Promise<void> {
      await sql.write.deleteFrom("idempotency_records").where("keyHash", "=", keyHash).execute();
    },

    /** Deletes what is over; at most `limit`. @returns how many */
    async sweep(now: number, limit: number): Promise<number> {
      const due = sql.read
        .selectFrom("idempotency_records")
        .select("keyHash")
        .where("expiresAt", "<=", now)
        .limit(limit);
      const keys = (await due.execute()).map(({ keyHash }) => keyHash);
      if (keys.length > 0) await sql.write.deleteFrom("idempotency_records").where("keyHash", "in", keys).execute();
      return keys.length;
    },
  };
}
