import { inChunks } from "#core/in-chunks.ts";
import type { Selectable } from "kysely";
import type { SqlHandles } from "#storage/handles.ts";
import type { PushUploadsTable } from "#storage/schema.ts";

/** What became of a line, as its answer says it. */
export const PUSH_RESULTS = [
  "upserted",
  "unchanged",
  "removed",
  "held",
  "absent",
  "failed",
  "acl_unknown",
  "error",
] as const;
export type PushResultName = (typeof PUSH_RESULTS)[number];

export type PushCounts = Record<PushResultName, number>;

/** A line that was not taken as it was meant. */
export interface PushFailure {
  line: number | null;
  externalId: string | null;
  result: PushResultName;
  code: string;
  message: string;
}

export type PushUploadState = "open" | "ending" | "done" | "superseded" | "expired";

/** Several pushes that belong together. Times are epoch milliseconds. */
export interface PushUploadRecord {
  uploadId: string;
  connectorId: string;
  mode: "add" | "set";
  name: string | null;
  /** As of `now` of the look-up: what nobody touched for `UPLOAD_TTL_MS` is expired. */
  state: PushUploadState;
  /** The lines 1 to this one are stored. */
  lines: number;
  counts: PushCounts;
  failures: PushFailure[];
  /** Lines that were refused and named no item that could be told: what they meant is not known. */
  unnamed: number;
  /** While a set ends and after: whether what was not sent is held, and how much went. */
  isHeld: boolean;
  sweptItems: number;
  createdAt: number;
  touchedAt: number;
  finishedAt: number | null;
}

/** Lines or a document of an upload, stored in the transaction of what they did. */
export interface PushAcknowledgement {
  /** The last line; null for a document. */
  lines: number | null;
  counts: Partial<PushCounts>;
  failures: readonly PushFailure[];
  unnamed: number;
}

/** How long an upload waits for its next line. */
export const UPLOAD_TTL_MS = 24 * 3_600_000;
export const FAILURES_KEPT = 100;
/** Uploads that are over stay this long, for a lost answer to be asked again; at most as many as `UPLOADS_KEPT`. */
export const KEEP_UPLOADS_MS = 7 * 24 * 3_600_000;
export const UPLOADS_KEPT = 200;

/** The uploads of one workspace's push connectors. */
export function makePushUploadStore(sql: SqlHandles, workspaceId: string) {
  const rows = () => sql.read.selectFrom("push_uploads").selectAll().where("workspaceId", "=", workspaceId);
  const change = (uploadId: string) =>
    sql.write.updateTable("push_uploads").where("workspaceId", "=", workspaceId).where("uploadId", "=", uploadId);

  return {
    async find(uploadId: string, now: number): Promise<PushUploadRecord | undefined> {
      const row = await rows().where("uploadId", "=", uploadId).executeTakeFirst();
      return row && toRecord(row, now);
    },

    /** The newest open upload of this name and mode. */
    async findOpen(
      connectorId: string,
      { mode, name }: { mode: "add" | "set"; name: string },
      now: number,
    ): Promise<PushUploadRecord | undefined> {
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

    /**
     * Begins an upload. A set supersedes every other set of the connector, a named one also its namesakes; what is long
     * over is forgotten. Call it in a transaction.
     */
    async begin({
      uploadId,
      connectorId,
      mode,
      name,
      now,
    }: {
      uploadId: string;
      connectorId: string;
      mode: "add" | "set";
      name: string | null;
      now: number;
    }): Promise<void> {
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

    /** Adds what was stored. @returns false, and nothing was added, when the upload is not open */
    async acknowledge(uploadId: string, ack: PushAcknowledgement, now: number): Promise<boolean> {
      const row = await rows().where("uploadId", "=", uploadId).executeTakeFirst();
      const before = row && toRecord(row, now);
      if (before?.state !== "open") return false;
      const counts = { ...before.counts };
      for (const name of PUSH_RESULTS) counts[name] += ack.counts[name] ?? 0;
      await change(uploadId)
        .set({
          lines: Math.max(before.lines, ack.lines ?? 0),
          counts: JSON.stringify(counts),
          ...(ack.failures.length > 0 && {
            troubles: JSON.stringify([...before.failures, ...ack.failures].slice(0, FAILURES_KEPT)),
          }),
          unnamed: before.unnamed + ack.unnamed,
          touchedAt: now,
        })
        .execute();
      return true;
    },

    /** From open to `ending` (a set whose rest goes) or `done`. @returns false when it is not open */
    async close(
      uploadId: string,
      to: { state: "ending"; isHeld: boolean } | { state: "done" },
      now: number,
    ): Promise<boolean> {
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

    /** Counts what the end of a set removed or held. */
    async addSwept(uploadId: string, items: number): Promise<void> {
      await change(uploadId)
        .set((eb) => ({ sweptItems: eb("sweptItems", "+", items) }))
        .execute();
    },

    /** From `ending` to `done`. @returns false when it was superseded meanwhile */
    async finish(uploadId: string, now: number): Promise<boolean> {
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
    for (const chunk of inChunks(ids, 500)) {
      await sql.write
        .deleteFrom("push_uploads")
        .where("workspaceId", "=", workspaceId)
        .where("uploadId", "in", chunk)
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
    failures: JSON.parse(row.troubles) as PushFailure[],
    isHeld: row.isHeld === 1,
  };
}
