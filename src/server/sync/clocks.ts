import { inChunks } from "#core/in-chunks.ts";
import type { SourceSpec } from "#sources/contract.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import { type Believing, believedUntil } from "#storage/access/clocks.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncMode, SyncRecord } from "#storage/records/syncs.ts";
import type { SyncEnd } from "./sync-events.ts";

type Spec = Pick<SourceSpec<unknown>, "acl" | "freshness" | "placement">;

/** Whether permissions are mirrored from the source. Mirrored permissions go stale. */
export function isMirror({ acl }: Pick<Spec, "acl">): boolean {
  return acl !== "connector";
}

/**
 * The mode of the run that can prove that permissions are current. If a feed doesn't report moved items, only a full
 * listing finds each item's place.
 */
function proofOf({ freshness = "full", placement = "feed" }: Spec): "full" | "access" | "incremental" {
  if (placement === "listing" && freshness === "feed") return "full";
  return freshness === "feed" ? "incremental" : freshness;
}

/**
 * Whether a run that ended this way would have shown every change of a permission, including on items that it didn't
 * name. Runs that read only changes prove nothing until a run has listed everything: for another account, or after a
 * restart, the changes begin at an arbitrary point.
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

/** The mode of the run that must prove a connector's permissions now; undefined if no proof is due. */
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

/** When a connector's next run is due: by its schedule, or earlier to prove its permissions; null = only on request. */
export function nextRunOf(
  spec: Spec | undefined,
  connector: Proving & Pick<ConnectorRecord, "lastFullAt">,
  age: Believing,
): number | null {
  const { now } = age;
  const bySchedule = connector.everyMinutes === null ? undefined : now + connector.everyMinutes * 60_000;
  // The run that proves the permissions is being queued now.
  const tried = proofNow(spec, connector, age) ? { ...connector, proofTriedAt: now } : connector;
  const toProve = spec && proofDueAt(spec, tried, age);
  const due = [bySchedule, toProve].filter((at) => at !== undefined);
  return due.length === 0 ? null : Math.max(now, Math.min(...due));
}

/**
 * When a connector must next prove its permissions: after half of their maximum age and, if that proof failed, a few
 * more times before that age ends. Undefined if permissions don't go stale.
 */
export function proofDueAt(spec: Spec, { aclCheckedAt, proofTriedAt }: Proving, age: Believing): number | undefined {
  if (!isMirror(spec)) return undefined;
  const until = believedUntil(aclCheckedAt, age);
  const dueAt = until === undefined ? age.now : until - age.maxAclAgeMs / 2;
  // A time in the future was recorded while the clock was wrong.
  if (proofTriedAt === null || proofTriedAt > age.now) return dueAt;
  return Math.max(dueAt, proofTriedAt + age.maxAclAgeMs / 8);
}

/** The permission clocks of one run's items. */
export type RunClocks = ReturnType<typeof makeRunClocks>;

/** Item clocks are rounded to this interval, because each distinct clock needs a separate stored access. */
const GRAIN_MS = 15 * 60_000;
const AT_ONCE = 500;

/**
 * Makes the permission clocks of a run. While the connector's clock is recent, no clock is written for an item: the
 * item uses the connector's clock, which is older than the item's reading. Once the connector's clock is close to its
 * maximum age, each item that is read gets a separate clock. A listing that takes longer than the maximum age of
 * permissions then doesn't end with hidden items. No clock is before `clocksFrom`, since earlier clocks belong to
 * another account.
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
    /**
     * Adds to an op the clock for an item read at this instant. If the connector's clock is recent enough, the op gets
     * no clock.
     */
    stamp(op: ItemOp, readAt: number): ItemOp {
      if (op.type === "upsert") return { ...op, clockAt: clockOf(op.item.externalId, readAt) };
      const isLook = op.type === "access" || (op.type === "relist" && op.listed !== undefined);
      return isLook ? { ...op, clockAt: clockOf(op.externalId, readAt) } : op;
    },
    /**
     * Returns ops that set the clock, in the same way, for items that the source reported as unchanged, including their
     * permissions.
     */
    restamp(externalIds: readonly string[], readAt: number): ItemOp[] {
      return toOps(new Map(externalIds.map((externalId) => [externalId, clockOf(externalId, readAt)])));
    },
    /**
     * Returns ops that give a separate clock to each item that was read earlier in the run and still uses the
     * connector's clock, once the connector's clock has become old during the run.
     */
    late(): ItemOp[] {
      if (reads.size === 0 || !isOld()) return [];
      const ops = toOps(reads);
      reads.clear();
      return ops;
    },
  };
}

/** Fine enough for the shortest maximum age, which is an hour. */
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
