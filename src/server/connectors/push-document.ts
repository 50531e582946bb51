import { ApiError, isApiError } from "#api/errors.ts";
import type { PushResult } from "#api/connector-records.ts";
import type { ConnectorCaller } from "#server/ports/actor.ts";
import { MAX_PUSHED_BYTES, type PushedDocument, type PushedLine } from "#server/ports/push.ts";
import { applyOps } from "./stored.ts";
import { toResult } from "./push-answers.ts";
import { beginPlan, type Plan, planUpsert, toUpload } from "./push-items.ts";
import { type Parts, placeOf, type PushTarget, requirePushable } from "./push-parts.ts";
import { requireOpenUpload } from "./push-uploads.ts";

export interface DocumentBody {
  stream: AsyncIterable<Uint8Array> | null;
  contentType: string | undefined;
  /** As the request declares it; undefined when it does not. */
  bytes: number | undefined;
}

/** What is sent beside the file: the line, boundaries, headers. */
const AROUND_THE_FILE = 2 * 1024 * 1024;
/** Longer than this a document does not wait for its turn. */
const WAIT_MS = 60_000;

/**
 * Stores one document: its line, and the text of its bytes. The bytes themselves are not kept. Idempotent by
 * (externalId, version); without a version the bytes are it.
 *
 * @throws ApiError `not_found`, `connector_state_conflict`, `push_upload_over`, `payload_too_large`,
 *   `unsupported_media_type`, `unavailable` when too many come at once; of the line: its own code. Then nothing is stored
 */
export async function pushDocument(
  parts: Parts,
  caller: ConnectorCaller,
  body: DocumentBody,
  uploadId: string | undefined,
): Promise<PushResult> {
  const connector = await requirePushable(parts, caller);
  if (uploadId !== undefined) await requireOpenUpload(parts, caller, uploadId);
  const target: PushTarget = { caller, connector, uploadId };
  if (body.bytes !== undefined && body.bytes > MAX_PUSHED_BYTES + AROUND_THE_FILE) {
    const message = `A document has at most ${MAX_PUSHED_BYTES / 1024 / 1024} MiB.`;
    const tooLarge = new ApiError("payload_too_large", { message, field: "file" });
    // Not read, so it is not known which item it is.
    await noteRefusal(parts, target, tooLarge);
    throw tooLarge;
  }
  const leave = await enterGate(parts, body.bytes ?? MAX_PUSHED_BYTES);
  try {
    return await storeDocument(parts, target, await readDocument(parts, target, body));
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "TimeoutError") throw error;
    throw tooMany(error);
  } finally {
    leave();
  }
}

async function enterGate(parts: Parts, bytes: number): Promise<() => void> {
  try {
    return await parts.documentGate.enter(bytes, AbortSignal.timeout(WAIT_MS));
  } catch (cause) {
    throw tooMany(cause);
  }
}

function tooMany(cause: unknown): ApiError {
  const message = "Too many documents are being read at once. Send it again in a moment.";
  return new ApiError("unavailable", { message, retryAfterMs: 5_000, cause });
}

async function readDocument(parts: Parts, target: PushTarget, body: DocumentBody): Promise<PushedDocument> {
  try {
    const { contentType } = body;
    return await parts.readDocument(readBody(body.stream), { contentType, place: placeOf(target.connector) });
  } catch (error) {
    // One that did not come whole is sent again; one that was refused is an item of the set all the same.
    if (error instanceof ApiError && error.code !== "push_cut") await noteRefusal(parts, target, error);
    throw error;
  }
}

async function* readBody(stream: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array, void> {
  try {
    if (stream) yield* stream;
  } catch (cause) {
    throw new ApiError("push_cut", { message: "The body broke off; nothing of it is stored. Send it again.", cause });
  }
}

async function storeDocument(parts: Parts, target: PushTarget, document: PushedDocument): Promise<PushResult> {
  const { item, notes, bytes, fileName, mimeType } = document;
  const event = { t: "upsert" as const, item };
  const line: PushedLine = { ok: true, line: 1, externalId: item.externalId, event, notes };
  const plan = await beginPlan(parts, target, [line]);
  const content = { bytes, fileName, ...(mimeType !== undefined && { mimeType }) };
  await planUpsert(parts, target, plan, { line: 1, item, notes }, content);
  const outcomes = await apply(parts, target, plan);
  const [answer] = plan.answers;
  if (!outcomes || !answer) {
    throw new ApiError("connector_state_conflict", { message: "The connector is being deleted." });
  }
  return toResult(answer, outcomes);
}

async function noteRefusal(parts: Parts, target: PushTarget, { code, message, details }: ApiError): Promise<void> {
  if (target.uploadId === undefined) return;
  const externalId = typeof details?.["externalId"] === "string" ? details["externalId"] : null;
  const answer = { line: 1, externalId, notes: [], fixed: "error" as const, error: { code, message } };
  const ops: Plan["ops"] = externalId === null ? [] : [{ op: "seen", externalIds: [externalId] }];
  try {
    await apply(parts, target, { answers: [answer], ops }, externalId === null ? 1 : 0);
  } catch (error) {
    // The upload ended meanwhile: then the refusal itself is what the sender needs to know.
    if (!isApiError(error, "push_upload_over")) throw error;
  }
}

function apply(parts: Parts, { caller, uploadId }: PushTarget, plan: Pick<Plan, "answers" | "ops">, unnamed = 0) {
  const upload = uploadId === undefined ? undefined : { ...toUpload(uploadId, [], plan), unnamed };
  return applyOps(parts, caller.workspaceId, caller.connectorId, plan.ops, { ...(upload && { upload }) });
}
