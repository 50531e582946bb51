import { isDeepStrictEqual } from "node:util";
import { ApiError } from "#api/errors.ts";
import type { Connector, ConnectorScope, PatchConnectorBody, ScopePlan, Sync } from "#api/connector-records.ts";
import { defined } from "#core/defined.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorPatch, ConnectorRecord } from "#storage/records/connectors.ts";
import { summarize } from "#storage/records/readers.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/store.ts";
import { type Credentials, requireMayConnect, type Standing } from "./credentials.ts";
import { type ConnectorDeps, requireManaged, requireSource } from "./deps.ts";
import {
  checkSource,
  keepTold,
  parseConfig,
  requireAccountPlace,
  requireUsable,
  standingOfActor,
  type Told,
} from "./sources.ts";
import { askForAddition, planScope } from "./scope-plan.ts";
import { withTitles } from "./scope-titles.ts";
import { removeItems } from "./stored.ts";
import { isOrphan, removeWhatTakerCouldNotRead, takeOver } from "./take-over.ts";
import { toConnector, toSync } from "./view.ts";
import { checkAccess, fillConnectorGroup, isNarrower, membersOf } from "./visibility.ts";

/**
 * Changes name, config, credentials, access or schedule. A new config is checked first and everything is walked again.
 * An admin who gives credentials to a connector whose owner left takes it over.
 *
 * @throws ApiError `not_found`, `forbidden` when an admin would widen somebody else's access, `credential_required` when
 *   the stored credentials are not for what the config names now, those of create
 */
export async function updateConnector(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
  body: PatchConnectorBody,
): Promise<{ connector: Connector; warnings?: string[] }> {
  const before = await requireChangeable(deps, actor, connectorId);
  const source = await requireSource(deps.sources, before.providerId);
  const { patch, credentials, warnings, told } = await toPatch(deps, actor, source, before, body);
  const isGiven = body.accountId !== undefined || (credentials !== undefined && Object.keys(credentials).length > 0);
  const isTakenOver = isOrphan(before) && isGiven;
  if (isTakenOver) await removeWhatTakerCouldNotRead(deps, actor, before);
  const isRenamed = body.name !== undefined && body.name !== before.name;
  const rewalks = patch.config !== undefined || isRenamed;
  const isReadAgain = isRenamed || (patch.config !== undefined && !isAboutReaders(source, before.config, patch.config));
  const cancelled = await deps.store.transaction(async (tx) => {
    const { connectors } = tx.in(actor.workspaceId);
    const taken = isTakenOver ? await takeOver(deps, tx, actor, before) : {};
    await connectors.update(connectorId, patch);
    if (told) await keepTold(tx.in(actor.workspaceId), connectorId, told);
    if (credentials) await deps.credentials.keep(tx, actor, connectorId, credentials);
    const changed = { ...before, ...taken, ...patch };
    const mayBeElsewhere = patch.config !== undefined && source.sync !== undefined;
    const after = mayBeElsewhere ? await deps.syncs.rebind(tx, actor.workspaceId, source, changed) : changed;
    // Opened to others, the source may have to leave out more.
    const isOpened = before.visibility === "private" && after.visibility !== "private";
    const ended = (rewalks || isOpened) && source.sync ? await rewalk(deps, tx, actor, after, isReadAgain) : [];
    if (patch.config !== undefined && source.syncIdentities && MAY_RUN.has(after.state)) {
      await deps.syncs.requestIdentities(tx, actor.workspaceId, after);
    }
    if (patch.visibility !== undefined) await changeAccess(tx, actor, after);
    await record(deps, tx, actor, "connector.changed", connectorId, {
      fields: Object.keys(body),
      ...(patch.visibility !== undefined && {
        from: before.visibility,
        to: patch.visibility,
        before: summarize(membersOf(before)),
        after: summarize(membersOf({ ...before, ...patch })),
        isWidened: !isNarrower(before, { ...before, ...patch }),
      }),
    });
    return ended;
  });
  deps.syncs.signal(cancelled);
  return { ...(await one(deps, actor, connectorId)), ...defined({ warnings }) };
}

/**
 * Changes what is included: what is left out goes at once, what is added is walked by a full run.
 *
 * @throws ApiError `not_found`, `connector_scope_invalid` when there is nothing to walk
 */
export async function changeScope(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
  wanted: ConnectorScope,
  isDryRun: boolean,
): Promise<{ connector: Connector; sync: Sync | null; plan: ScopePlan }> {
  const before = await requireChangeable(deps, actor, connectorId);
  const source = await requireSource(deps.sources, before.providerId);
  if (!source.sync) {
    throw new ApiError("connector_scope_invalid", {
      message: `${source.spec.name} has no scope: it holds what you push to it.`,
    });
  }
  const scope = withTitles(wanted, before.scope);
  const { out, plan } = await planScope(deps, actor, source, connectorId, scope);
  const workspace = deps.store.in(actor.workspaceId);
  if (isDryRun) {
    const addition = await askForAddition(deps, actor, source, before, scope);
    const added = addition && { added: addition.items, estimatedCalls: addition.calls };
    return { ...(await one(deps, actor, connectorId)), sync: null, plan: { ...plan, ...added } };
  }
  const after = { ...before, scope, scopeVersion: before.scopeVersion + 1 };
  const { sync, cancelled } = await deps.store.transaction(async (tx) => {
    await tx.in(actor.workspaceId).connectors.update(connectorId, { scope, scopeVersion: after.scopeVersion });
    const ended = await deps.syncs.cancelAll(tx, actor.workspaceId, connectorId);
    const wish = { trigger: "manual", mode: "full" } as const;
    const queued = await deps.syncs.request(tx, actor.workspaceId, after, wish);
    await record(deps, tx, actor, "connector.scope_changed", connectorId, { removed: out.length });
    return { sync: queued, cancelled: ended };
  });
  // The run does it too, should this process end here.
  await removeItems(deps, actor.workspaceId, connectorId, out);
  deps.syncs.signal(cancelled);
  const { connector } = await one(deps, actor, connectorId);
  return { connector, sync: await toSync(workspace, deps.policy, actor, before, sync), plan };
}

/** Pause, resume: the state, the run under way, the schedule. @throws ApiError `not_found`, `connector_state_conflict` */
export async function pauseOrResume(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
  act: "pause" | "resume",
): Promise<{ connector: Connector }> {
  const before = await requireManaged(deps.store, actor, connectorId);
  const source = await deps.sources.find(before.providerId);
  const state = deps.syncs.nextState(before.state, act);
  const cancelled = await deps.store.transaction(async (tx) => {
    const workspace = tx.in(actor.workspaceId);
    const isResumed = act === "resume";
    const nextRunAt =
      isResumed && before.everyMinutes !== null ? deps.clock.now() + before.everyMinutes * 60_000 : null;
    const health = isResumed ? { consecutiveFailures: 0 } : {};
    await workspace.connectors.update(connectorId, { state, stateReason: null, nextRunAt, ...health });
    await workspace.access.raiseEpoch();
    await record(deps, tx, actor, isResumed ? "connector.resumed" : "connector.paused", connectorId, {});
    if (!isResumed) return deps.syncs.cancelAll(tx, actor.workspaceId, connectorId);
    const after = { ...before, state };
    if (source?.sync) await deps.syncs.request(tx, actor.workspaceId, after, { trigger: "manual" });
    if (source?.syncIdentities) await deps.syncs.requestIdentities(tx, actor.workspaceId, after);
    return [];
  });
  deps.syncs.signal(cancelled);
  return one(deps, actor, connectorId);
}

/** Deletes: nobody sees its items from the next request on, they are purged in the background. @throws ApiError `not_found` */
export async function removeConnector(
  deps: ConnectorDeps,
  actor: Actor,
  connectorId: string,
): Promise<{ connector: Connector }> {
  const before = await requireManaged(deps.store, actor, connectorId);
  const cancelled = await deps.store.transaction(async (tx) => {
    const ended = await endConnector(deps, tx, actor.workspaceId, before);
    if (before.state !== "deleting") await record(deps, tx, actor, "connector.deleted", connectorId, {});
    return ended;
  });
  const answer = await one(deps, actor, connectorId);
  deps.syncs.signal(cancelled);
  return answer;
}

/** Hides what it read and has it deleted. Call it in a transaction. Gives the runs under way that were told to end. */
export async function endConnector(
  deps: Pick<ConnectorDeps, "clock" | "syncs" | "credentials">,
  tx: Store,
  workspaceId: string,
  before: ConnectorRecord,
): Promise<SyncRecord[]> {
  const { connectorId } = before;
  const workspace = tx.in(workspaceId);
  const now = deps.clock.now();
  const state = deps.syncs.nextState(before.state, "delete");
  await workspace.connectors.update(connectorId, { state, stateReason: null, nextRunAt: null });
  // What it signs in with ends its subscription at the provider first, in the job.
  const subscription = await workspace.webhookSubscriptions.find(connectorId);
  if (!subscription) await deps.credentials.drop(tx, workspaceId, connectorId);
  await fillConnectorGroup(workspace, connectorId, undefined);
  await workspace.access.dropReported(connectorId, now);
  const keys = await workspace.connectors.listKeys(connectorId, now);
  await workspace.connectors.endKeys(
    keys.map((key) => key.keyId),
    now,
  );
  const ended = await deps.syncs.cancelAll(tx, workspaceId, connectorId);
  await tx.queue.enqueue({
    workspaceId,
    type: "purge_connector",
    dedupeKey: `purge:${connectorId}`,
    payload: { connectorId },
    priority: 30,
    runAt: now,
  });
  return ended;
}

/** @throws ApiError `not_found`, `connector_state_conflict` for one that is being deleted */
export async function requireChangeable(
  deps: Pick<ConnectorDeps, "store">,
  actor: Actor,
  connectorId: string,
): Promise<ConnectorRecord> {
  const connector = await requireManaged(deps.store, actor, connectorId);
  if (connector.state !== "deleting") return connector;
  throw new ApiError("connector_state_conflict", { message: "The connector is being deleted." });
}

async function toPatch(
  deps: ConnectorDeps,
  actor: Actor,
  source: Source,
  before: ConnectorRecord,
  body: PatchConnectorBody,
): Promise<{ patch: ConnectorPatch; told?: Told; warnings?: string[]; credentials?: Credentials }> {
  const { connectorId } = before;
  let told: Told | undefined;
  let warnings: string[] | undefined;
  let parsedCredentials: Credentials | undefined;
  const patch: ConnectorPatch = body.name === undefined ? {} : { name: body.name };
  const { credentials, accountId, connectionId } = body;
  if (connectionId !== undefined && connectionId !== before.connectionId) throw otherConnection();
  if ([body.config, credentials, accountId, connectionId].some((value) => value !== undefined)) {
    await requireUsable(deps, actor, { providerId: before.providerId, credentials, accountId, connectionId });
    const config = parseConfig(source, body.config ?? before.config);
    const standing = await standingFor(deps, actor, source, { before, config, credentials, accountId });
    requireAccountPlace(source, config, standing);
    const asked = { id: connectorId, name: body.name ?? before.name, ...standing };
    ({ told, warnings } = await checkSource(deps, source, config, asked));
    if (credentials !== undefined || accountId !== undefined) {
      // One of them stands for the other from now on.
      parsedCredentials = standing.credentials;
      patch.accountId = accountId ?? null;
      if (before.state === "needs_reauth") Object.assign(patch, { state: "active", stateReason: null });
    }
    patch.config = config;
    patch.scopeVersion = before.scopeVersion + 1;
  }
  if (body.access) {
    const access = await checkAccess(deps.store.in(actor.workspaceId), source.spec, body.access);
    if (before.ownerUserId !== actor.userId && !isNarrower(before, { ...before, ...access })) {
      throw new ApiError("forbidden", { message: "Only the connector's owner can let more people see it." });
    }
    Object.assign(patch, access);
  }
  if (body.schedule !== undefined && source.sync) {
    patch.everyMinutes = body.schedule?.everyMinutes ?? null;
    const mayRun = before.state === "active" || before.state === "error" || patch.state === "active";
    const age = { now: deps.clock.now(), maxAclAgeMs: await deps.store.in(actor.workspaceId).access.maxAclAgeMs() };
    const { everyMinutes } = patch;
    patch.nextRunAt = mayRun ? deps.syncs.nextRunOf(source.spec, { ...before, everyMinutes }, age) : null;
  }
  return { patch, ...defined({ told, warnings, credentials: parsedCredentials }) };
}

/**
 * What the changed connector acts with: new credentials, or the stored ones while they are for the same origin and the
 * change is by who gave them: an admin does not aim another person's token at something else.
 */
async function standingFor(
  deps: ConnectorDeps,
  actor: Actor,
  source: Source,
  change: {
    before: ConnectorRecord;
    config: Record<string, unknown>;
    credentials: Credentials | undefined;
    accountId: string | undefined;
  },
): Promise<Standing> {
  const { before, config, credentials, accountId } = change;
  if (before.connectionId !== null) {
    return standingOfActor(deps, actor, source, { connectionId: before.connectionId });
  }
  const giver = await deps.credentials.giverOf(actor.workspaceId, before);
  if (credentials !== undefined || accountId !== undefined || giver === undefined) {
    const standing = await standingOfActor(deps, actor, source, { credentials, accountId });
    requireMayConnect(actor, source, config, standing);
    return standing;
  }
  const hasMoved = placesOf(deps, source, before.config) !== placesOf(deps, source, config);
  if (hasMoved || giver !== actor.userId) {
    throw new ApiError("credential_required", {
      message: hasMoved
        ? "The stored credentials are for another origin. Send credentials together with this change."
        : "The stored credentials belong to a different person. Send your own credentials with this change.",
      field: "credentials",
    });
  }
  return deps.credentials.standingOf(actor.workspaceId, before);
}

/** Its items belong to its connection: read through another one they would be somebody else's view. Source: S5. */
function otherConnection(): ApiError {
  return new ApiError("connector_config_invalid", {
    message: "A connector can't change its connection, because what it read belongs to that connection.",
    hint: "Create a connector on the other connection, then delete this one.",
    field: "connectionId",
  });
}

/** Where the credentials go. A config that this program can't read any more leads nowhere: it counts as another one. */
function placesOf({ http }: ConnectorDeps, source: Source, config: Record<string, unknown>): string | undefined {
  const parsed = source.spec.config.safeParse(config);
  return parsed.success ? http.secretPlaces(source, parsed.data) : undefined;
}

/** Whether only other readers are named, whom the source tells as members of a group: every item stays as it is. */
function isAboutReaders(
  { spec }: Source,
  before: ConnectorRecord["config"],
  after: ConnectorRecord["config"],
): boolean {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...keys].filter((key) => !isDeepStrictEqual(before[key], after[key]));
  return (
    changed.length === 0 || (spec.tellsNamed === true && changed.every((key) => spec.namedIn?.includes(key) === true))
  );
}

const MAY_RUN: ReadonlySet<ConnectorRecord["state"]> = new Set(["active", "error"]);

async function rewalk(
  deps: ConnectorDeps,
  tx: Store,
  actor: Actor,
  after: ConnectorRecord,
  isReadAgain: boolean,
): Promise<SyncRecord[]> {
  const ended = await deps.syncs.cancelAll(tx, actor.workspaceId, after.connectorId);
  // Titles of places and what is read follow from name and config: every item is looked at again.
  if (isReadAgain) await tx.in(actor.workspaceId).itemWrites.forgetVersions(after.connectorId);
  if (MAY_RUN.has(after.state)) {
    await deps.syncs.request(tx, actor.workspaceId, after, { trigger: "manual", mode: "full" });
  }
  return ended;
}

async function changeAccess(tx: Store, actor: Actor, after: ConnectorRecord): Promise<void> {
  const workspace = tx.in(actor.workspaceId);
  await fillConnectorGroup(workspace, after.connectorId, after);
  await workspace.access.raiseEpoch();
}

async function one(deps: ConnectorDeps, actor: Actor, connectorId: string): Promise<{ connector: Connector }> {
  const connector = await requireManaged(deps.store, actor, connectorId);
  return { connector: await toConnector(deps, actor, connector) };
}

function record(
  { audit }: ConnectorDeps,
  tx: Store,
  actor: Actor,
  action: string,
  id: string,
  details: Record<string, unknown>,
): Promise<void> {
  return audit.record(tx, actor, { action, target: { type: "connector", id }, details });
}
