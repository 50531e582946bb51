import { actOn } from "#storage/audit-act.ts";
import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { isDeepStrictEqual } from "node:util";
import type { ConnectorAct } from "#api/connector-acts.ts";
import { ApiError } from "#api/errors.ts";
import type { ConnectorAccess, PatchConnectorBody } from "#api/connector-records.ts";
import { defined } from "#core/defined.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorPatch, ConnectorRecord } from "#storage/records/connectors.ts";
import { summarize } from "#storage/records/readers.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/records/store.ts";
import { requireActs } from "./acts.ts";
import { valuesChanged } from "./audit-changes.ts";
import { showConnector } from "./change.ts";
import { type ConnectorDeps, requireManaged, requireSource } from "./deps.ts";
import { isAboutReaders, isElsewhere, type Patch, toPatch } from "./patch.ts";
import { keepCheckedAccount } from "./sources.ts";
import { isOrphan } from "./judge.ts";
import { opensToTaker, takeOver } from "./take-over.ts";
import { fillConnectorGroup, isNarrower, membersOf } from "./visibility.ts";

/**
 * Changes a connector's name, config, credentials, access or schedule. A new config is checked first, and then
 * everything is read again. The same change can't give anyone else access to items that were read at another place, or
 * with the credentials of an owner who left.
 *
 * @throws ApiError `not_found`, `forbidden` if the person may not make the change, `credential_required` if the stored
 *   credentials can't be used with the new config, `connector_state_conflict` if someone else was faster, those of
 *   `createConnector`
 */
export async function updateConnector(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId }, body }: MemberCall<typeof connectorRoutes.update>,
) {
  const before = await requireManaged(deps.store, actor, connectorId);
  const isTakenOver = takesOver(before, body);
  await requireActs(deps, actor, connectorId, isTakenOver ? ["take_over"] : actsOf(before, body), givenBy(body));
  const source = await requireSource(deps.sources, before.providerId);
  const made = await toPatch(deps, actor, source, before, body);
  const change = { actor, source, before, body, made, isTakenOver };
  const cancelled = await deps.store.transaction((tx) => applyPatch(deps, tx, change));
  await deps.syncs.removeHidden(actor.workspaceId, connectorId);
  deps.syncs.signal(cancelled);
  return { ...(await showConnector(deps, actor, connectorId)), ...defined({ warnings: made.warnings }) };
}

interface Change {
  actor: Actor;
  source: Source;
  before: ConnectorRecord;
  body: PatchConnectorBody;
  made: Patch;
  isTakenOver: boolean;
}

/** If a connector's owner has left, a person who gives it credentials or asks to own it becomes its owner. */
function takesOver(before: ConnectorRecord, { credentials = {}, accountId, takeOver: isAsked }: PatchConnectorBody) {
  return isAsked === true || (isOrphan(before) && (accountId !== undefined || Object.keys(credentials).length > 0));
}

function actsOf(connector: ConnectorRecord, body: PatchConnectorBody): ConnectorAct[] {
  const { name, config, access, schedule, credentials, accountId, connectionId } = body;
  const isReconnected = [credentials, accountId, connectionId].some((value) => value !== undefined);
  return [
    ...(name === undefined ? [] : (["rename"] as const)),
    ...(schedule === undefined ? [] : (["schedule"] as const)),
    ...(config === undefined ? [] : (["configure"] as const)),
    ...(isReconnected ? (["reconnect"] as const) : []),
    ...(access === undefined
      ? []
      : [narrows(connector, access) ? ("narrow_access" as const) : ("widen_access" as const)]),
  ];
}

/** The credentials after the request, if the request adds or removes some. */
function givenBy({ credentials, accountId }: PatchConnectorBody): { hasCredentials?: boolean } {
  if (accountId !== undefined) return { hasCredentials: true };
  return credentials === undefined ? {} : { hasCredentials: Object.keys(credentials).length > 0 };
}

function narrows(connector: ConnectorRecord, access: ConnectorAccess): boolean {
  return isNarrower(connector, { ...connector, ...access });
}

/**
 * Stores a change if the connector and the person's rights are still the same as when the change was checked.
 *
 * @returns the runs that were requested to end
 */
async function applyPatch(deps: ConnectorDeps, tx: Store, change: Change): Promise<SyncRecord[]> {
  const { actor, source, before, body, isTakenOver } = change;
  const { patch, credentials, checked } = change.made;
  const { connectorId } = before;
  const workspace = tx.in(actor.workspaceId);
  if (isTakenOver) await takeOver(deps, tx, actor, connectorId);
  const managed = await requireManaged(tx, actor, connectorId);
  const today = await requireActs(deps, actor, connectorId, actsOf(managed, body), { on: tx, ...givenBy(body) });
  if (patch.config !== undefined && today.scopeVersion !== before.scopeVersion) {
    throw new ApiError("connector_state_conflict", {
      message: "Someone else changed this connector at the same time. Look at it, then try again.",
    });
  }
  await workspace.connectors.update(connectorId, { ...patch, ...nextRunOf(deps, before, { ...today, ...patch }) });
  if (checked) await keepCheckedAccount(workspace, connectorId, checked);
  if (credentials) await deps.credentials.keep(tx, actor, connectorId, credentials);
  const after = await settle(deps, tx, change, today);
  const ended = await readAgain(deps, tx, change, { today, after });
  if (patch.visibility !== undefined) {
    await fillConnectorGroup(workspace, connectorId, after);
    await workspace.access.raiseEpoch();
  }
  await deps.audit.record(tx, actor, actOn(connectorId, "connector.changed", detailsOf(change, today, after)));
  if (patch.config !== undefined && source.namedGroup && !isDeepStrictEqual(today.config, patch.config)) {
    await deps.syncs.nameReaders(tx, actor.workspaceId, source, after);
  }
  return ended;
}

/** If a connector waited for credentials or an owner, its schedule had ended and now resumes. */
function nextRunOf({ clock }: ConnectorDeps, before: ConnectorRecord, after: ConnectorRecord): ConnectorPatch {
  const { state, everyMinutes, nextRunAt } = after;
  const isAgain = state === "active" && before.state !== "active" && nextRunAt === null && everyMinutes !== null;
  return isAgain ? { nextRunAt: clock.now() + everyMinutes * 60_000 } : {};
}

/** Applies the effect of the change to the items that were read so far. @returns the connector as it is now */
async function settle(
  deps: ConnectorDeps,
  tx: Store,
  { actor, source, before, made: { patch, isOtherAccount = false }, isTakenOver }: Change,
  today: ConnectorRecord,
): Promise<ConnectorRecord> {
  const { workspaceId } = actor;
  const changed = { ...today, ...patch };
  if (source.sessions === undefined) return changed;
  const config = patch.config ?? today.config;
  const after = patch.config === undefined ? changed : await deps.syncs.rebind(tx, workspaceId, source, changed);
  const isOpening = !isDeepStrictEqual(config, today.config) || !isNarrower(today, changed);
  // A new owner reads with another account. People who could read the connector's items before still can.
  const hasMoved = (isOtherAccount && !isTakenOver) || isElsewhere(source, today.config, config);
  const { itemWrites, access } = tx.in(workspaceId);
  const isLeft = isTakenOver || (await itemWrites.listReadElsewhere(today.connectorId, 1)).length > 0;
  // The items can name the former owner, who is a member again.
  const isNamed = isTakenOver && (await access.isMember(before.ownerUserId));
  const isOthers = (isTakenOver && opensToTaker(actor, before)) || isNamed;
  if ((source.spec.acl === "connector" && hasMoved) || isOthers || (isLeft && isOpening)) {
    return deps.syncs.hide(tx, workspaceId, source, after);
  }
  return isTakenOver ? deps.syncs.invalidateReading(tx, workspaceId, after) : after;
}

const MAY_RUN: ReadonlySet<ConnectorRecord["state"]> = new Set(["active", "error"]);

/** Cancels the current runs, and requests runs that read the changed parts. */
async function readAgain(
  deps: ConnectorDeps,
  tx: Store,
  { actor, source, made: { patch } }: Change,
  { today, after }: { today: ConnectorRecord; after: ConnectorRecord },
): Promise<SyncRecord[]> {
  const { workspaceId } = actor;
  const isRenamed = after.name !== today.name;
  // When the connector is opened to other people, the source may have to leave out more.
  const isOpened = today.visibility === "private" && after.visibility !== "private";
  const isWithheld = after.withheldAt !== today.withheldAt;
  const isRewalked = patch.config !== undefined || isRenamed || isOpened || isWithheld;
  if (!source.sessions || !isRewalked) return [];
  const ended = await deps.syncs.cancelAll(tx, workspaceId, after.connectorId);
  // The titles of places depend on the name, and the items read depend on the config, so every item is checked again.
  if (isRenamed || !isAboutReaders(source, today.config, after.config)) {
    await tx.in(workspaceId).itemWrites.forgetVersions(after.connectorId);
  }
  if (!MAY_RUN.has(after.state)) return ended;
  await deps.syncs.request(tx, workspaceId, after, { trigger: "manual", mode: "full" });
  if (patch.config !== undefined && source.syncIdentities) {
    await deps.syncs.requestIdentities(tx, workspaceId, after);
  }
  return ended;
}

function detailsOf(
  { body, made: { patch }, before }: Change,
  today: ConnectorRecord,
  after: ConnectorRecord,
): Record<string, unknown> {
  const { name, everyMinutes } = after;
  const config = valuesChanged(today.config, after.config);
  return {
    fields: Object.keys(body),
    ...valuesChanged({ name: today.name, everyMinutes: today.everyMinutes }, { name, everyMinutes }),
    ...(Object.keys(config).length > 0 && { config }),
    ...(after.withheldAt !== today.withheldAt && { isWithheld: true }),
    ...(patch.visibility !== undefined && {
      from: before.visibility,
      to: patch.visibility,
      before: summarize(membersOf(today)),
      after: summarize(membersOf(after)),
      isWidened: !isNarrower(today, after),
    }),
  };
}
