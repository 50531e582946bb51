import { Kysely } from "kysely";
import { ApiError, assertNever } from "#api/errors.ts";
import type { Principal } from "#core/principals.ts";
import { connectorPrincipal } from "#storage/access/item-clocks.ts";
import type { IndexChange, SearchIndexWriter } from "#storage/search-index.ts";
import { makeLocalDialect } from "#storage/dialect.ts";
import type { Tables } from "#storage/schema.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { makeAccessStore } from "#storage/records/access.ts";
import { makeAuditStore } from "#storage/records/audit.ts";
import { inTransaction } from "#storage/transaction.ts";
import {
  changeAccess,
  areSameAccessIds,
  listHidden,
  narrowAccess,
  noteAccessIds,
  setIndexAccess,
  settleAccesses,
  type NamedAccessIds,
  accessIdsOf,
  touch,
} from "./access.ts";
import { cutOf } from "./cut-text.ts";
import { endFormer, hasFormer, keepFormer, readerOf, skip } from "./former-text.ts";
import { applyPeople } from "./people.ts";
import { makeInterner } from "./intern.ts";
import { refusalOf, saveRun } from "./run.ts";
import {
  deleteItem,
  drop,
  endHold,
  keepChildren,
  markSeen,
  releaseAll,
  removeAll,
  removeChildrenBeside,
  restore,
  sweep,
} from "./removals.ts";
import { traceOf } from "./trace.ts";
import { saveUpload } from "./upload.ts";
import { makeWork, stateOf, tally, type Work } from "./work.ts";
import { toIndexUpsert } from "./index-upsert.ts";
import { isLiving, type KnownItem } from "./item-rows.ts";
import { moveChildren } from "./child-rows.ts";
import { readStoredDocument } from "./stored-document.ts";
import { noteRemovals } from "./removal-windows.ts";
import { hideBelow } from "./hide-below.ts";
import { setClocks, settleExceptions } from "./item-clocks.ts";
import type { BatchResult, ItemBatch, ItemOp, ItemState, OpOutcome, PreparedItem } from "#storage/item-batch.ts";

/**
 * Limit of items below an item whose accesses a batch computes itself. If there are more, the batch withholds them.
 * Source: docs/decisions/0021.
 */
const AT_ONCE = 1_000;

export interface BatchArgs {
  workspaceId: string;
  batch: ItemBatch;
}

/**
 * The procedure `applyBatch`, which stores all ops of a batch, the index changes, the cursor and the counts in one
 * transaction.
 */
export function makeApplyBatch(
  connection: SqliteConnection,
  index: SearchIndexWriter,
  noteAccess: (workspaceId: string, aclId: number) => void = () => undefined,
  atOnce = AT_ONCE,
) {
  // Uses the writer's own connection, so it must never be destroyed.
  const db = new Kysely<Tables>({ dialect: makeLocalDialect(() => connection, 1) });

  return async ({ workspaceId, batch }: BatchArgs): Promise<BatchResult> => {
    const startedAt = performance.now();
    return inTransaction(connection.raw, async () => {
      const refusal = refusalOf(connection, workspaceId, batch);
      if (refusal) return { isApplied: false, reason: refusal };
      const people = batch.people && applyPeople(connection, workspaceId, batch.people);
      if (people && !people.isApplied) {
        // Another run ended in between. This run must stop and continue from there, as after a lost lease.
        return { isApplied: false, reason: people.reason === "overtaken" ? "lease_lost" : people.reason };
      }
      const handles = { read: db, write: db, writer: undefined };
      const access = makeAccessStore(handles, workspaceId);
      const interner = makeInterner(connection, workspaceId);
      const noted = new Set<number | null>([null]);
      const noteClock = async (at: number | null) => {
        if (at === null || noted.has(at)) return;
        noted.add(at);
        await access.noteClock(batch.connectorId, at);
      };
      const work = makeWork(connection, workspaceId, batch, {
        interner,
        intern: async (what, at) => {
          await noteClock(at);
          return interner.access(what, alwaysAt(batch, at));
        },
        reclock: async (ownAclId, at) => {
          await noteClock(at);
          return access.reclock(ownAclId, batch.connectorId, at, interner);
        },
        noteAccess: (aclId) => noteAccess(workspaceId, aclId),
      });
      requireExpected(work);
      const outcomes: OpOutcome[] = [];
      const hasRelisted = work.rows.hasRelisted();
      for (const op of batch.ops) {
        outcomes.push(await applyOp(work, op));
        if (hasRelisted) endRelist(work, op);
        work.op++;
      }
      await settleExceptions(work);
      const tops = settleAccesses(work, atOnce);
      interner.save();
      // The trace shows the final state: a temporarily withheld item isn't recorded as lost to its readers.
      const trace = batch.trace && (await traceOf(work, access, batch.trace));
      if (trace) await makeAuditStore(handles, workspaceId).append(trace);
      const of = { workspaceId, connectorId: batch.connectorId };
      const withheld = tops.length === 0 ? [] : hideBelow(connection, of, tops);
      if (batch.upload) await saveUpload(handles, workspaceId, batch.upload, outcomes, batch.now);
      for (const kbId of work.indexedAgain) work.changes.push(upsertOfStored(connection, workspaceId, kbId));
      index.apply(workspaceId, work.changes);
      index.hide(workspaceId, withheld);
      noteRemovals(connection, { workspaceId, connectorId: batch.connectorId }, batch, work.guarded);
      const isCancelRequested = batch.run
        ? saveRun(connection, workspaceId, batch.connectorId, batch.run, work)
        : false;
      const result = { outcomes, hiddenChildren: listHidden(work) };
      return {
        isApplied: true,
        ...result,
        isCancelRequested,
        ...(people && { people }),
        tookMs: performance.now() - startedAt,
      };
    });
  };
}

/**
 * Makes the index change, from stored data, for an item that a removal took out of the index, or that lost its text.
 */
function upsertOfStored(connection: SqliteConnection, workspaceId: string, kbId: string): IndexChange {
  const { rows } = connection.execute("select * from items where workspaceId = ? and kbId = ?", [workspaceId, kbId]);
  return { type: "upsert", document: readStoredDocument(connection, rows[0]) };
}

/** The principals with which every access is ANDed: the connector's readers, at the item's own clock if it has one. */
function alwaysAt({ always, connectorId }: ItemBatch, at: number | null): Principal[] {
  const plain = connectorPrincipal(connectorId);
  return always.map((principal) => (principal === plain ? connectorPrincipal(connectorId, at) : principal));
}

function requireExpected({ batch: { expects }, rows }: Work): void {
  if (!expects) return;
  const known = rows.find(expects.externalId);
  const version = isLiving(known) ? known.version : undefined;
  if (version !== expects.version) throw overtaken();
}

async function setAccess(work: Work, op: Extract<ItemOp, { type: "access" }>): Promise<OpOutcome> {
  const known = work.rows.find(op.externalId);
  if (op.of) requireSame(known, op.of);
  const outcome = await changeAccess(work, known, op);
  if (op.isSeen && known?.indexState === "held") markSeen(work, { type: "seen", externalIds: [op.externalId] });
  return outcome;
}

function requireSame(known: KnownItem | undefined, { version, parentExternalId }: ItemState): void {
  if (isLiving(known) && known.version === version && known.parentExternalId === parentExternalId) return;
  throw overtaken();
}

function overtaken(): ApiError {
  return new ApiError("unavailable", {
    message: "Another push changed the item at the same time. Send it again.",
    retryAfterMs: 1_000,
  });
}

async function applyOp(work: Work, op: ItemOp): Promise<OpOutcome> {
  switch (op.type) {
    case "upsert":
      return upsertWhole(work, op);
    case "access":
      return setAccess(work, op);
    case "delete":
      return deleteItem(work, op);
    case "seen":
      return markSeen(work, op);
    case "children":
      return keepChildren(work, op);
    case "restore":
      return restore(work, op.kbId);
    case "skip":
      return skip(work, op);
    case "end_former":
      return endFormer(work, op);
    case "sweep":
      return sweep(work, op.kbIds, op.hold);
    case "drop":
      return drop(work, op.kbIds, op.hold);
    case "relist":
      work.rows.relist(op.externalId);
      return op.listed ? narrowAccess(work, op.externalId, op.listed, op.clockAt) : "done";
    case "remove":
      return removeAll(work, op.kbIds, op.ifElsewhere);
    case "release":
      return releaseAll(work, op.kbIds);
    case "clock":
      return setClocks(work, op);
    default:
      return assertNever(op);
  }
}

/** Ends the item's wait for another listing, because a later report about the item replaces that listing. */
function endRelist({ rows }: Work, op: ItemOp): void {
  if (op.type === "upsert") rows.endRelist(op.item.externalId);
  else if (op.type === "delete" || op.type === "skip") rows.endRelist(op.externalId);
}

type Upsert = Extract<ItemOp, { type: "upsert" }>;

async function upsertWhole(work: Work, op: Upsert): Promise<OpOutcome> {
  const outcome = await upsert(work, op);
  if (op.isChildless) removeChildrenBeside(work, op.item.externalId, []);
  return outcome;
}

async function upsert(work: Work, { item, clockAt = null, version }: Upsert): Promise<OpOutcome> {
  const { rows } = work;
  const known = moved(work, item) ?? rows.find(item.externalId) ?? renamed(work, item);
  const living = isLiving(known) ? known : undefined;
  const isFailed = item.text.state === "failed";
  if (living?.indexState === "held") endHold(work, living);
  if (item.text.state === "failed") {
    tally(work, known, "failed");
    work.addSkip(item.externalId, "failed", item.text.message, item.text.retryAt !== null);
    if (living && hasFormer(work, living)) return keepFormer(work, living, item, item.text, clockAt);
  }
  const standing = await accessIdsOf(work, item, clockAt);
  noteAccessIds(work, item, known, standing);
  const same =
    living?.indexHash === item.indexHash && (isFailed || living.textReason !== "failed") ? living : undefined;
  const { aclId } = standing;
  const kbId = known?.kbId ?? item.newKbId;
  const cut = cutOf(living, item, version ?? item.version, work.batch.now);
  const isAsRead = same !== undefined && !isFailed && same.version !== null && same.version === item.version;
  // Another reader may have found other sections in the same text, and other data that isn't in the index.
  if (isAsRead && isSameReader(same, item) && cut.cutRetries === same.cutRetries) {
    const { parentExternalId } = item;
    rows.set(kbId, { ...standing, parentExternalId, seenBy: work.seenBy, indexState: stateOf(aclId, same) });
  } else {
    writeRow(work, item, known, { ...standing, ...cut });
  }
  if (!same) work.changes.push(toIndexUpsert(item, kbId, work.batch.connectorId, aclId));
  else setIndexAccess(work, same, aclId);
  if (isFailed) return "failed";
  const outcome = same && areSameAccessIds(same, standing) ? "unchanged" : "upserted";
  tally(work, known, outcome);
  return outcome;
}

/**
 * Moves an item that the source listed under another id until now to its new id, with its kbId. Doesn't move it if it
 * still exists at the old id or another item exists at the new one.
 */
function moved(work: Work, item: PreparedItem): KnownItem | undefined {
  const { rows, seenBy } = work;
  if (item.formerExternalId === undefined) return undefined;
  const former = rows.find(item.formerExternalId);
  const there = rows.find(item.externalId);
  const hasMoved = isLiving(former) && (seenBy === null || former.seenBy !== seenBy);
  if (!hasMoved || there?.removedAt === null) return undefined;
  // A recently removed item had this id. The two items swap ids, so that the removed one can still be restored.
  if (there) rows.set(there.kbId, { externalId: `\0${there.kbId}` });
  rows.set(former.kbId, { externalId: item.externalId });
  if (there) rows.set(there.kbId, { externalId: item.formerExternalId });
  moveChildren(rows, item.formerExternalId, item.externalId);
  // Items that couldn't be moved along no longer have a parent.
  touch(work, item.formerExternalId);
  touch(work, item.externalId);
  return { ...former, externalId: item.externalId };
}

/** Recognizes the same item under a new externalId and moves it there with its kbId. */
function renamed(work: Work, item: PreparedItem): KnownItem | undefined {
  const { rows, seenBy } = work;
  if (item.identityHint === null || item.text.state !== "text") return undefined;
  const known = rows.findByHint(item.identityHint, item.text.textHash);
  // This run has also listed the item at its old place, so it still exists there and this one is a copy.
  if (!known || (known.seenBy !== null && known.seenBy === seenBy)) return undefined;
  rows.set(known.kbId, { externalId: item.externalId });
  moveChildren(rows, known.externalId, item.externalId);
  touch(work, known.externalId);
  touch(work, item.externalId);
  return { ...known, externalId: item.externalId };
}

function isSameReader(known: KnownItem, { reader }: PreparedItem): boolean {
  return known.reader === (reader?.name ?? null) && known.readerVersion === (reader?.version ?? null);
}

function writeRow(
  work: Work,
  item: PreparedItem,
  known: KnownItem | undefined,
  standing: NamedAccessIds & ReturnType<typeof cutOf>,
): void {
  const { rows, batch } = work;
  const textHash = item.text.state === "text" ? item.text.textHash : null;
  const textReason = item.text.state === "text" ? null : item.text.state === "failed" ? "failed" : item.text.reason;
  const extras = {
    version: item.text.state === "failed" && item.text.retryAt !== null ? null : item.version,
    indexedAt: batch.now,
    indexState: stateOf(standing.aclId, { textHash, textReason }),
    ...standing,
    ...readerOf(known, item),
    seenBy: work.seenBy,
  };
  const kbId = known?.kbId ?? item.newKbId;
  if (known) rows.update(item, kbId, extras);
  else rows.insert(item, kbId, extras);
  // Another reader may number lines differently.
  const isOther = known?.textHash !== textHash || !isSameReader(known, item);
  if (known && isOther && known.textHash !== null) rows.removeText(kbId);
  if (item.text.state === "text" && isOther) {
    rows.writeText(kbId, item.text.text, item.text.firstLine);
  }
  if (known && known.formerSince !== null) rows.setFormerInside(item.externalId, null);
  if (known?.indexHash !== item.indexHash) rows.replaceEntities(kbId, item.entities, known === undefined);
}
