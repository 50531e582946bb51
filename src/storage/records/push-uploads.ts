import type { Selectable } from "kysely";
import {
  KEEP_UPLOADS_MS,
  PUSH_RESULTS,
  type PushCounts,
  type PushTrouble,
  type PushUploadRecord,
  type PushUploadState,
  type PushUploadStore,
  TROUBLES_KEPT,
  UPLOAD_TTL_MS,
  UPLOADS_KEPT,
} from "#storage/records-types/push-uploads.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { PushUploadsTable } from "#storage/schema.ts";

/** The uploads of one workspace's push connectors, on SQL. */
export function makePushUploadStore(sql: SqlHandles, workspaceId: string): PushUploadStore {
  const rows = () => sql.read.selectFrom("push_uploads").selectAll().where("workspaceId", "=", workspaceId);
  const change = (uploadId: string) =>
    sql.write.updateTable("push_uploads").where("workspaceId", "=", workspaceId).where("uploadId", "=", uploadId);

  return {
    async find(uploadId, now) {
      const row = await rows().where("uploadId", "=", uploadId).executeTakeFirst();
      return row && toRecord(row, now);
    },

    async findOpen(connectorId, { mode, name }, now) {
      const row = await rows()
        .where("connectorId", "=", connectorId)
        .where("mode", "=", mode)
        .where("name", "=", name)
        .where("state", "=", "open")
        .where("touchedAt", ">", now - UPLOAD_TTL_MS)
        .orderBy("createdAt", "desc")
        .executeTakeFirst();
      return row && toRecord(row, now);
    },

    async begin({ uploadId, connectorId, mode, name, now }) {
      await forget(sql, workspaceId, connectorId, now);
      await sql.write
        .updateTable("push_uploads")
        .set({ state: "superseded", finishedAt: now })
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("state", "in", ["open", "ending"])
        .where("mode", "=", mode)
        // Of sets there is one at a time; of the others only a namesake is meant to go on here.
        .$if(mode === "add", (query) => query.where("name", "=", name))
        .execute();
      await sql.write
        .insertInto("push_uploads")
        .values({
          workspaceId,
          uploadId,
          connectorId,
          mode,
          name,
          state: "open",
          lines: 0,
          counts: "{}",
          troubles: "[]",
          unnamed: 0,
          isHeld: 0,
          sweptItems: 0,
          createdAt: now,
          touchedAt: now,
          finishedAt: null,
        })
        .execute();
    },

    async acknowledge(uploadId, ack, now) {
      const row = await rows().where("uploadId", "=", uploadId).executeTakeFirst();
      const before = row && toRecord(row, now);
      if (before?.state !== "open") return false;
      const counts = { ...before.counts };
      for (const name of PUSH_RESULTS) counts[name] += ack.counts[name] ?? 0;
      await change(uploadId)
        .set({
          lines: Math.max(before.lines, ack.lines ?? 0),
          counts: JSON.stringify(counts),
          ...(ack.troubles.length > 0 && {
            troubles: JSON.stringify([...before.troubles, ...ack.troubles].slice(0, TROUBLES_KEPT)),
          }),
          unnamed: before.unnamed + ack.unnamed,
          touchedAt: now,
        })
        .execute();
      return true;
    },

    async close(uploadId, to, now) {
      const done = await change(uploadId)
        .set(
          to.state === "done"
            ? { state: "done", touchedAt: now, finishedAt: now }
            : { state: "ending", isHeld: to.isHeld ? 1 : 0, touchedAt: now },
        )
        .where("state", "=", "open")
        .where("touchedAt", ">", now - UPLOAD_TTL_MS)
        .executeTakeFirst();
      return done.numUpdatedRows > 0n;
    },

    async addSwept(uploadId, items) {
      await change(uploadId)
        .set((eb) => ({ sweptItems: eb("sweptItems", "+", items) }))
        .execute();
    },

    async finish(uploadId, now) {
      const done = await change(uploadId)
        .set({ state: "done", touchedAt: now, finishedAt: now })
        .where("state", "=", "ending")
        .executeTakeFirst();
      return done.numUpdatedRows > 0n;
    },
  };
}

/** Deletes what was over or untouched long ago, and the oldest above the number that is kept. */
async function forget(sql: SqlHandles, workspaceId: string, connectorId: string, now: number): Promise<void> {
  const ofConnector = sql.write
    .selectFrom("push_uploads")
    .select("uploadId")
    .where("workspaceId", "=", workspaceId)
    .where("connectorId", "=", connectorId);
  const old = ofConnector.where("touchedAt", "<=", now - KEEP_UPLOADS_MS);
  const beyond = ofConnector
    .orderBy("touchedAt", "desc")
    .limit(1_000_000)
    .offset(UPLOADS_KEPT - 1);
  for (const which of [old, beyond]) {
    const ids = (await which.execute()).map((row) => row.uploadId);
    for (let i = 0; i < ids.length; i += 500) {
      await sql.write
        .deleteFrom("push_uploads")
        .where("workspaceId", "=", workspaceId)
        .where("uploadId", "in", ids.slice(i, i + 500))
        .execute();
    }
  }
}

function toRecord(row: Selectable<PushUploadsTable>, now: number): PushUploadRecord {
  const { workspaceId: _workspaceId, ...plain } = row;
  const isExpired = row.state === "open" && row.touchedAt <= now - UPLOAD_TTL_MS;
  // Closed sets and JSON are written above, from the types named here.
  const counts = JSON.parse(row.counts) as Partial<PushCounts>;
  return {
    ...plain,
    mode: row.mode as PushUploadRecord["mode"],
    state: isExpired ? "expired" : (row.state as PushUploadState),
    // Each name of the table, so the whole record.
    counts: Object.fromEntries(PUSH_RESULTS.map((name) => [name, counts[name] ?? 0])) as PushCounts,
    troubles: JSON.parse(row.troubles) as PushTrouble[],
    isHeld: row.isHeld === 1,
  };
}
