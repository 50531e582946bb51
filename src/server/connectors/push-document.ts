import { ApiError, isApiError } from "#api/errors.ts";
import type { PushResult } from "#api/connector-records.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import { letGo } from "#core/spool.ts";
import { defined } from "#core/defined.ts";
import type { ChildRules } from "#sources/contract.ts";
import { MAX_PUSHED_BYTES, type PushedDocument, type PushedLine } from "#sources/push/events.ts";
import { type BatchUpload, type ItemOp, type OpOutcome, pushResultOf } from "#storage/item-batch.ts";
import { parseConfig } from "./sources.ts";
import { applyOps } from "./stored.ts";
import { type Applied, toResult } from "./push-answers.ts";
import { beginPlan, type Plan, planUpsert, toUpload, traceOf } from "./push-items.ts";
import { requireSource } from "./deps.ts";
import { type ItemRoom, type PushDeps, placeOf, type PushTarget, requirePushable } from "./push-deps.ts";
import { requireOpenUpload } from "./push-uploads.ts";

export interface DocumentBody {
  stream: AsyncIterable<Uint8Array> | null;
  contentType: string | undefined;
  /** The size that the request declares; undefined if it declares none. */
  bytes: number | undefined;
}

/** Maximum bytes that are sent in addition to the file: the line, boundaries, headers. */
const AROUND_THE_FILE = 2 * 1024 * 1024;
/** The longest time that a document waits for its turn, in milliseconds. */
const WAIT_MS = 60_000;

/**
 * Stores one document: its line, the text of its bytes, and the files inside it as separate items. The bytes themselves
 * are not kept. Idempotent by (externalId, version). If the line has no version, a hash of the line and the bytes is
 * the version. A document with many files is stored in several transactions and gets its version in the last one. If it
 * is sent again before that, it is read again.
 *
 * @throws ApiError `not_found`, `connector_state_conflict`, `push_upload_over`, `payload_too_large`,
 *   `unsupported_media_type`, `unavailable` if too many documents arrive at once or another push of the item came in
 *   between; for the line: the line's own code. Then the document isn't stored, or isn't stored completely
 */
export async function pushDocument(
  deps: PushDeps,
  caller: ConnectorCaller,
  body: DocumentBody,
  uploadId: string | undefined,
): Promise<PushResult> {
  const connector = await requirePushable(deps, caller);
  if (uploadId !== undefined) await requireOpenUpload(deps, caller, uploadId);
  const target: PushTarget = { caller, connector, uploadId };
  if (body.bytes !== undefined && body.bytes > MAX_PUSHED_BYTES + AROUND_THE_FILE) {
    const message = `A document can be at most ${MAX_PUSHED_BYTES / 1024 / 1024} MiB.`;
    const tooLarge = new ApiError("payload_too_large", { message, field: "file" });
    // The document wasn't read, so its item is unknown.
    await noteRefusal(deps, target, tooLarge);
    throw tooLarge;
  }
  const leave = await enterGate(deps.documentGate, body.bytes ?? MAX_PUSHED_BYTES);
  try {
    const document = await readDocument(deps, target, body);
    try {
      return await openDocument(deps, target, document);
    } finally {
      letGo(document.bytes);
    }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "TimeoutError") throw error;
    throw tooMany(error);
  } finally {
    leave();
  }
}

async function openDocument(deps: PushDeps, target: PushTarget, document: PushedDocument): Promise<PushResult> {
  const rules = await rulesOf(deps, target);
  const { workspaceId, connectorId } = target.caller;
  const room = deps.openRoom({ workspaceId, connectorId }, AbortSignal.timeout(WAIT_MS));
  try {
    return await storeDocument(deps, target, document, { rules, room });
  } finally {
    room.close();
  }
}

async function rulesOf({ sources }: PushDeps, { connector }: PushTarget): Promise<ChildRules | undefined> {
  const source = await requireSource(sources, connector.providerId);
  return source.childRules?.(parseConfig(source, connector.config));
}

async function enterGate(gate: PushDeps["documentGate"], bytes: number): Promise<() => void> {
  try {
    return await gate.enter(bytes, AbortSignal.timeout(WAIT_MS));
  } catch (cause) {
    throw tooMany(cause);
  }
}

function tooMany(cause: unknown): ApiError {
  const message = "The server is reading too many documents. Send this one again in a moment.";
  return new ApiError("unavailable", { message, retryAfterMs: 5_000, cause });
}

async function readDocument(deps: PushDeps, target: PushTarget, body: DocumentBody): Promise<PushedDocument> {
  try {
    const { contentType } = body;
    return await deps.readDocument(readBody(body.stream), { contentType, place: placeOf(target.connector) });
  } catch (error) {
    // An incomplete document is sent again. A refused document still belongs to the set.
    const isWhole = !isApiError(error, "push_cut") && !isApiError(error, "request_timeout");
    if (error instanceof ApiError && isWhole) await noteRefusal(deps, target, error);
    throw error;
  }
}

async function* readBody(stream: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array, void> {
  try {
    if (stream) yield* stream;
  } catch (cause) {
    if (isApiError(cause, "request_timeout")) throw cause;
    throw new ApiError("push_cut", { message: "The body ended early and nothing was stored. Send it again.", cause });
  }
}

async function storeDocument(
  deps: PushDeps,
  target: PushTarget,
  document: PushedDocument,
  reading: { rules: ChildRules | undefined; room: ItemRoom },
): Promise<PushResult> {
  const { item, notes, bytes, fileName, mimeType } = document;
  const event = { t: "upsert" as const, item };
  const line: PushedLine = { ok: true, line: 1, externalId: item.externalId, event, notes };
  const plan = await beginPlan(deps, target, [line]);
  const before = plan.versions.get(item.externalId)?.version;
  const content = { bytes, fileName, ...defined({ mimeType }) };
  await planUpsert(deps, target, plan, { line: 1, item, notes }, { content, ...reading });
  const applied = await applyWhole(deps, target, plan, before);
  const [answer] = plan.answers;
  if (!applied || !answer) {
    throw new ApiError("connector_state_conflict", { message: "The connector is being deleted." });
  }
  return toResult(answer, applied);
}

/**
 * Maximum ops and characters in one transaction. Other writers wait at most that long for the writer.
 * Source: docs/decisions/0001.
 */
const OPS_AT_ONCE = 20;
const CHARS_AT_ONCE = 500_000;

/**
 * Stores the planned ops of a document, in several transactions if there are many. Each transaction is refused unless
 * the item is still as the previous transaction left it. If two pushes of an item overlap, one of them is therefore
 * stored completely.
 *
 * @param before  the version that was stored when the plan was made; undefined = the item didn't exist
 * @returns the outcomes of the first transaction's ops, of which the first is the document itself; undefined if the
 *   connector is being deleted
 */
async function applyWhole(
  deps: PushDeps,
  target: PushTarget,
  plan: Plan,
  before: string | null | undefined,
): Promise<Applied | undefined> {
  const { caller, uploadId } = target;
  const trace = traceOf(deps, target);
  const slices = cutOps(plan.ops);
  const [opening = [], ...rest] = slices;
  const [first] = opening;
  if (first?.type !== "upsert" || rest.length === 0) {
    const expects = first?.type === "upsert" ? { externalId: first.item.externalId, version: before } : undefined;
    return applyOps(deps, caller.workspaceId, caller.connectorId, plan.ops, {
      trace,
      ...(uploadId !== undefined && { upload: toUpload(uploadId, [], plan) }),
      ...defined({ expects }),
    });
  }
  const { externalId } = first.item;
  // A version that no sender uses. The next push of the item finds it, and the item is read again.
  const underWay = `storing:${Buffer.from(deps.randomBytes(12)).toString("base64url")}`;
  const apply = (ops: readonly ItemOp[], version: string | null | undefined, upload?: BatchUpload) =>
    applyOps(deps, caller.workspaceId, caller.connectorId, ops, {
      trace,
      expects: { externalId, version },
      ...defined({ upload }),
    });
  const empty = uploadId === undefined ? undefined : emptyUpload(uploadId);
  const started: ItemOp = { type: "upsert", item: { ...first.item, version: underWay } };
  const applied = await apply([started, ...opening.slice(1)], before, empty);
  for (const [at, ops] of rest.entries()) {
    if (!applied) return undefined;
    const isLast = at === rest.length - 1;
    const upload = isLast && uploadId !== undefined ? endOfUpload(uploadId, plan, applied.outcomes) : empty;
    if (!(await apply(ops, underWay, upload))) return undefined;
  }
  return applied;
}

function cutOps(ops: readonly ItemOp[]): ItemOp[][] {
  const slices: ItemOp[][] = [];
  let slice: ItemOp[] = [];
  let chars = 0;
  for (const op of ops) {
    slice.push(op);
    if (op.type === "upsert" && op.item.text.state === "text") chars += op.item.text.text.length;
    if (slice.length < OPS_AT_ONCE && chars < CHARS_AT_ONCE) continue;
    slices.push(slice);
    [slice, chars] = [[], 0];
  }
  return slice.length > 0 || slices.length === 0 ? [...slices, slice] : slices;
}

/** Makes an upload without results. Storing it fails if the upload has ended. */
function emptyUpload(uploadId: string): BatchUpload {
  return { uploadId, phase: "open", lines: null, results: [], failures: [], unnamed: 0 };
}

/** Returns the upload with the results of ops from an earlier transaction. */
function endOfUpload(uploadId: string, plan: Plan, outcomes: readonly OpOutcome[]): BatchUpload {
  const upload = toUpload(uploadId, [], plan);
  const results = upload.results.map((each) => {
    const outcome = "op" in each ? outcomes[each.op] : undefined;
    return outcome === undefined ? each : { result: pushResultOf(outcome) };
  });
  return { ...upload, results };
}

async function noteRefusal(deps: PushDeps, target: PushTarget, { code, message, details }: ApiError): Promise<void> {
  if (target.uploadId === undefined) return;
  const externalId = typeof details?.["externalId"] === "string" ? details["externalId"] : null;
  const answer = { line: 1, externalId, notes: [], fixed: "error" as const, error: { code, message } };
  const ops: Plan["ops"] = externalId === null ? [] : [{ type: "seen", externalIds: [externalId] }];
  try {
    await apply(deps, target, { answers: [answer], ops }, externalId === null ? 1 : 0);
  } catch (error) {
    // The upload has ended, so the sender gets the error of the line itself.
    if (!isApiError(error, "push_upload_over")) throw error;
  }
}

function apply(deps: PushDeps, { caller, uploadId }: PushTarget, plan: Pick<Plan, "answers" | "ops">, unnamed = 0) {
  const upload = uploadId === undefined ? undefined : { ...toUpload(uploadId, [], plan), unnamed };
  return applyOps(deps, caller.workspaceId, caller.connectorId, plan.ops, { ...defined({ upload }) });
}
