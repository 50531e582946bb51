import { actOn } from "#storage/audit-act.ts";
import { groupsAlways } from "#storage/access/item-clocks.ts";
import { createHash } from "node:crypto";
import { ApiError, isApiError } from "#api/errors.ts";
import type { PushResult } from "#api/connector-records.ts";
import { defined } from "#core/defined.ts";
import type { PushedLine, PushItemEvent } from "#sources/push/events.ts";
import type { ChildRules } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { Principal } from "#core/principals.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { BatchUpload, ItemOp } from "#storage/item-batch.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import { type Answer, principalRefused, refused, toErrors, toResult, failuresOf } from "./push-answers.ts";
import { makeAuthority, principalsOf, type PushAuthority } from "./push-authority.ts";
import type { ItemBytes, ItemRoom, PushDeps, PushTarget } from "./push-deps.ts";
import { type HeldBytes, piecesOf } from "#core/spool.ts";

/** A pushed line about an item, or a line that was refused. */
export type ItemLine = Extract<PushedLine, { ok: false }> | Extract<PushedLine, { event: PushItemEvent }>;

/** Lines that are ready to be stored. */
export interface PlannedSlice {
  lines: readonly ItemLine[];
  plan: Plan;
}

export interface StoredSlice {
  results: PushResult[];
  /** Milliseconds for which the writer was blocked; undefined if nothing was stored. */
  tookMs?: number;
}

/** Prepares lines about items for storing: decides access, extracts and analyzes. */
export async function planItems(deps: PushDeps, target: PushTarget, lines: readonly ItemLine[]): Promise<PlannedSlice> {
  const plan = await beginPlan(deps, target, lines);
  for (const [at, line] of lines.entries()) {
    // Short texts are analyzed in this thread. The pause lets other work run.
    if (at % LINES_IN_A_ROW === LINES_IN_A_ROW - 1) await new Promise((resolve) => setImmediate(resolve));
    if (line.ok) await planLine(deps, target, plan, line);
    else {
      plan.answers.push(refused(line, line));
      // The item exists at the source, whatever else the line says.
      if (line.externalId !== undefined) plan.ops.push({ type: "seen", externalIds: [line.externalId] });
    }
  }
  return { lines, plan };
}

/** Lines that are analyzed before a pause; they take some milliseconds. */
const LINES_IN_A_ROW = 16;

/** Maximum attempts to store a line whose item other pushes changed first. After that the sender gets an error. */
const TRIES = 3;

/**
 * Stores planned lines in one transaction, together with their upload. If another push changed an item first, its lines
 * are planned again, so that the access of one version never opens another version.
 *
 * @param highest  highest number of present items in the last 24 hours, for the guard over removals
 * @throws ApiError `push_upload_over`, `unavailable`; then nothing is stored
 */
export async function storeItems(
  deps: PushDeps,
  target: PushTarget,
  slice: PlannedSlice,
  highest: number,
): Promise<StoredSlice> {
  let planned = slice;
  for (let left = TRIES - 1; ; left--) {
    try {
      return await storeOnce(deps, target, planned, highest);
    } catch (error) {
      if (left === 0 || !isApiError(error, "unavailable")) throw error;
      planned = await planItems(deps, target, slice.lines);
    }
  }
}

async function storeOnce(
  deps: PushDeps,
  target: PushTarget,
  { lines, plan }: PlannedSlice,
  highest: number,
): Promise<StoredSlice> {
  const { answers, ops } = plan;
  if (ops.length === 0 && target.uploadId === undefined) return { results: answers.map((each) => toResult(each)) };
  const applied = await deps.store.in(target.caller.workspaceId).itemWrites.applyBatch({
    connectorId: target.connector.connectorId,
    always: groupsAlways(target.connector),
    highest,
    now: deps.clock.now(),
    ops,
    trace: traceOf(deps, target),
    ...(target.uploadId !== undefined && { upload: toUpload(target.uploadId, lines, plan) }),
  });
  if (!applied.isApplied) {
    const going = new ApiError("connector_state_conflict", { message: "The connector is being deleted." });
    return { results: toErrors(lines, going) };
  }
  return { results: answers.map((each) => toResult(each, applied)), tookMs: applied.tookMs };
}

/** The audit row for a push that changed who may read stored items. It includes the changes if they are known. */
export function traceOf(
  { audit }: Pick<PushDeps, "audit">,
  { caller, connector, uploadId }: PushTarget,
): NewAuditRecord {
  const details = { keyId: caller.keyId, ...defined({ uploadId }) };
  return audit.makeSystemRow(actOn(connector.connectorId, "connector.access_pushed", details));
}

/** The ops for some lines, and the line to which each op belongs. */
export interface Plan {
  answers: Answer[];
  ops: ItemOp[];
  authority: PushAuthority;
  /** The items that were already stored, by externalId. */
  stored: ReadonlySet<string>;
  /**
   * The stored version of an item, or the version from an earlier line of this slice; undefined = the item has to be
   * read again.
   */
  versions: Map<
    string,
    (Pick<StoredItem, "version" | "indexState" | "parentExternalId"> & { isOlder?: boolean }) | undefined
  >;
}

export async function beginPlan(deps: PushDeps, target: PushTarget, lines: readonly PushedLine[]): Promise<Plan> {
  const { store } = deps;
  const authority = await makeAuthority(deps, target.caller, principalsOf(lines));
  const externalIds = new Set(lines.flatMap(({ externalId }) => (typeof externalId === "string" ? [externalId] : [])));
  const { itemWrites } = store.in(target.caller.workspaceId);
  const { connectorId } = target.connector;
  const stored = await itemWrites.listStoredOf(connectorId, [...externalIds]);
  const older = await deps.syncs.olderAmong({ itemWrites }, connectorId, [...externalIds]);
  return {
    answers: [],
    ops: [],
    authority,
    stored: new Set(stored.map(({ externalId }) => externalId)),
    versions: new Map(stored.map((item) => [item.externalId, { ...item, isOlder: older.has(item.externalId) }])),
  };
}

/** Adds an item to a plan. `read` prepares the item for storing, and isn't called if its version is already stored. */
export async function planUpsert(
  deps: PushDeps,
  { caller, connector }: PushTarget,
  plan: Plan,
  planned: { line: number; item: SourceItem; notes: readonly string[] },
  file?: { content: ItemBytes; rules: ChildRules | undefined; room: ItemRoom },
): Promise<void> {
  const named = planned.item.access;
  const { access, offending } = named ? plan.authority.judge(named) : { access: null, offending: [] };
  const people = plan.authority.judgePeople(planned.item);
  const item = { ...people.item, version: planned.item.version ?? (await hashOf(people.item, file?.content.bytes)) };
  const { externalId, version, partOf: parentExternalId = null } = item;
  const answer: Answer = { line: planned.line, externalId, notes: [...planned.notes, ...people.notes] };
  if (offending.length > 0) {
    answer.fixed = "acl_unknown";
    answer.error = principalRefused(offending, "No one can read it: its access");
  }
  const known = plan.versions.get(externalId);
  plan.answers.push({ ...answer, op: plan.ops.length });
  // A parent decides who may read an item, so an item with another parent is never the same version.
  const isSame = known?.version === version && known.parentExternalId === parentExternalId;
  // If an older version of the reader has read the item, the item is read again even in the same version.
  if (isSame && known.indexState !== "failed" && known.isOlder !== true) {
    // The version is the same, so only the access can have changed. The item is still recorded as seen, so an upload of
    // a whole set will not remove it.
    const of = { version, parentExternalId };
    plan.ops.push({ type: "access", externalId, access, of, isSeen: true });
    return;
  }
  const isNew = known === undefined && !plan.stored.has(externalId);
  const quota = isNew ? await deps.quotas.takeItem(caller.workspaceId) : undefined;
  if (quota !== undefined) {
    plan.answers.pop();
    plan.answers.push({ ...answer, fixed: "error", error: quota });
    return;
  }
  const { content, rules, room } = file ?? {};
  const prepared = await deps.prepareItem(caller.workspaceId, connector, {
    item,
    judge: (planned) => access ?? planned,
    ...defined({ content, rules, room }),
  });
  const [first] = prepared?.ops ?? [];
  if (!prepared || first?.type !== "upsert") throw new Error("A pushed item can't be gone before it is read.");
  const last = plan.answers.at(-1);
  if (content && last) last.notes = [...last.notes, ...notesOf(prepared.ops)];
  if (isNew) noteTexts(deps, caller.workspaceId, prepared.ops);
  plan.ops.push(...prepared.ops);
  plan.versions.set(
    externalId,
    isWhole(prepared.ops, version) ? { version, indexState: "indexed", parentExternalId } : undefined,
  );
}

function noteTexts({ quotas }: PushDeps, workspaceId: string, ops: readonly ItemOp[]): void {
  for (const op of ops) {
    if (op.type === "upsert" && op.item.text.state === "text") quotas.noteText(workspaceId, op.item.text.text.length);
  }
}

/** Whether these ops store the item completely, so that this version isn't read again. */
function isWhole(ops: readonly ItemOp[], version: string): boolean {
  const [first] = ops;
  if (first?.type !== "upsert" || first.item.text.state === "failed") return false;
  const { externalId } = first.item;
  const last = ops.find((op) => op.type === "children" && op.externalId === externalId) ?? first.item;
  return "version" in last && last.version === version;
}

const NOTES_KEPT = 10;

/** Reports the parts of a document that a search can't find by their words, and the reasons. */
function notesOf(ops: readonly ItemOp[]): string[] {
  const notes: string[] = [];
  for (const [at, op] of ops.entries()) {
    if (op.type === "upsert" && at === 0 && op.item.text.state !== "text") {
      notes.push(`it has no text: ${op.item.text.message}`);
    }
    if (op.type === "skip" && notes.length < NOTES_KEPT) notes.push(`${op.externalId}: ${op.message}`);
  }
  return notes;
}

/** Returns the part of a batch that its upload stores. */
export function toUpload(
  uploadId: string,
  lines: readonly { line: number; externalId?: string | null; isAboutPeople?: boolean }[],
  { answers }: Pick<Plan, "answers">,
): BatchUpload {
  const unnamed = lines.filter((line) => "ok" in line && line.ok === false && !line.isAboutPeople && !line.externalId);
  return {
    uploadId,
    phase: "open",
    lines: lines.at(-1)?.line ?? null,
    results: answers.map(({ fixed, op }) =>
      fixed === undefined && op !== undefined ? { op } : { result: fixed ?? "error" },
    ),
    failures: failuresOf(answers),
    unnamed: unnamed.length,
  };
}

async function planLine(
  deps: PushDeps,
  target: PushTarget,
  plan: Plan,
  { line, externalId, event, notes }: Extract<ItemLine, { ok: true }>,
): Promise<void> {
  const answer: Answer = { line, externalId, notes };
  switch (event.t) {
    case "upsert":
      return planUpsert(deps, target, plan, { line, item: event.item, notes });
    case "access": {
      const { access, offending } = plan.authority.judge(event.access);
      if (offending.length > 0) Object.assign(answer, aclUnknown(offending));
      plan.answers.push({ ...answer, op: plan.ops.length });
      plan.ops.push({ type: "access", externalId, access, isSeen: true });
      return;
    }
    case "seen": {
      const known = plan.versions.get(externalId);
      const isThere = known && (event.version === undefined || event.version === known.version);
      if (!isThere || known.indexState === "failed") plan.answers.push({ ...answer, fixed: "absent" });
      else plan.answers.push({ ...answer, op: plan.ops.length });
      // The item exists in another version, which will be sent soon. Items removed since then stay removed.
      if (known || plan.stored.has(externalId)) plan.ops.push({ type: "seen", externalIds: [externalId] });
      return;
    }
    case "delete":
      plan.answers.push({ ...answer, op: plan.ops.length });
      plan.ops.push({ type: "delete", externalId, subtree: event.subtree === true });
      // The item's child items and the items below it are unknown here, so later items are read again.
      plan.versions.clear();
  }
}

function aclUnknown(offending: readonly Principal[]): Pick<Answer, "fixed" | "error"> {
  return { fixed: "acl_unknown", error: principalRefused(offending, "No one can read it: its access") };
}

/** A substitute version for an item whose line has none. Equal lines get equal versions, whatever their access. */
async function hashOf({ access: _access, ...item }: SourceItem, bytes: HeldBytes | undefined): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(item));
  if (bytes) for await (const piece of piecesOf(bytes)) hash.update(piece);
  return `sha256:${hash.digest("base64url").slice(0, 22)}`;
}
