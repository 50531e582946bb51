import type { CursorCodec } from "#server/http/cursor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import { ApiError, noSuchThing, existing } from "#api/errors.ts";
import type { McpCaps } from "#mcp-client/caps.ts";
import type { McpSession, McpTarget } from "#mcp-client/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Afterwards } from "#server/identity/mail/afterwards.ts";
import type { Emit } from "#server/events/outbox.ts";
import type { Throttle } from "#server/http/throttle.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { Store } from "#storage/records/store.ts";
import type { OneTime } from "#server/accounts/one-time.ts";
import type { Renewer } from "#server/accounts/renewal.ts";
import type { Discover, ProviderOAuth } from "./oauth.ts";
import type { SecretKeeper } from "./secrets.ts";

/** Opens a session with a server. @throws McpProblem */
export type OpenMcp = (
  target: McpTarget,
  signal: AbortSignal,
  isListening?: boolean,
  caps?: Partial<McpCaps>,
) => Promise<McpSession>;

/** The dependencies of every function about provider servers. */
export interface ServerDeps extends Pick<Parts, "store" | "clock" | "randomBytes" | "log"> {
  audit: AuditRecorder;
  cursors: CursorCodec;
  secrets: SecretKeeper;
  openMcp: OpenMcp;
  discover: Discover;
  oauth: ProviderOAuth;
  /** Stores flows to providers, and the accounts found there. */
  once: OneTime;
  renewer: Renewer;
  /** Revokes grants at providers after the response. */
  afterwards: Pick<Afterwards, "run">;
  baseUrl: string;
  /** Limits a person's tests and connections. */
  throttle: Pick<Throttle, "take">;
  emit: Emit;
  /** Deletes a connector in a transaction. @returns the current runs, which were cancelled */
  endConnector(tx: Store, workspaceId: string, connector: ConnectorRecord): Promise<SyncRecord[]>;
  /** Requests a run of a connector that resumes after a stop. */
  request(tx: Store, workspaceId: string, connector: ConnectorRecord): Promise<unknown>;
  /** Reports that jobs were queued, and that these runs were cancelled. */
  signal(cancelled?: readonly SyncRecord[]): void;
}

/**
 * Finds a server that the actor may see: an enabled one, one to which they have a connection, or, for admins, any.
 *
 * @throws ApiError `not_found`
 */
export async function requireServer(
  { store }: Pick<ServerDeps, "store">,
  actor: Actor,
  serverId: string,
): Promise<ProviderServerRecord> {
  const workspace = store.in(actor.workspaceId);
  const server = existing(await workspace.providerServers.find(serverId));
  if (server.isEnabled || actsAsAdmin(actor)) return server;
  if ((await visibleConnections({ store }, actor, serverId)).length > 0) return server;
  throw noSuchThing();
}

/** Returns the connections to a server that the actor may see: their own and those shared with them, for admins all. */
export async function visibleConnections(
  { store }: Pick<ServerDeps, "store">,
  actor: Actor,
  serverId: string,
): Promise<ConnectionRecord[]> {
  const workspace = store.in(actor.workspaceId);
  const all = await workspace.connections.list({ serverId });
  if (actsAsAdmin(actor) || all.length === 0) return all;
  const held = new Set(await workspace.access.expand([`user:${actor.userId}`, "workspace"]));
  return all.filter(
    ({ connectionId, ownerUserId, status }) =>
      ownerUserId === actor.userId || (status === "active" && held.has(`group:connection:${connectionId}`)),
  );
}

/** Finds a connection to this server that the actor may see. @throws ApiError `not_found` */
export async function requireConnection(
  deps: Pick<ServerDeps, "store">,
  actor: Actor,
  serverId: string,
  connectionId: string,
): Promise<ConnectionRecord> {
  return existing((await visibleConnections(deps, actor, serverId)).find((one) => one.connectionId === connectionId));
}

/** @throws ApiError `server_disabled` */
export function requireEnabled({ isEnabled, name }: ProviderServerRecord): void {
  if (isEnabled) return;
  throw new ApiError("server_disabled", { message: `An admin has turned ${name} off.` });
}
