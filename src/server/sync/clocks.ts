import { inChunks } from "#core/in-chunks.ts";
import type { SourceSpec } from "#sources/contract.ts";
import type { ItemOp } from "#storage/batch/item-batch.ts";
import { type Believing, believedUntil } from "#storage/access/clocks.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncMode, SyncRecord } from "#storage/records/syncs.ts";
import type { SyncEnd } from "./sync-events.ts";

type Spec = Pick<SourceSpec<unknown>, "acl" | "freshness" | "placement">;

/** Whether permissions are those of the source, and so grow old. */
export function isMirror({ acl }: Pick<Spec, "acl">): boolean {
  return acl !== "connector";
}

/**
 * The run that can prove that permissions are current. Where a feed does not show that an item has moved, only a listing
 * of everything places it.
 */
function proofOf({ freshness = "full", placement = "feed" }: Spec): "full" | "access" | "incremental" {
  if (placement === "listing" && freshness === "feed") return "full";
  return freshness === "feed" ? "incremental" : freshness;
}

/**
 * Whether a run that ended so would have shown every change of a permission, for what it did not name too. Changes prove
 * nothing before everything was listed: for another account, or after a restart, they begin somewhere.
 */
export function isProof(
  { placement }: Spec,
  { mode, lastFullAt }: Pick<SyncRecord, "mode"> & Pick<ConnectorRecord, "lastFullAt">,
  end: SyncEnd | undefined,
): boolean {
  if (end?.permissions !== "current" || mode === "items" || mode === "identities") return false;
  return end.listing === "complete" || (mode !== "full" && placement !== "listing" && lastFullAt !== null);
}

type Proving = Pick<ConnectorRecord, "aclCheckedAt" | "proofTriedAt" | "everyMinutes">;

/** The mode of the run that has to prove a connector's permissions now; undefined while none has to. */
export function proofNow(
  spec: Spec | undefined,
  connector: Proving & Pick<ConnectorRecord, "lastFullAt">,
  age: Believing,
): SyncMode | undefined {
  if (!spec) return undefined;
  const dueAt = proofDueAt(spec, connector, age);
  if (dueAt === undefined || dueAt > age.now) return undefined;
  return connector.lastFullAt === null ? "full" : proofOf(spec);
}

/** When a connector is next due: by its schedule, or sooner to prove its permissions; null = when somebody asks. */
export function nextRunOf(
  spec: Spec | undefined,
  connector: Proving & Pick<ConnectorRecord, "lastFullAt">,
  age: Believing,
): number | null {
  const { now } = age;
  const bySchedule = connector.everyMinutes === null ? undefined : now + connector.everyMinutes * 60_000;
  // A proof that is due is being put in line.
  const tried = proofNow(spec, connector, age) ? { ...connector, proofTriedAt: now } : connector;
  const toProve = spec && proofDueAt(spec, tried, age);
  const due = [bySchedule, toProve].filter((at) => at !== undefined);
  return due.length === 0 ? null : Math.max(now, Math.min(...due));
}

/**
 * When a connector next has to prove its permissions: halfway through their age, and where that did not succeed a few more
 * times before its end. Undefined where they do not grow old.
 */
export function proofDueAt(spec: Spec, { aclCheckedAt, proofTriedAt }: Proving, age: Believing): number | undefined {
  if (!isMirror(spec)) return undefined;
  const until = believedUntil(aclCheckedAt, age);
  const dueAt = until === undefined ? age.now : until - age.maxAclAgeMs / 2;
  // One that was put in line in the future was so by a clock that was wrong.
  if (proofTriedAt === null || proofTriedAt > age.now) return dueAt;
  return Math.max(dueAt, proofTriedAt + age.maxAclAgeMs / 8);
}

/** The clocks of what one run reads. */
export type RunClocks = ReturnType<typeof makeRunClocks>;

/** Instants of clocks are this far apart: as many as they are, accesses are stored. */
const GRAIN_MS = 15 * 60_000;
const AT_ONCE = 500;

/**
 * Makes the clocks of a run. While the connector's own clock is young nothing is written for an item: it stands at the
 * connector's, which is older than the look. Once that has little left, what is read gets a clock of its own, so that a
 * listing that takes longer than permissions are believed does not end in the dark. No clock stands before `clocksFrom`:
 * there are those of another account.
 */
export function makeRunClocks(
  { aclCheckedAt, clocksFrom }: { aclCheckedAt: number | null; clocksFrom: number },
  maxAclAgeMs: number,
  now: () => number,
) {
  const reads = new Map<string, number>();

  function isOld(): boolean {
    const until = believedUntil(aclCheckedAt, { now: now(), maxAclAgeMs });
    return until === undefined || until - now() < maxAclAgeMs / 4;
  }

  function clockOf(externalId: string, readAt: number): number | null {
    const at = Math.max(readAt - (readAt % grainOf(maxAclAgeMs)), clocksFrom);
    if (isOld()) return at;
    reads.set(externalId, at);
    return null;
  }

  return {
    /** The op with the clock of what it names, read at this instant: its connector's where that covers it for long enough. */
    stamp(op: ItemOp, readAt: number): ItemOp {
      if (op.type === "upsert") return { ...op, clockAt: clockOf(op.item.externalId, readAt) };
      const isLook = op.type === "access" || (op.type === "relist" && op.listed !== undefined);
      return isLook ? { ...op, clockAt: clockOf(op.externalId, readAt) } : op;
    },
    /** Says the same of items that the run was told are as they were, permissions included. */
    restamp(externalIds: readonly string[], readAt: number): ItemOp[] {
      return toOps(new Map(externalIds.map((externalId) => [externalId, clockOf(externalId, readAt)])));
    },
    /**
     * What was read before and stays at the connector's clock, once that has grown old while the run went on: ops that give
     * each its own.
     */
    late(): ItemOp[] {
      if (reads.size === 0 || !isOld()) return [];
      const ops = toOps(reads);
      reads.clear();
      return ops;
    },
  };
}

/** Fine enough for the shortest age, which is an hour. */
function grainOf(maxAclAgeMs: number): number {
  return Math.min(GRAIN_MS, maxAclAgeMs / 12);
}

function toOps(clocks: ReadonlyMap<string, number | null>): ItemOp[] {
  const ops: ItemOp[] = [];
  const groups = new Map<number | null, string[]>();
  for (const [externalId, at] of clocks) {
    const group = groups.get(at);
    if (group) group.push(externalId);
    else groups.set(at, [externalId]);
  }
  for (const [at, externalIds] of groups) {
    for (const chunk of inChunks(externalIds, AT_ONCE)) {
      ops.push({ type: "clock", externalIds: chunk, at, cause: null });
    }
  }
  return ops;
}
