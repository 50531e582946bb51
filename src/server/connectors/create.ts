import { actOn } from "#storage/audit-act.ts";
import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { makeId } from "#api/common.ts";
import type { CreateConnectorBody } from "#api/connector-records.ts";
import { defined } from "#core/defined.ts";
import { mintSecret } from "#core/secrets.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";
import type { ConnectorDeps } from "./deps.ts";
import { requireMayConnect } from "./credentials.ts";
import {
  checkSource,
  keepCheckedAccount,
  parseConfig,
  requireAccountPlace,
  withAccountPlace,
  requireUsable,
  credentialsOfActor,
  takesKey,
} from "./sources.ts";
import { withTitles } from "./scope-titles.ts";
import { toConnector, toSync } from "./view.ts";
import { checkAccess, fillConnectorGroup } from "./visibility.ts";

const DEFAULT_EVERY_MINUTES = 30;

/**
 * Creates a connector after checking its source, and queues its first run. A push connector has no run; it gets a key,
 * which is returned only this once.
 *
 * @throws ApiError of `requireUsable`, `parseConfig`, `checkSource` and `checkAccess`; then nothing is stored
 */
export async function createConnector(deps: ConnectorDeps, { actor, body }: MemberCall<typeof connectorRoutes.create>) {
  const { store, policy, audit, syncs, credentials, clock, randomBytes } = deps;
  const source = await requireUsable(deps, actor, body);
  const { spec } = source;
  const access = await checkAccess(store.in(actor.workspaceId), spec, body.access);
  const connectorId = makeId("connector", randomBytes);
  const standing = await credentialsOfActor(deps, actor, source, body);
  const config = parseConfig(source, withAccountPlace(source, body.config, standing));
  requireMayConnect(actor, source, config, standing);
  requireAccountPlace(source, config, standing);
  const asked = { id: connectorId, name: body.name, ...standing };
  const { checked, warnings } = await checkSource(deps, source, config, asked);

  const record = makeRecord({
    actor,
    body,
    connectorId,
    config,
    hasSync: source.sessions !== undefined,
    now: clock.now(),
  });
  const made = await store.transaction(async (tx) => {
    await deps.quotas.requireRoom(tx, actor.workspaceId, "connectors");
    const workspace = tx.in(actor.workspaceId);
    const connector = { ...record, ...access };
    // Checks the connection again, since the check of the source took a while.
    if (record.connectionId !== null) await deps.connections.requireOwn(actor, record.connectionId, tx);
    await workspace.connectors.create(connector);
    await keepCheckedAccount(workspace, connectorId, checked);
    await credentials.keep(tx, actor, connectorId, standing.credentials);
    await fillConnectorGroup(workspace, connectorId, connector);
    // No one loses access, but access decisions made in the old epoch don't include the new connector.
    await workspace.access.raiseEpoch();
    const key = takesKey(spec) ? await addKey(deps, tx, actor, connectorId) : undefined;
    const sync = source.sessions
      ? await syncs.request(tx, actor.workspaceId, connector, { trigger: "manual" })
      : undefined;
    if (source.syncIdentities) await syncs.requestIdentities(tx, actor.workspaceId, connector);
    const details = { providerId: record.providerId, visibility: access.visibility };
    await audit.record(tx, actor, actOn(connectorId, "connector.created", details));
    return { connector, sync, key };
  });
  syncs.signal();
  const workspace = store.in(actor.workspaceId);
  return {
    connector: await toConnector(deps, actor, made.connector),
    sync: made.sync ? await toSync(workspace, policy, actor, made.connector, made.sync) : null,
    ...defined({ warnings, key: made.key }),
  };
}

/** Adds a key to a push connector. @returns the plaintext; only its hash is stored */
export async function addKey(
  { randomBytes, clock }: Pick<ConnectorDeps, "randomBytes" | "clock">,
  tx: Store,
  actor: Actor,
  connectorId: string,
): Promise<string> {
  const { plaintext, hash, shown } = mintSecret("kb_con_", randomBytes);
  await tx.in(actor.workspaceId).connectors.addKey({
    keyId: makeId("token", randomBytes),
    connectorId,
    hash,
    prefix: shown,
    createdAt: clock.now(),
    createdBy: actor.userId,
    expiresAt: null,
    revokedAt: null,
  });
  return plaintext;
}

interface NewRecord {
  actor: Actor;
  body: CreateConnectorBody;
  connectorId: string;
  config: Record<string, unknown>;
  hasSync: boolean;
  now: number;
}

function makeRecord({ actor, body, connectorId, config, hasSync, now }: NewRecord): ConnectorRecord {
  const wanted = body.schedule === undefined ? DEFAULT_EVERY_MINUTES : (body.schedule?.everyMinutes ?? null);
  const everyMinutes = hasSync ? wanted : null;
  return {
    connectorId,
    providerId: body.providerId,
    name: body.name,
    ownerUserId: actor.userId,
    visibility: "private",
    memberIds: [],
    groupIds: [],
    config,
    scope: withTitles(body.scope ?? { include: [], exclude: [] }),
    scopeVersion: 1,
    accountId: body.accountId ?? null,
    connectionId: body.connectionId ?? null,
    everyMinutes,
    state: "active",
    stateReason: null,
    nextRunAt: everyMinutes === null ? null : now + everyMinutes * 60_000,
    cursor: null,
    consecutiveFailures: 0,
    aclCheckedAt: null,
    lastFullAt: null,
    pausedBy: null,
    withheldAt: null,
    refusedAt: null,
    proofTriedAt: null,
    ownedSince: now,
    createdAt: now,
    createdBy: actor.userId,
  };
}
