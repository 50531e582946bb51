import { ApiError, type ErrorCode } from "#api/errors.ts";
import type { PushResult } from "#api/connectors.ts";
import { judgeAccess, membersNamed } from "#server/access/principals.ts";
import type { ConnectorCaller } from "#server/ports/actor.ts";
import type { Principal, SourceAccess, SourceItem, SyncEvent } from "#server/ports/source.ts";
import type { ConnectorRecord } from "#server/ports/store/connectors.ts";
import type { ItemOp, OpOutcome, PreparedItem } from "#server/ports/store/item-writes.ts";
import type { ConnectorParts } from "./parts.ts";
import { applyOps } from "./stored.ts";

/** A line of a push, read. */
export type PushedLine =
  | { ok: true; line: number; externalId: string; event: Extract<SyncEvent, { t: "upsert" | "acl" | "delete" }> }
  | { ok: false; line: number; externalId?: string; code: ErrorCode; message: string };

/** What pushing needs beside the rest: the reader of lines and the maker of items, from source and sync engine. */
export interface PushParts {
  readLines(stream: AsyncIterable<Uint8Array>, options: { place: string }): AsyncIterable<PushedLine>;
  /** Extracts and analyzes; `judge` decides over its access. Undefined can't happen: nothing is fetched. */
  prepareItem(
    workspaceId: string,
    connector: Pick<ConnectorRecord, "connectorId" | "name" | "providerId">,
    item: SourceItem,
    judge: (access: SourceAccess) => SourceAccess,
  ): Promise<PreparedItem | undefined>;
}

/** Bytes of a whole push; more can follow in the next one. Source: design page "api", Limits. */
export const MAX_PUSH_BYTES = 50 * 1024 * 1024;
const LINES_AT_ONCE = 50;
const CHARS_AT_ONCE = 500_000;

/**
 * Takes pushed lines and gives a result for each, in order, as they are stored. Idempotent by (externalId, version).
 * What was stored before a failure stays; sending all of it again changes nothing.
 *
 * @throws ApiError `not_found`, `connector_state_conflict` before the first line
 */
export async function pushItems(
  parts: ConnectorParts & PushParts,
  caller: ConnectorCaller,
  body: AsyncIterable<Uint8Array> | null,
): Promise<AsyncGenerator<PushResult, void>> {
  const connector = await requirePushable(parts, caller);
  const guard = await parts.store.in(caller.workspaceId).itemWrites.guardOf(connector.connectorId, parts.clock.now());
  const place = connector.config["source"];
  return pushLines(parts, caller, connector, body, {
    place: typeof place === "string" ? place : connector.name,
    highest: guard.highest,
  });
}

/** Removes one pushed item. @throws ApiError `not_found`, `connector_state_conflict` */
export async function removePushed(
  parts: ConnectorParts,
  caller: ConnectorCaller,
  externalId: string,
): Promise<{ result: "removed" | "held" | "absent" }> {
  const { connectorId } = await requirePushable(parts, caller);
  const [outcome] =
    (await applyOps(parts, caller.workspaceId, connectorId, [{ op: "delete", externalId, subtree: false }])) ?? [];
  return { result: outcome === "removed" || outcome === "held" ? outcome : "absent" };
}

async function requirePushable({ store }: ConnectorParts, caller: ConnectorCaller): Promise<ConnectorRecord> {
  const connector = await store.in(caller.workspaceId).connectors.find(caller.connectorId);
  if (!connector) throw new ApiError("not_found", { message: "There is no such connector." });
  if (connector.state === "active") return connector;
  throw new ApiError("connector_state_conflict", {
    message: `The connector is "${connector.state}" and takes nothing now.`,
    ...(connector.state === "paused" && { hint: `kb connectors resume ${connector.connectorId}` }),
  });
}

interface PushRun {
  place: string;
  highest: number;
}

async function* pushLines(
  parts: ConnectorParts & PushParts,
  caller: ConnectorCaller,
  connector: ConnectorRecord,
  body: AsyncIterable<Uint8Array> | null,
  run: PushRun,
): AsyncGenerator<PushResult, void> {
  if (body === null) return;
  let batch: PushedLine[] = [];
  let chars = 0;
  let line = 0;
  try {
    for await (const pushed of parts.readLines(capped(body), { place: run.place })) {
      line = pushed.line;
      batch.push(pushed);
      chars += charsOf(pushed);
      if (batch.length < LINES_AT_ONCE && chars < CHARS_AT_ONCE) continue;
      yield* await store(parts, caller, connector, batch, run);
      batch = [];
      chars = 0;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    yield* await store(parts, caller, connector, batch, run);
    // The answer has begun: the end of the body can only be told as a line.
    yield { line: line + 1, externalId: null, result: "error", error: { code: error.code, message: error.message } };
    return;
  }
  yield* await store(parts, caller, connector, batch, run);
}

/** @throws ApiError `payload_too_large` */
async function* capped(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_PUSH_BYTES) {
      const message = `A push holds at most ${MAX_PUSH_BYTES / 1024 / 1024} MiB; send the rest in another one.`;
      throw new ApiError("payload_too_large", { message });
    }
    yield chunk;
  }
}

/** An op to be stored and the line it is the answer to. */
interface Ready {
  op: ItemOp;
  offending: readonly Principal[];
}

async function store(
  parts: ConnectorParts & PushParts,
  caller: ConnectorCaller,
  connector: ConnectorRecord,
  lines: readonly PushedLine[],
  { highest }: PushRun,
): Promise<PushResult[]> {
  const judge = await makeJudge(parts, caller, lines);
  const ready = new Map<number, Ready>();
  for (const pushed of lines) {
    if (pushed.ok) ready.set(pushed.line, await toOp(parts, caller, connector, pushed, judge));
  }
  const ops = [...ready.values()].map((each) => each.op);
  const outcomes =
    ops.length === 0 ? [] : await applyOps(parts, caller.workspaceId, connector.connectorId, ops, highest);
  const byLine = new Map([...ready.keys()].map((line, at) => [line, outcomes?.[at]]));
  return lines.map((pushed) => toResult(pushed, byLine.get(pushed.line), ready.get(pushed.line)?.offending ?? []));
}

type Judge = (access: SourceAccess) => { access: SourceAccess; offending: readonly Principal[] };

/** A push may name members and groups that there are in its workspace. Source: S2. */
async function makeJudge(parts: ConnectorParts, caller: ConnectorCaller, lines: readonly PushedLine[]): Promise<Judge> {
  const named = new Set<Principal>();
  for (const pushed of lines) {
    const access = pushed.ok ? accessOf(pushed.event) : undefined;
    if (access) for (const principal of membersNamed(access)) named.add(principal);
  }
  const idsOf = (prefix: string) => [...named].filter((p) => p.startsWith(prefix)).map((p) => p.slice(prefix.length));
  const workspace = parts.store.in(caller.workspaceId);
  const users = await workspace.members.whichOf(idsOf("user:"));
  const groups = await workspace.groups.whichOf(idsOf("group:"));
  const there = new Set([...[...users].map((id) => `user:${id}`), ...[...groups].map((id) => `group:${id}`)]);
  const { connectorId } = caller;
  return (access) => judgeAccess(access, { connectorId, memberExists: (principal) => there.has(principal) });
}

async function toOp(
  parts: ConnectorParts & PushParts,
  caller: ConnectorCaller,
  connector: ConnectorRecord,
  { event, externalId }: Extract<PushedLine, { ok: true }>,
  judge: Judge,
): Promise<Ready> {
  if (event.t === "delete") {
    return { op: { op: "delete", externalId, subtree: event.subtree === true }, offending: [] };
  }
  const judged = judge(event.t === "acl" ? event.access : event.item.access);
  const access: Ready = { op: { op: "access", externalId, access: judged.access }, offending: judged.offending };
  if (event.t === "acl") return access;
  const { itemWrites } = parts.store.in(caller.workspaceId);
  const stored =
    event.item.version === undefined ? undefined : await itemWrites.findStored(connector.connectorId, externalId);
  // The same version again: only who may read it can be news.
  if (stored && stored.version === event.item.version && stored.indexState !== "failed") return access;
  const item = await parts.prepareItem(caller.workspaceId, connector, event.item, () => judged.access);
  if (!item) throw new Error("A pushed item can't be gone before it is read.");
  return { op: { op: "upsert", item }, offending: judged.offending };
}

function accessOf(event: Extract<PushedLine, { ok: true }>["event"]): SourceAccess | undefined {
  if (event.t === "delete") return undefined;
  return event.t === "acl" ? event.access : event.item.access;
}

function charsOf(pushed: PushedLine): number {
  if (!pushed.ok || pushed.event.t !== "upsert") return 0;
  const { content } = pushed.event.item;
  return content.type === "inline" ? content.text.length : 0;
}

function toResult(pushed: PushedLine, outcome: OpOutcome | undefined, offending: readonly Principal[]): PushResult {
  const { line } = pushed;
  if (!pushed.ok) {
    const error = { code: pushed.code, message: pushed.message };
    return { line, externalId: pushed.externalId ?? null, result: "error", error };
  }
  const { externalId } = pushed;
  if (outcome === undefined) {
    const error = { code: "connector_state_conflict", message: "The connector is being deleted." };
    return { line, externalId, result: "error", error };
  }
  if (offending.length > 0) {
    const message = `Nobody may read it: its access names ${offending.length === 1 ? "a principal" : "principals"} that this connector may not name.`;
    return { line, externalId, result: "acl_unknown", error: { code: "principal_not_allowed", message } };
  }
  return { line, externalId, result: outcome === "skipped" || outcome === "done" ? "unchanged" : outcome };
}
