import { inChunks } from "#core/in-chunks.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { changesOf, CHUNK } from "#storage/results.ts";
import { PUSH_RESULTS, PUSH_UPLOADS, type PushCounts, type PushFailure } from "#storage/tables/items.ts";
import type { RecordOf } from "#storage/tables/table.ts";

export type { PushCounts, PushFailure, PushResultName } from "#storage/tables/items.ts";

type Stored = RecordOf<typeof PUSH_UPLOADS>;
export type PushUploadState = Stored["state"] | "expired";

/** An upload: several pushes that belong together. Times are epoch milliseconds. */
export interface PushUploadRecord extends Omit<Stored, "troubles" | "counts" | "state"> {
  /** The state at `now` of the look-up: an upload in which nothing has changed for `UPLOAD_TTL_MS` is expired. */
  state: PushUploadState;
  counts: PushCounts;
  failures: PushFailure[];
}

/** Lines or a document of an upload, stored in the same transaction as their changes. */
export interface PushAcknowledgement {
  /** The last line; null for a document. */
  lines: number | null;
  counts: Partial<PushCounts>;
  failures: readonly PushFailure[];
  unnamed: number;
}

/** How long an open upload waits for its next line. */
export const UPLOAD_TTL_MS = 24 * 3_600_000;
export const FAILURES_KEPT = 100;
/**
 * How long finished uploads are kept, so that a lost answer can be requested again. At most `UPLOADS_KEPT` are kept.
 */
export const KEEP_UPLOADS_MS = 7 * 24 * 3_600_000;
export const UPLOADS_KEPT = 200;

/** Reads and writes the uploads of one workspace's push connectors. */
export function makePushUploadStore(sql: SqlHandles, workspaceId: string) {
  const uploads = inWorkspace(sql, workspaceId, PUSH_UPLOADS);

  async function find(uploadId: string, now: number): Promise<PushUploadRecord | undefined> {
    const row = await uploads.find({ uploadId });
    return row && toRecord(row, now);
  }

  return {
    find,

    /** Returns the newest open upload with this name and mode. */
    async findOpen(
      connectorId: string,
      { mode, name }: { mode: "add" | "set"; name: string },
      now: number,
    ): Promise<PushUploadRecord | undefined> {
      const row = await uploads
        .select({ connectorId, mode, name, state: "open" })
        .selectAll()
        .where("touchedAt", ">", now - UPLOAD_TTL_MS)
        .orderBy("createdAt", "desc")
        .executeTakeFirst();
      return row && toRecord(PUSH_UPLOADS.read(row), now);
    },

    /**
     * Begins an upload. A set supersedes every other set of the connector; a named one also supersedes other uploads of
     * that name. Uploads that finished long ago are deleted. Call it in a transaction.
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
      await uploads
        .updating({ connectorId, mode })
        .set({ state: "superseded", finishedAt: now })
        .where("state", "in", ["open", "ending"])
        // Only one set is open at a time. Of the other uploads, only one with the same name is continued here.
        .$if(mode === "add", (query) => query.where("name", "=", name))
        .execute();
      const nothing = {
        lines: 0,
        counts: {},
        troubles: [],
        unnamed: 0,
        isHeld: false,
        sweptItems: 0,
        finishedAt: null,
      };
      await uploads.insert({
        uploadId,
        connectorId,
        mode,
        name,
        state: "open",
        ...nothing,
        createdAt: now,
        touchedAt: now,
      });
    },

    /** Adds what was stored. @returns false, without adding anything, when the upload is not open */
    async acknowledge(uploadId: string, ack: PushAcknowledgement, now: number): Promise<boolean> {
      const before = await find(uploadId, now);
      if (before?.state !== "open") return false;
      const counts = { ...before.counts };
      for (const name of PUSH_RESULTS) counts[name] += ack.counts[name] ?? 0;
      await uploads.update(
        { uploadId },
        {
          lines: Math.max(before.lines, ack.lines ?? 0),
          counts,
          ...(ack.failures.length > 0 && { troubles: [...before.failures, ...ack.failures].slice(0, FAILURES_KEPT) }),
          unnamed: before.unnamed + ack.unnamed,
          touchedAt: now,
        },
      );
      return true;
    },

    /**
     * Changes an open upload to `ending` (a set whose unsent items are removed) or `done`. @returns false when it is
     * not open
     */
    async close(
      uploadId: string,
      to: { state: "ending"; isHeld: boolean } | { state: "done" },
      now: number,
    ): Promise<boolean> {
      const finished = { state: "done", finishedAt: now } as const;
      const closed = uploads
        .updating({ uploadId, state: "open" })
        .set(PUSH_UPLOADS.write({ ...(to.state === "done" ? finished : to), touchedAt: now }))
        .where("touchedAt", ">", now - UPLOAD_TTL_MS);
      return (await changesOf(closed)) > 0;
    },

    /** Adds the number of items that the end of a set removed or held. */
    async addSwept(uploadId: string, items: number): Promise<void> {
      await uploads
        .updating({ uploadId })
        .set((eb) => ({ sweptItems: eb("sweptItems", "+", items) }))
        .execute();
    },

    /** Changes an upload from `ending` to `done`. @returns false when it was superseded in the meantime */
    finish: async (uploadId: string, now: number): Promise<boolean> =>
      (await uploads.update({ uploadId, state: "ending" }, { state: "done", touchedAt: now, finishedAt: now })) > 0,
  };
}

/** Deletes uploads that finished long ago or were abandoned, and the oldest ones beyond the number that is kept. */
async function forget(sql: SqlHandles, workspaceId: string, connectorId: string, now: number): Promise<void> {
  const ofConnector = inWorkspace(sql, workspaceId, PUSH_UPLOADS).select({ connectorId }).select("uploadId");
  const old = ofConnector.where("touchedAt", "<=", now - KEEP_UPLOADS_MS);
  const beyond = ofConnector
    .orderBy("touchedAt", "desc")
    .limit(1_000_000)
    .offset(UPLOADS_KEPT - 1);
  for (const which of [old, beyond]) {
    const ids = (await which.execute()).map((row) => row.uploadId);
    for (const chunk of inChunks(ids, CHUNK)) {
      await inWorkspace(sql, workspaceId, PUSH_UPLOADS).deleting().where("uploadId", "in", chunk).execute();
    }
  }
}

function toRecord({ troubles, ...row }: Stored, now: number): PushUploadRecord {
  const isExpired = row.state === "open" && row.touchedAt <= now - UPLOAD_TTL_MS;
  return {
    ...row,
    state: isExpired ? "expired" : row.state,
    // All names of the table are set, so this is the whole record.
    counts: Object.fromEntries(PUSH_RESULTS.map((name) => [name, row.counts[name] ?? 0])) as PushCounts,
    failures: troubles,
  };
}
