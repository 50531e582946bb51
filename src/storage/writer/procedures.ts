import { type IndexWriter, makeIndexWriter } from "#storage/index/write/writer.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { type AppendAuditArgs, makeAppendAudit } from "./append-audit.ts";
import { type BatchArgs, makeApplyBatch } from "#storage/batch/batch.ts";
import type { Procedure } from "./engine.ts";
import { makeMaskStored, type MaskStoredArgs } from "./mask-stored.ts";
import { probeStorage } from "./probe-storage.ts";
import { makePurgeItems, type PurgeArgs } from "./purge.ts";
import { makeAccessSweeper, type SweepAccessesArgs } from "./sweep-accesses.ts";
import { makeReindex } from "./reindex.ts";

/** What the writer does beside single statements. */
export interface WriterWork {
  /** By name. Their callers in `store/` give exactly the arguments that are named here. */
  procedures: ReadonlyMap<string, Procedure>;
  /** One slice (about 25 ms) of upkeep that is due; false = nothing is. Runs between requests. */
  upkeep(): boolean;
}

/**
 * Every procedure the writer knows. A procedure runs inside the writer, so it may use the raw connection;
 * it must end within about 25 ms, or work in slices that it asks for again.
 */
export function makeWriterWork(connection: SqliteConnection): WriterWork {
  const index = makeIndexWriter(connection.raw);
  const accesses = makeAccessSweeper(connection, index);
  const applyBatch = makeApplyBatch(connection, index, (workspaceId, aclId) => accesses.note(workspaceId, aclId));
  const purgeItems = makePurgeItems(connection, index);
  const maskStored = makeMaskStored(connection, index);
  const appendAudit = makeAppendAudit(connection);
  const reindex = makeReindex(connection, index);
  return {
    procedures: new Map<string, Procedure>([
      ["applyBatch", (_, args) => applyBatch(args as BatchArgs)],
      ["purgeItems", (_, args) => purgeItems(args as PurgeArgs)],
      ["sweepAccesses", (_, args) => accesses.run(args as SweepAccessesArgs)],
      ["maskStored", (_, args) => maskStored(args as MaskStoredArgs)],
      ["appendAudit", (_, args) => appendAudit(args as AppendAuditArgs)],
      ["foldIndex", (_, args) => foldAll(index, (args as { workspaceId: string }).workspaceId)],
      ["probeStorage", () => probeStorage(connection)],
      ["sweepIndex", () => inTransaction(connection.raw, () => index.sweep())],
    ]),
    // Folds first: they are short, and searches wait for nothing of a rebuild.
    upkeep: () => index.nextFoldSlice() || reindex(),
  };
}

/** Folds all that is due of a workspace at once: for tests, benchmarks and quiet moments. */
function foldAll(index: IndexWriter, workspaceId: string): void {
  while (index.nextFoldSlice(workspaceId));
}
