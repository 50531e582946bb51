import type { IdempotencyStore } from "#storage/records-types/idempotency.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** Records of requests that may be sent again. */
export function makeIdempotencyStore(sql: SqlHandles): IdempotencyStore {
  return {
    async begin({ keyHash, bodyHash, now, expiresAt }) {
      const fresh = {
        bodyHash,
        status: null,
        answer: null,
        targetId: null,
        createdAt: now.getTime(),
        expiresAt: expiresAt.getTime(),
      };
      // One statement: of two at once, one makes the row and the other finds it.
      const { numInsertedOrUpdatedRows } = await sql.write
        .insertInto("idempotency_records")
        .values({ keyHash, ...fresh })
        .onConflict((conflict) =>
          conflict.column("keyHash").doUpdateSet(fresh).where("idempotency_records.expiresAt", "<=", now.getTime()),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 1n) return undefined;
      return sql.read
        .selectFrom("idempotency_records")
        .select(["bodyHash", "status", "answer", "targetId"])
        .where("keyHash", "=", keyHash)
        .executeTakeFirst();
    },

    async finish(keyHash, outcome) {
      await sql.write.updateTable("idempotency_records").set(outcome).where("keyHash", "=", keyHash).execute();
    },

    async drop(keyHash) {
      await sql.write.deleteFrom("idempotency_records").where("keyHash", "=", keyHash).execute();
    },

    async sweep(now, limit) {
      const due = sql.read
        .selectFrom("idempotency_records")
        .select("keyHash")
        .where("expiresAt", "<=", now.getTime())
        .limit(limit);
      const keys = (await due.execute()).map(({ keyHash }) => keyHash);
      if (keys.length > 0) await sql.write.deleteFrom("idempotency_records").where("keyHash", "in", keys).execute();
      return keys.length;
    },
  };
}
