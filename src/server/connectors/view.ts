import type { Connector, ConnectorPublic, Sync } from "#api/connector-records.ts";
import type { SourceProblem } from "#api/common.ts";
import { defined } from "#core/defined.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import type { Policy } from "#storage/policy/policy.ts";
import type { Actor } from "#storage/access/actor.ts";
import { type Believing, believedUntil, isAhead } from "#storage/access/clocks.ts";
import type { ConnectorHealth } from "#storage/records/connector-health.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord, SyncSkip } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { ConnectorDeps } from "./deps.ts";
import { readByNobodyOf } from "./read-by-nobody.ts";
import { allowedActs } from "./acts.ts";
import { scopeFor } from "./scope-titles.ts";
import { isOwnedBy } from "./judge.ts";
import { namesFor, ownWordsOf } from "./left-out.ts";
import { takesKey } from "./sources.ts";

/** Returns the whole record, for the owner and admins. Only the owner sees the source's own words (S43). */
export async function toConnector(
  deps: Pick<ConnectorDeps, "store" | "sources" | "syncs" | "clock" | "judgeAct" | "policy" | "watchFault">,
  actor: Actor,
  record: ConnectorRecord,
): Promise<Connector> {
  const { store, sources, syncs, clock, judgeAct } = deps;
  const { connectorId, ownerUserId } = record;
  const workspace = store.in(actor.workspaceId);
  const now = clock.now();
  const source = await sources.find(record.providerId);
  const activity = await syncs.activityOf(store, actor.workspaceId, record);
  const [lastSync] = await workspace.syncs.listLast([connectorId]);
  const keys = await workspace.connectors.listKeys(connectorId, now);
  const owner = await workspace.members.find(ownerUserId);
  const isOwner = isOwnedBy(actor, record);
  const age = { now, maxAclAgeMs: await workspace.access.maxAclAgeMs() };
  const aclStale = staleOf(record, age);
  const states = await workspace.itemWrites.countStates(connectorId);
  const isPushed = source !== undefined && takesKey(source.spec);
  // Until the first sync has ended, it is unknown who can read the connector. Stale permissions are reported
  // separately.
  const isMirrored = source !== undefined && source.spec.acl !== "connector" && !isPushed;
  const isJudged = isMirrored && states.indexed > 0 && lastSync !== undefined && aclStale === null;
  const readByNobody = isJudged ? await readByNobodyOf(deps, actor, record) : undefined;
  return {
    id: connectorId,
    providerId: record.providerId,
    name: record.name,
    owner: { id: ownerUserId, name: owner?.name ?? "" },
    access: { visibility: record.visibility, memberIds: record.memberIds, groupIds: record.groupIds },
    config: record.config,
    scope: scopeFor(record.scope, isOwner),
    accountId: record.accountId,
    connectionId: record.connectionId,
    schedule: record.everyMinutes === null ? null : { everyMinutes: record.everyMinutes },
    state: record.state,
    stateReason: isOwner || !isOfSource(record) ? record.stateReason : FOR_OTHERS,
    activity: isOwner ? activity : withoutWords(activity),
    isPushed,
    nextRunAt: isoOrNull(record.nextRunAt),
    lastSync: lastSync
      ? { id: lastSync.syncId, state: lastSync.state, finishedAt: isoOrNull(lastSync.finishedAt) }
      : null,
    counts: {
      ...states,
      maskedSecrets: await workspace.itemWrites.countMasked(connectorId),
      ...(await workspace.itemWrites.countHiddenChildren(connectorId)),
      aclStale: await workspace.itemWrites.countStale(connectorId, now - age.maxAclAgeMs),
      toReadAgain: await syncs.countOlder(workspace, connectorId),
    },
    aclCheckedAt: isoOrNull(record.aclCheckedAt),
    aclStale,
    ...defined({ readByNobody, notWatched: notWatchedOf(deps.watchFault(connectorId), isOwner) }),
    createdAt: isoOf(record.createdAt),
    allowed: await allowedActs({ sources, judgeAct }, workspace, actor, record),
    hasKey: keys.length > 0,
    keyPrefix: keys[0]?.prefix ?? null,
  };
}

function notWatchedOf(
  fault: ReturnType<ConnectorDeps["watchFault"]>,
  isOwner: boolean,
): Connector["notWatched"] | undefined {
  if (fault === undefined) return undefined;
  const { since, nextTryAt, problem } = fault;
  const words = isOwner ? problem : { code: problem.code, message: FOR_OTHERS };
  return { since: isoOf(since), nextTryAt: isoOf(nextTryAt), problem: words };
}

/** Returns a connector as it is shown to members who may read some of its items. */
export function toPublic({ connectorId, name, providerId, state }: ConnectorRecord): ConnectorPublic {
  return { id: connectorId, name, providerId, state };
}

/** The items that a run left out, to the extent that they are requested. */
export interface LeftOut {
  skips: readonly SyncSkip[];
  /** Whether the actor may see the names of ids that aren't items; see `seesLeftOut`. */
  isTold: boolean;
}

/**
 * Returns a run, for a person who manages its connector. The name of an item is included only if the actor may read
 * that item (S12).
 */
export async function toSync(
  workspace: WorkspaceStore,
  policy: Pick<Policy, "mayRead">,
  actor: Actor,
  connector: Pick<ConnectorRecord, "ownerUserId" | "state" | "config">,
  record: SyncRecord,
  { skips, isTold }: LeftOut = { skips: [], isTold: false },
): Promise<Sync> {
  const { people, problem, progress, connectorId } = record;
  const noted = progress.note === null ? [] : [progress.note];
  const readable = await namesFor(workspace, policy, actor, { connectorId, externalIds: noted, isTold: false });
  const externalIds = skips.map((skip) => skip.externalId);
  const ownWords = ownWordsOf(actor, connector);
  const named = await namesFor(workspace, policy, actor, { connectorId, externalIds, isTold, ownWords });
  const isOwner = isOwnedBy(actor, connector);
  return {
    id: record.syncId,
    connectorId: record.connectorId,
    mode: record.mode,
    trigger: record.trigger,
    state: record.state,
    attempt: record.attempt,
    counts: record.counts,
    progress: { ...progress, note: progress.note !== null && readable.has(progress.note) ? progress.note : null },
    resumeAt: isoOrNull(record.resumeAt),
    startedAt: isoOrNull(record.startedAt),
    finishedAt: isoOrNull(record.finishedAt),
    problem: isOwner ? problem : problemForOthers(problem),
    people: people && (isOwner ? people : { ...people, problem: problemForOthers(people.problem) }),
    skips: skips.map((skip) => toSkip(skip, named, isTold ? undefined : ownWords)),
  };
}

/** The author of a config entry may see it. That isn't always true of the source's own words for it in a message. */
function toSkip(skip: SyncSkip, named: ReadonlySet<string>, ownWords?: ReadonlySet<string>): Sync["skips"][number] {
  const { externalId, message } = skip;
  if (!named.has(externalId)) return { ...skip, externalId: null, message: null };
  const isOwn = ownWords?.has(externalId) === true;
  return isOwn && !message?.includes(externalId) ? { ...skip, message: null } : skip;
}

/**
 * The time since which a connector's permissions are no longer trusted, and the reason. Null if they are trusted, or
 * never go stale.
 */
export function staleOf(
  record: Pick<ConnectorHealth, "aclCheckedAt" | "refusedAt" | "nextRunAt" | "state">,
  age: Believing,
): Connector["aclStale"] {
  const { aclCheckedAt, refusedAt, nextRunAt, state } = record;
  // Only sources that mirror permissions set this time.
  if (aclCheckedAt === null) return null;
  // A connector in a state that needs a person isn't retried automatically.
  const nextTryAt = state === "active" || state === "error" ? isoOrNull(nextRunAt) : null;
  if (refusedAt !== null) return { since: isoOf(refusedAt), cause: "refused", nextTryAt };
  if (believedUntil(aclCheckedAt, age) !== undefined) return null;
  const cause = isAhead(aclCheckedAt, age.now) ? "clock_went_back" : "not_checked";
  return { since: isoOf(Math.min(age.now, aclCheckedAt + age.maxAclAgeMs)), cause, nextTryAt };
}

function withoutWords(activity: Connector["activity"]): Connector["activity"] {
  return "reason" in activity ? { ...activity, reason: problemForOthers(activity.reason) } : activity;
}

function problemForOthers(problem: SourceProblem | null): SourceProblem | null {
  return problem && problem.code !== NAMES_NOBODY ? { code: problem.code, message: FOR_OTHERS } : problem;
}

/** Whether the reason of the connector's state may contain words of the source. */
function isOfSource({ state, stateReason }: ConnectorRecord): boolean {
  return stateReason !== null && state !== "needs_owner";
}

/** The code of a note that this service itself adds to a run; see `sync/problem.ts`. */
const NAMES_NOBODY = "names_nobody";

const FOR_OTHERS = "Only the connector's owner can see the reason that the source gave.";
