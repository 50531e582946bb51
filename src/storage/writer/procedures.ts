import { makeIndexWriter } from "#storage/index/write/writer.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import type { AppendAuditArgs } from "#storage/audit-chain.ts";
import { makeAppendAudit } from "./append-audit.ts";
import { type BatchArgs, makeApplyBatch } from "#storage/batch/batch.ts";
import type { Procedure } from "./engine.ts";
import { makeMaskStored, type MaskStoredArgs } from "./mask-stored.ts";
import { probeStorage } from "./probe-storage.ts";
import { makePurgeItems, type PurgeArgs } from "./purge.ts";
import { makeAccessSweeper, type SweepAccessesArgs } from "./sweep-accesses.ts";
import { makeReindex } from "./reindex.ts";
import type { JoinReadsArgs } from "#storage/read-rows.ts";
import { makeJoinReads } from "./join-reads.ts";
import { applyPeople } from "#storage/batch/people.ts";
import type { PeopleBatch, PeopleEnd, PeopleReporter } from "#storage/people-batch.ts";
import { beginPeople, endPeople } from "#storage/batch/people-end.ts";
import { makeSettleWithheld, type SettleWithheldArgs } from "#storage/batch/settle-withheld.ts";

/** Limits that tests can make small. */
export interface WriterTuning {
  /** How many items below a changed one may have their accesses computed by the batch itself. */
  settledAtOnce?: number;
}

/** The arguments of the procedures that store groups and users of sources. */
interface PeopleArgs<What> {
  workspaceId: string;
  what: What;
}

/**
 * Makes every procedure of the writer. A procedure runs inside the writer, so it may use the raw connection. It must
 * end within about 25 ms, or run in slices, each of which the caller requests.
 */
export function makeWriterWork(connection: SqliteConnection, { settledAtOnce }: WriterTuning = {}) {
  const index = makeIndexWriter(connection.raw);
  const accesses = makeAccessSweeper(connection, index);
  const noteAccess = (workspaceId: string, aclId: number) => accesses.note(workspaceId, aclId);
  const applyBatch = makeApplyBatch(connection, index, noteAccess, settledAtOnce);
  const settleWithheld = makeSettleWithheld(connection, index, noteAccess);
  const purgeItems = makePurgeItems(connection, index);
  const maskStored = makeMaskStored(connection, index);
  const appendAudit = makeAppendAudit(connection);
  const joinReads = makeJoinReads(connection);
  const reindex = makeReindex(connection, index);
  const people = <What, Result>(
    work: (connection: SqliteConnection, workspaceId: string, what: What) => Result,
    { workspaceId, what }: PeopleArgs<What>,
  ) => inTransaction(connection.raw, () => work(connection, workspaceId, what));
  return {
    /** The procedures by name. Their callers in `store/` pass exactly the arguments that are named here. */
    procedures: new Map<string, Procedure>([
      ["applyBatch", (_, args) => applyBatch(args as BatchArgs)],
      ["beginPeople", (_, args) => people(beginPeople, args as PeopleArgs<PeopleReporter>)],
      ["applyPeople", (_, args) => people(applyPeople, args as PeopleArgs<PeopleBatch>)],
      ["endPeople", (_, args) => people(endPeople, args as PeopleArgs<PeopleEnd>)],
      ["settleWithheld", (_, args) => settleWithheld(args as SettleWithheldArgs)],
      ["purgeItems", (_, args) => purgeItems(args as PurgeArgs)],
      ["sweepAccesses", (_, args) => accesses.run(args as SweepAccessesArgs)],
      ["maskStored", (_, args) => maskStored(args as MaskStoredArgs)],
      ["appendAudit", (_, args) => appendAudit(args as AppendAuditArgs)],
      ["joinReads", (_, args) => joinReads(args as JoinReadsArgs)],
      ["probeStorage", () => probeStorage(connection)],
      // Does nothing itself: maintenance follows every batch, so this request gives it a turn when nothing is stored.
      ["takeTurn", () => undefined],
      ["sweepIndex", () => inTransaction(connection.raw, () => index.sweep())],
    ]),
    // These two come first: people wait for withheld items, and many changes outside segments slow down each search.
    /** Runs one slice (about 25 ms) of due maintenance; false = nothing is due. Runs between requests. */
    upkeep: (): boolean => settleWithheld() || (index.hasManyChanges() && index.nextCompactionSlice()),
    // Compactions come first, because they are short and no search waits for a rebuild.
    /** Like `upkeep`, for maintenance that pauses during searches, because searches don't become faster by it. */
    tidy: (): boolean => index.nextCompactionSlice() || reindex(),
  };
}
