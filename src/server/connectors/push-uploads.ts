import { actOn } from "#storage/audit-act.ts";
import { connectorPrincipal } from "#storage/access/item-clocks.ts";
import { makeId } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { BeginUploadBody, EndUploadBody, PushUpload } from "#api/push.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import { isChildId, outermostId } from "#core/child-ids.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import { removalLimit } from "#storage/item-batch.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import { type PushUploadRecord, UPLOAD_TTL_MS } from "#storage/records/push-uploads.ts";
import type { ConnectorDeps } from "./deps.ts";
import { walkStored } from "./stored.ts";
import { requirePushable } from "./push-deps.ts";

/**
 * Begins an upload, or returns the open upload of that name.
 *
 * @throws ApiError `not_found`, `connector_state_conflict`
 */
export async function beginUpload(
  deps: ConnectorDeps,
  caller: ConnectorCaller,
  { mode, name, resume }: BeginUploadBody,
): Promise<{ upload: PushUpload }> {
  const { connectorId } = await requirePushable(deps, caller);
  const now = deps.clock.now();
  const upload = await deps.store.transaction(async (tx) => {
    const { pushUploads } = tx.in(caller.workspaceId);
    const open =
      resume && name !== undefined ? await pushUploads.findOpen(connectorId, { mode, name }, now) : undefined;
    if (open) return open;
    const uploadId = makeId("upload", deps.randomBytes);
    await pushUploads.begin({ uploadId, connectorId, mode, name: name ?? null, now });
    return pushUploads.find(uploadId, now);
  });
  if (!upload) throw new Error("A new upload is missing.");
  return { upload: toView(upload) };
}

/** Returns the progress of an upload, even after its end. @throws ApiError `not_found` */
export async function getUpload(
  deps: ConnectorDeps,
  caller: ConnectorCaller,
  uploadId: string,
): Promise<{ upload: PushUpload }> {
  return { upload: toView(await requireUpload(deps, caller, uploadId)) };
}

/** Returns the upload if it still accepts lines. @throws ApiError `not_found`, `push_upload_over` */
export async function requireOpenUpload(
  deps: ConnectorDeps,
  caller: ConnectorCaller,
  uploadId: string,
): Promise<PushUploadRecord> {
  const upload = await requireUpload(deps, caller, uploadId);
  if (upload.state === "open") return upload;
  throw over(upload);
}

/**
 * Ends an upload. For a whole set, items that weren't sent since its beginning are removed, or held for approval if
 * they are suspiciously many. If it is unknown what was sent, nothing is removed. Calling it again has the same result,
 * and continues an interrupted removal.
 *
 * @throws ApiError `not_found`, `connector_state_conflict`, `push_upload_over`, `push_upload_incomplete` if lines are
 *   missing, `invalid_request` for a set without the number of its lines
 */
export async function endUpload(
  deps: ConnectorDeps,
  caller: ConnectorCaller,
  uploadId: string,
  { lines }: EndUploadBody,
): Promise<{ upload: PushUpload }> {
  await requirePushable(deps, caller);
  const upload = await requireUpload(deps, caller, uploadId);
  if (upload.state === "done") return { upload: toView(upload) };
  if (upload.state === "superseded" || upload.state === "expired") throw over(upload);
  if (upload.state === "open") {
    requireLines(upload, lines);
    await close(deps, caller, upload);
  }
  const closed = await requireUpload(deps, caller, uploadId);
  if (closed.state === "ending") await sweep(deps, caller, closed);
  return getUpload(deps, caller, uploadId);
}

function requireLines({ mode, lines: stored }: PushUploadRecord, lines: number | undefined): void {
  if (lines === undefined && mode === "add") return;
  if (lines === undefined) {
    const message = `To end a set, send "lines": the number of the last line you sent, or 0 if you sent none.`;
    throw new ApiError("invalid_request", { message, field: "lines" });
  }
  if (lines === stored) return;
  const what = lines > stored ? `Send the lines from ${stored + 1} on, then end the upload.` : "Nothing was removed.";
  throw new ApiError("push_upload_incomplete", {
    message: `The upload has its lines up to ${stored}, not ${lines}. ${what}`,
    field: "lines",
    details: { lines: stored },
  });
}

async function close(deps: ConnectorDeps, caller: ConnectorCaller, upload: PushUploadRecord): Promise<void> {
  const { uploadId, connectorId } = upload;
  const workspace = deps.store.in(caller.workspaceId);
  const isSwept = upload.mode === "set" && refusalOf(upload) === null;
  const now = deps.clock.now();
  if (!isSwept) {
    if (!(await workspace.pushUploads.close(uploadId, { state: "done" }, now))) throw over(upload);
    return;
  }
  const gone = await countOf(unnamedItems(deps, caller, upload));
  const guard = await workspace.itemWrites.guardOf(connectorId, now);
  // Holds either all of them or none. If a listing is half empty, the remaining removals are just as wrong, however few
  // they are.
  const isHeld = guard.removed + gone > removalLimit(guard.highest);
  const isClosed = await deps.store.transaction(async (tx) => {
    if (!(await tx.in(caller.workspaceId).pushUploads.close(uploadId, { state: "ending", isHeld }, now))) return false;
    await deps.audit.recordSystem(
      tx,
      caller.workspaceId,
      actOn(connectorId, "connector.set_pushed", {
        uploadId,
        keyId: caller.keyId,
        ...(isHeld ? { held: gone } : { removed: gone }),
      }),
    );
    return true;
  });
  if (!isClosed) throw over(upload);
}

async function countOf(values: AsyncGenerator<unknown, void>): Promise<number> {
  let count = 0;
  while ((await values.next()).done !== true) count++;
  return count;
}

/** Items per slice; a slice blocks the writer for some milliseconds. */
const SLICE = 100;

/** Removes items that a set did not name. @throws ApiError `push_upload_over` if a later set has replaced it */
async function sweep(deps: ConnectorDeps, caller: ConnectorCaller, upload: PushUploadRecord): Promise<void> {
  const { uploadId } = upload;
  const { itemWrites, pushUploads } = deps.store.in(caller.workspaceId);
  const { highest } = await itemWrites.guardOf(upload.connectorId, deps.clock.now());
  let slice: string[] = [];
  const flush = async () => {
    const kbIds = slice;
    slice = [];
    if (kbIds.length === 0) return;
    await itemWrites.applyBatch({
      connectorId: upload.connectorId,
      always: [connectorPrincipal(upload.connectorId)],
      highest,
      now: deps.clock.now(),
      upload: { uploadId, phase: "ending", lines: null, results: [], failures: [], unnamed: 0 },
      ops: [{ type: "sweep", kbIds, hold: upload.isHeld }],
    });
    await pushUploads.addSwept(uploadId, kbIds.length);
  };
  for await (const kbId of unnamedItems(deps, caller, upload)) {
    slice.push(kbId);
    if (slice.length >= SLICE) await flush();
  }
  await flush();
  if (!(await pushUploads.finish(uploadId, deps.clock.now()))) throw over({ ...upload, state: "superseded" });
}

/**
 * Returns present items that no line has named since the set began. Held items already wait for their own approval.
 * Files inside an item are removed or kept together with it.
 */
async function* unnamedItems(
  deps: ConnectorDeps,
  caller: ConnectorCaller,
  { connectorId, uploadId }: PushUploadRecord,
): AsyncGenerator<string, void> {
  const workspace = deps.store.in(caller.workspaceId);
  const isNamed = (item: Pick<StoredItem, "seenBy"> | undefined) => item?.seenBy === uploadId;
  // The child items of an item are adjacent, so the item is looked up once for all of them.
  let inside = { externalId: "", isNamed: false };
  for await (const item of walkStored(workspace, connectorId)) {
    const externalId = outermostId(item.externalId);
    if (isChildId(item.externalId) && inside.externalId !== externalId) {
      const outermost = await workspace.itemWrites.findStored(connectorId, externalId);
      inside = { externalId, isNamed: isNamed(outermost) };
    }
    if (isNamed(item) || (isChildId(item.externalId) && inside.isNamed)) continue;
    if (item.indexState !== "held") yield item.kbId;
  }
}

async function requireUpload(
  { store, clock }: ConnectorDeps,
  { workspaceId, connectorId }: ConnectorCaller,
  uploadId: string,
): Promise<PushUploadRecord> {
  const upload = await store.in(workspaceId).pushUploads.find(uploadId, clock.now());
  if (upload?.connectorId === connectorId) return upload;
  throw new ApiError("not_found", { message: "This connector has no such upload." });
}

function over({ uploadId, state }: PushUploadRecord): ApiError {
  const why = {
    open: "it is over",
    ending: "it was ended",
    done: "it has ended",
    superseded: "a later upload replaced it",
    expired: "it waited for more than 24 hours",
  }[state];
  return new ApiError("push_upload_over", {
    message: `The upload ${uploadId} is closed: ${why}. What it stored stays. Start another one.`,
  });
}

/** The reason why nothing may be removed at the end; null if removals are allowed. */
function refusalOf({ mode, unnamed }: PushUploadRecord): string | null {
  if (mode === "add" || unnamed === 0) return null;
  return `${unnamed} ${unnamed === 1 ? "line" : "lines"} could not be read, so kb can't tell which items they meant.`;
}

function toView(record: PushUploadRecord): PushUpload {
  const { uploadId, connectorId, mode, name, state, lines, counts, failures, isHeld, sweptItems } = record;
  const sweepRefused = refusalOf(record);
  const isSwept = mode === "set" && sweepRefused === null && (state === "done" || state === "ending");
  return {
    id: uploadId,
    connectorId,
    mode,
    name,
    state,
    lines,
    counts,
    failures,
    swept: isSwept ? { removed: isHeld ? 0 : sweptItems, held: isHeld ? sweptItems : 0 } : null,
    sweepRefused,
    createdAt: isoOf(record.createdAt),
    expiresAt: isoOf(record.touchedAt + UPLOAD_TTL_MS),
    finishedAt: isoOrNull(record.finishedAt),
  };
}
