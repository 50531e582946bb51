import { ApiError } from "#api/errors.ts";
import type { PushResult } from "#api/connector-records.ts";
import type { PushQuery } from "#api/push.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import type { Clock } from "#core/clock.ts";
import type { PushedLine } from "#sources/push/events.ts";
import { toErrors } from "./push-answers.ts";
import { type ItemLine, planItems, type StoredSlice, storeItems } from "./push-items.ts";
import { type PushDeps, placeOf, type PushTarget, requirePushable, requireStillPushable } from "./push-deps.ts";
import { type PeopleLine, storePeople } from "./push-people.ts";
import { requireOpenUpload } from "./push-uploads.ts";

/**
 * Maximum bytes and milliseconds of one request. A sender can continue in the next request. The server waits 300 s for
 * a body.
 */
export const MAX_REQUEST_BYTES = 256 * 1024 * 1024;
export const MAX_REQUEST_MS = 240_000;

/**
 * Reads pushed lines and yields their results in order, in groups as the lines are stored. It reads only as fast as the
 * results are consumed. Idempotent by (externalId, version). A line with a result stays stored whatever happens later.
 * A line without a result is not stored.
 *
 * @throws ApiError `not_found`, `connector_state_conflict`, `invalid_request`, `push_upload_over`,
 *   `push_upload_incomplete` before the first line; later errors are the last line of the response
 */
export async function pushItems(
  deps: PushDeps,
  caller: ConnectorCaller,
  body: AsyncIterable<Uint8Array> | null,
  { upload: uploadId, firstLine }: PushQuery,
): Promise<AsyncGenerator<PushResult[], void>> {
  const connector = await requirePushable(deps, caller);
  await requireFirstLine(deps, caller, uploadId, firstLine);
  const target: PushTarget = { caller, connector, uploadId };
  const lines = body === null ? noLines() : deps.readLines(readBody(body, deps.clock), { place: placeOf(connector) });
  return pushLines(deps, target, numberedFrom(lines, firstLine ?? 1));
}

/** Line numbers must have no gap, so that "stored up to line n" is complete. */
async function requireFirstLine(
  deps: PushDeps,
  caller: ConnectorCaller,
  uploadId: string | undefined,
  firstLine: number | undefined,
): Promise<void> {
  if (uploadId === undefined) {
    if (firstLine === undefined || firstLine === 1) return;
    throw new ApiError("invalid_request", { message: `"firstLine" is only for uploads.`, field: "upload" });
  }
  const { lines } = await requireOpenUpload(deps, caller, uploadId);
  if (firstLine === undefined) {
    const message = `Give the number of the first line in the upload: firstLine=${lines + 1} to continue.`;
    throw new ApiError("invalid_request", { message, field: "firstLine" });
  }
  if (firstLine <= lines + 1) return;
  const message = `The upload has its lines up to ${lines}: line ${firstLine} would leave a gap. Send from line ${lines + 1}.`;
  throw new ApiError("push_upload_incomplete", { message, field: "firstLine", details: { lines } });
}

async function* pushLines(
  deps: PushDeps,
  target: PushTarget,
  lines: AsyncIterable<PushedLine>,
): AsyncGenerator<PushResult[], void> {
  const { caller, connector } = target;
  const { itemWrites } = deps.store.in(caller.workspaceId);
  const { highest } = await itemWrites.guardOf(connector.connectorId, deps.clock.now());
  const size = { lines: 50 };
  let last = 0;
  /** The lines being stored while the next ones are prepared. */
  let flying: Flight | undefined;
  /** Lines that would have no result if something failed. */
  let open: readonly PushedLine[] = [];

  async function* land(): AsyncGenerator<PushResult[], void> {
    if (!flying) return;
    const { lines: landing, stored } = flying;
    flying = undefined;
    const waiting = open;
    open = landing;
    const { results, tookMs } = await stored;
    open = waiting;
    if (tookMs !== undefined) size.lines = fit(size.lines, landing.length, tookMs);
    yield results;
  }

  try {
    for await (const slice of cutSlices(lines, size)) {
      open = slice.lines;
      last = slice.lines.at(-1)?.line ?? last;
      // A result depends on the stored item, so pending writes of that item are finished first.
      if (slice.type === "people" || (flying && overlaps(flying, slice.lines))) yield* land();
      await requireStillPushable(deps, caller);
      if (slice.type === "people") yield await storePeople(deps, target, slice.lines);
      else {
        const planned = await planItems(deps, target, slice.lines);
        yield* land();
        flying = takeOff(slice.lines, storeItems(deps, target, planned, highest));
      }
      open = [];
    }
    yield* land();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const failed = open;
    // The pending write has earlier lines. If it also fails, its own lines report the failure, and the later lines have
    // no result.
    if (flying) yield await flying.stored.then(({ results }) => results, rethrowAs(flying.lines));
    // The response has begun, so a failure of the input can only be reported as a line.
    yield failed.length > 0
      ? toErrors(failed, error)
      : toErrors([{ ok: false, line: last + 1, ...plain(error) }], error);
  }
}

interface Flight {
  lines: readonly ItemLine[];
  stored: Promise<StoredSlice>;
}

function takeOff(lines: readonly ItemLine[], stored: Promise<StoredSlice>): Flight {
  // The promise may reject before it is awaited. The code that awaits it later gets the error.
  stored.catch(() => undefined);
  return { lines, stored };
}

/** Returns the results of lines that failed with an error of the contract, and rethrows other errors. */
function rethrowAs(lines: readonly PushedLine[]): (error: unknown) => PushResult[] {
  return (error) => {
    if (error instanceof ApiError) return toErrors(lines, error);
    throw error;
  };
}

/** Whether two slices name, or may name, the same item. The items that a removal includes are unknown here. */
function overlaps({ lines }: Flight, next: readonly PushedLine[]): boolean {
  const named = new Set<string>();
  for (const line of lines) {
    if (line.ok && line.event.t === "delete") return true;
    if (line.externalId !== undefined) named.add(line.externalId);
  }
  return next.some(({ externalId }) => typeof externalId === "string" && named.has(externalId));
}

type Slice = { type: "items"; lines: ItemLine[] } | { type: "people"; lines: PeopleLine[] };

/**
 * Milliseconds for which a slice blocks the writer. Other writers wait no longer than that.
 * Source: docs/decisions/0001.
 */
const TARGET_MS = 20;
const SMALLEST = 20;
const LARGEST = 500;
/**
 * Maximum lines about people in a slice. Each line takes some statements of a transaction, which blocks all other
 * writes.
 */
const PEOPLE_AT_ONCE = 50;
/** Maximum characters of a slice. Its terms and text are passed to another thread. */
const CHARS_AT_ONCE = 500_000;

/**
 * Cuts lines into slices that are each stored at once. Lines about items and lines about people are in separate slices,
 * in their order.
 */
async function* cutSlices(lines: AsyncIterable<PushedLine>, size: { lines: number }): AsyncGenerator<Slice, void> {
  let items: ItemLine[] = [];
  let people: PeopleLine[] = [];
  let chars = 0;
  function* cut(): Generator<Slice, void> {
    if (items.length > 0) yield { type: "items", lines: items };
    if (people.length > 0) yield { type: "people", lines: people };
    [items, people, chars] = [[], [], 0];
  }
  try {
    for await (const line of lines) {
      if (isPeopleLine(line)) {
        if (items.length > 0) yield* cut();
        people.push(line);
      } else {
        if (people.length > 0) yield* cut();
        items.push(line);
        chars += charsOf(line);
      }
      if (items.length >= size.lines || people.length >= PEOPLE_AT_ONCE || chars >= CHARS_AT_ONCE) yield* cut();
    }
  } catch (error) {
    // Lines that arrived completely before the body was cut off are accepted.
    yield* cut();
    throw error;
  }
  yield* cut();
}

function isPeopleLine(line: PushedLine): line is PeopleLine {
  return line.ok && line.externalId === null;
}

function charsOf(line: ItemLine): number {
  if (!line.ok || line.event.t !== "upsert") return 0;
  const { content } = line.event.item;
  return content.type === "inline" ? content.text.length : 0;
}

/** Returns a size halfway between the current one and the size at which a slice would have taken `TARGET_MS`. */
function fit(size: number, count: number, tookMs: number): number {
  if (count < SMALLEST) return size;
  const ideal = (count * TARGET_MS) / Math.max(tookMs, 0.5);
  return Math.round(Math.min(LARGEST, Math.max(SMALLEST, (size + ideal) / 2)));
}

/** @throws ApiError `payload_too_large`, `push_cut` if the body takes too long or is cut off */
async function* readBody(body: AsyncIterable<Uint8Array>, clock: Clock): AsyncGenerator<Uint8Array, void> {
  const startedAt = clock.now();
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > MAX_REQUEST_BYTES) {
        const message = `A request can be at most ${MAX_REQUEST_BYTES / 1024 / 1024} MiB. Send the lines without a result in another request.`;
        throw new ApiError("payload_too_large", { message });
      }
      if (clock.now() - startedAt > MAX_REQUEST_MS) {
        const message = `A request can last at most ${MAX_REQUEST_MS / 1_000} s. Send the lines without a result in another request.`;
        throw new ApiError("push_cut", { message });
      }
      yield chunk;
    }
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    const message = "The body ended early. Lines with a result are stored; send the rest again.";
    throw new ApiError("push_cut", { message, cause });
  }
}

async function* numberedFrom(lines: AsyncIterable<PushedLine>, firstLine: number): AsyncGenerator<PushedLine, void> {
  for await (const line of lines) yield { ...line, line: line.line + firstLine - 1 };
}

async function* noLines(): AsyncGenerator<PushedLine, void> {}

function plain({ code, message }: ApiError): Pick<ApiError, "code" | "message"> {
  return { code, message };
}
