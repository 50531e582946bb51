import { isDeepStrictEqual } from "node:util";
import { ApiError } from "#api/errors.ts";
import type { PatchConnectorBody } from "#api/connector-records.ts";
import { defined } from "#core/defined.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorPatch, ConnectorRecord } from "#storage/records/connectors.ts";
import { type Credentials, requireMayConnect, type ConnectorCredentials } from "./credentials.ts";
import type { ConnectorDeps } from "./deps.ts";
import {
  checkSource,
  parseConfig,
  requireAccountPlace,
  requireUsable,
  credentialsOfActor,
  type CheckedAccount,
} from "./sources.ts";
import { checkAccess } from "./visibility.ts";

/** The changes that a request makes to a connector, after a check at its source. */
export interface Patch {
  patch: ConnectorPatch;
  checked?: CheckedAccount;
  warnings?: string[];
  /** New credentials, in place of the stored ones. */
  credentials?: Credentials;
  /** Whether the connector now reads with another account, if that can be determined. */
  isOtherAccount?: boolean;
}

/**
 * Computes the changes from the request body. `requireActs` then checks whether they are allowed.
 *
 * @throws ApiError `connector_config_invalid`, `credential_required`, `connector_check_failed`, those of `checkAccess`
 */
export async function toPatch(
  deps: ConnectorDeps,
  actor: Actor,
  source: Source,
  before: ConnectorRecord,
  body: PatchConnectorBody,
): Promise<Patch> {
  const { name, connectionId } = body;
  if (connectionId !== undefined && connectionId !== before.connectionId) throw otherConnection();
  const { patch: asked, ...more } = await askSource(deps, actor, source, before, body);
  const patch: ConnectorPatch = { ...asked, ...defined({ name }) };
  if (body.access) {
    Object.assign(patch, await checkAccess(deps.store.in(actor.workspaceId), source.spec, body.access));
  }
  if (body.schedule !== undefined && source.sessions) {
    patch.everyMinutes = body.schedule?.everyMinutes ?? null;
    const mayRun = before.state === "active" || before.state === "error" || patch.state === "active";
    const age = { now: deps.clock.now(), maxAclAgeMs: await deps.store.in(actor.workspaceId).access.maxAclAgeMs() };
    const { everyMinutes } = patch;
    patch.nextRunAt = mayRun ? deps.syncs.nextRunOf(source.spec, { ...before, everyMinutes }, age) : null;
  }
  return { patch, ...more };
}

/**
 * Whether the change is only to the readers that the source reports as members of a group. Every item then stays the
 * same.
 */
export function isAboutReaders(
  { spec, namedGroup }: Source,
  before: ConnectorRecord["config"],
  after: ConnectorRecord["config"],
): boolean {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...keys].filter((key) => !isDeepStrictEqual(before[key], after[key]));
  return (
    changed.length === 0 || (namedGroup !== undefined && changed.every((key) => spec.namedIn?.includes(key) === true))
  );
}

/**
 * Whether the config points to another part of the app. If this program can no longer read the config, it is treated as
 * another part.
 */
export function isElsewhere(
  { spec, placeOf }: Source,
  before: ConnectorRecord["config"],
  after: ConnectorRecord["config"],
): boolean {
  const place = (config: ConnectorRecord["config"]) => {
    const parsed = spec.config.safeParse(config);
    if (!parsed.success) return undefined;
    if (placeOf) return placeOf(parsed.data);
    // A source's config is an object by contract.
    const all = Object.entries(parsed.data as Record<string, unknown>);
    return Object.fromEntries(all.filter(([key]) => spec.namedIn?.includes(key) !== true));
  };
  return !isDeepStrictEqual(place(before), place(after));
}

async function askSource(
  deps: ConnectorDeps,
  actor: Actor,
  source: Source,
  before: ConnectorRecord,
  body: PatchConnectorBody,
): Promise<Patch> {
  const { credentials, accountId, connectionId, takeOver } = body;
  const isReconnected = credentials !== undefined || accountId !== undefined || takeOver === true;
  if (body.config === undefined && connectionId === undefined && !isReconnected) return { patch: {} };
  const config = parseConfig(source, body.config ?? before.config);
  const patch: ConnectorPatch = { config, scopeVersion: before.scopeVersion + 1 };
  const isOther = !isDeepStrictEqual(before.config, config);
  // The place and the credentials don't change. A source that doesn't respond must not block a change of readers.
  if (!isReconnected && isOther && isAboutReaders(source, before.config, config)) return { patch };
  await requireUsable(deps, actor, { providerId: before.providerId, credentials, accountId, connectionId });
  const standing = await standingFor(deps, actor, source, { before, config, credentials, accountId });
  requireAccountPlace(source, config, standing);
  const asked = { id: before.connectorId, name: body.name ?? before.name, ...standing };
  const { checked, warnings } = await checkSource(deps, source, config, asked);
  if (!isReconnected) return { patch, ...defined({ checked, warnings }) };
  // An account replaces the credentials, and credentials replace the account.
  patch.accountId = accountId ?? null;
  if (before.state === "needs_reauth") Object.assign(patch, { state: "active", stateReason: null });
  const isOtherAccount = await readsAsAnother(deps, actor, source, before, { ...standing, accountId, checked });
  return { patch, credentials: standing.credentials, isOtherAccount, ...defined({ checked, warnings }) };
}

/**
 * Compares the accounts; without them, the identity that the server reports, or else the user name. Different
 * credentials can be for the same account.
 */
async function readsAsAnother(
  { store, credentials: keeper }: ConnectorDeps,
  { workspaceId }: Actor,
  source: Source,
  before: ConnectorRecord,
  after: { accountId: string | undefined; checked: CheckedAccount; credentials: Credentials },
): Promise<boolean> {
  if ((after.accountId ?? null) !== before.accountId) return true;
  const former = await store.in(workspaceId).connectors.findAccount(before.connectorId);
  if (former && former.accountId !== null && after.checked.accountId !== undefined) {
    return former.accountId !== after.checked.accountId;
  }
  // If the stored credentials can no longer be opened, they may belong to any account.
  const stored = await keeper.credentialsOf(workspaceId, before).catch(() => undefined);
  return stored === undefined || isOtherUser(source, stored.credentials, after.credentials);
}

function isOtherUser({ spec }: Source, before: Credentials, after: Credentials): boolean {
  const names = spec.auth.flatMap((way) => (way.type === "credentials" && "username" in way ? [way.username] : []));
  return names.some((name) => before[name] !== undefined && before[name] !== after[name]);
}

/**
 * The credentials of the changed connector: new ones, or the stored ones. The stored ones are used only for the same
 * origin and only if the person who gave them makes the change, so that an admin can't send another person's token
 * elsewhere.
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
): Promise<ConnectorCredentials> {
  const { before, config, credentials, accountId } = change;
  if (before.connectionId !== null) {
    return credentialsOfActor(deps, actor, source, { connectionId: before.connectionId });
  }
  const giver = await deps.credentials.giverOf(actor.workspaceId, before);
  if (credentials !== undefined || accountId !== undefined || giver === undefined) {
    const standing = await credentialsOfActor(deps, actor, source, { credentials, accountId });
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
  return deps.credentials.credentialsOf(actor.workspaceId, before);
}

/** The items belong to the connection. Through another connection they would be another person's view. Source: S5. */
function otherConnection(): ApiError {
  return new ApiError("connector_config_invalid", {
    message: "A connector can't change its connection, because what it read belongs to that connection.",
    hint: "Create a connector on the other connection, then delete this one.",
    field: "connectionId",
  });
}

/**
 * Returns the places to which the credentials are sent. Returns none if this program can no longer read the config,
 * which is then treated as a config for another place.
 */
function placesOf({ http }: ConnectorDeps, source: Source, config: Record<string, unknown>): string | undefined {
  const parsed = source.spec.config.safeParse(config);
  return parsed.success ? http.secretPlaces(source, parsed.data) : undefined;
}
