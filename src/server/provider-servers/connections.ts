import { actOn } from "#storage/audit-act.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { makeId } from "#api/common.ts";
import type { Connection, ConnectionAccess, connectionRoutes } from "#api/connections.ts";
import { ApiError, existing, forbidden } from "#api/errors.ts";
import { checkReaders, isNarrower, membersOf } from "#server/connectors/visibility.ts";
import { connectionPrincipal } from "#storage/access/item-clocks.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import { summarize } from "#storage/records/readers.ts";
import { type ConnectionRecord, type ConnectionWay, readersOfConnection } from "#storage/records/connections.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { agreedAtFirst, isSameMapping } from "./agreed-tools.ts";
import { requireConnectable } from "./apps.ts";
import { requireConnection, requireServer, type ServerDeps, visibleConnections } from "./deps.ts";
import { inMemory, readPage } from "#server/http/pages.ts";
import { ELICITATION, keepElicitation } from "./elicitation.ts";
import { connectionFailed } from "./fail.ts";
import type { Access } from "./flows.ts";
import { giveBack } from "./give-back.ts";
import { revokeConnection } from "./revoke.ts";
import type { ConnectionSecrets } from "./secrets.ts";
import { requireMaySign } from "./signing.ts";
import { makeTarget, signWith } from "./target.ts";
import { problemOf, TEST_MS } from "./test-run.ts";
import { toConnection } from "./view.ts";

/**
 * Lists the actor's own connections and those shared with them, for admins all, the oldest first.
 *
 * @throws ApiError `not_found`, `invalid_cursor`
 */
export async function listConnections(
  deps: ServerDeps,
  { actor, params: { id: serverId }, query }: MemberCall<typeof connectionRoutes.connections>,
) {
  const server = await requireServer(deps, actor, serverId);
  const all = await visibleConnections(deps, actor, serverId);
  const rows = inMemory(all, ({ createdAt, connectionId }) => ({ value: createdAt, id: connectionId }));
  const list = {
    route: "GET /api/mcp-servers/{id}/connections",
    args: { serverId },
    kind: "connection",
    ...rows,
  } as const;
  const { page, nextCursor } = await readPage(deps, actor, list, query);
  const connections: Connection[] = [];
  for (const one of page) connections.push(await toConnection(deps, actor, server, one));
  return { connections, nextCursor };
}

/**
 * Connects an app without a browser. Anyone can do it with their own token, and admins also with the server's token.
 * The server is tested first.
 *
 * @throws ApiError `not_found`, `app_unknown`, `intent_required`, `connection_failed` with step and code,
 *   `server_disabled`, `forbidden`, `unknown_member`, `unknown_group`, `rate_limited`
 */
export async function createConnection(
  deps: ServerDeps,
  { actor, params: { id: serverId }, body }: MemberCall<typeof connectionRoutes.connect>,
) {
  const { store, secrets } = deps;
  const server = await requireServer(deps, actor, serverId);
  requireConnectable(actor, server, body.app);
  if (server.authKind === "oauth") throw intentRequired(server);
  const own = body.credentials?.token;
  const kept = await secrets.ofServer(store, actor.workspaceId, serverId);
  const way = wayOf(actor, server, own, kept !== undefined);
  const access = await accessOf(store.in(actor.workspaceId), body.access);
  const token = own ?? kept;
  deps.throttle.take(actor.userId);
  const tried = await tryConnection(deps, server, way === "none" || token === undefined ? {} : signWith(server, token));
  const connection = makeConnection(deps, actor, server, {
    ...access,
    way,
    name: body.name,
    ...(tried.isElicited && { status: "needs_reauth", statusReason: ELICITATION }),
  });
  await store.transaction(async (tx) => {
    await requireStill(tx, actor, server);
    await tx.in(actor.workspaceId).connections.insert(connection);
    await activate(deps, tx, actor, connection, own === undefined ? {} : { own: { token: own } });
  });
  await keepElicitation(deps, actor.workspaceId, connection, tried.url);
  return { connection: await toConnection(deps, actor, server, connection) };
}

/**
 * Sets who sees the content that the owner reads through a connection. The change affects the members of the
 * connection's group, not the items, and applies from the next request. An admin can only narrow the access. The same
 * is true for an owner who is no longer an admin, if the connection uses the server's own secret. Source: S5, S64.
 *
 * @throws ApiError `not_found`, `forbidden`, `unknown_member`, `unknown_group`
 */
export async function setAccess(
  deps: ServerDeps,
  { actor, params: { id: serverId, connectionId }, body }: MemberCall<typeof connectionRoutes.access>,
) {
  const server = await requireServer(deps, actor, serverId);
  const changed = await deps.store.transaction(async (tx) => {
    const workspace = tx.in(actor.workspaceId);
    const before = await requireConnection({ store: tx }, actor, serverId, connectionId);
    const isOwner = before.ownerUserId === actor.userId;
    if (!isOwner && !actsAsAdmin(actor)) throw onlyOwner();
    const access = await accessOf(workspace, body);
    const after = { ...before, ...access };
    if (!isNarrower(before, after)) {
      if (!isOwner) throw onlyOwner();
      await requireMaySign(workspace, before);
    }
    await workspace.connections.update(connectionId, access);
    if (before.status === "active") await fillGroup(workspace, after);
    await deps.audit.record(
      tx,
      actor,
      actOn(connectionId, "connection.access_changed", {
        from: before.visibility,
        to: after.visibility,
        before: summarize(membersOf(before)),
        after: summarize(membersOf(after)),
        isWidened: !isNarrower(before, after),
      }),
    );
    return { after, isWidened: !isNarrower(before, after) };
  });
  const connection = await toConnection(deps, actor, server, changed.after);
  return changed.isWidened ? { connection, warnings: [OWNERS_VIEW] } : { connection };
}

/** Ends a connection. Its owner and admins may do it. @throws ApiError `not_found`, `forbidden` */
export async function disconnect(
  deps: ServerDeps,
  { actor, params: { id: serverId, connectionId } }: MemberCall<typeof connectionRoutes.disconnect>,
) {
  const server = await requireServer(deps, actor, serverId);
  const ended = await deps.store.transaction(async (tx) => {
    const connection = await requireConnection({ store: tx }, actor, serverId, connectionId);
    if (connection.ownerUserId !== actor.userId && !actsAsAdmin(actor)) {
      throw forbidden("Only the connection's owner or an admin can disconnect it.");
    }
    return revokeConnection(deps, tx, actor.workspaceId, connection, "disconnected", actor);
  });
  deps.signal(ended.cancelled);
  giveBack(deps, [ended.grant]);
  const after = await deps.store.in(actor.workspaceId).connections.find(connectionId);
  if (!after) throw new Error("A revoked connection keeps its record for some days.");
  return { connection: await toConnection(deps, actor, server, after) };
}

/** Makes a connection that the actor owns. */
export function makeConnection(
  { clock, randomBytes }: Pick<ServerDeps, "clock" | "randomBytes">,
  actor: Actor,
  server: ProviderServerRecord,
  {
    name,
    ...rest
  }: Access & Pick<ConnectionRecord, "way"> & Omit<Partial<ConnectionRecord>, "name"> & { name: string | undefined },
): ConnectionRecord {
  const now = clock.now();
  return {
    connectionId: makeId("connection", randomBytes),
    serverId: server.serverId,
    ownerUserId: actor.userId,
    app: server.slug,
    name: name ?? server.name,
    status: "active",
    statusReason: null,
    accountId: null,
    accountLabel: null,
    scopes: [],
    authorization: null,
    pendingUntil: null,
    ...agreedAtFirst(server, now),
    lastUsedAt: null,
    lastCheckedAt: now,
    createdAt: now,
    ...rest,
  };
}

/**
 * Activates a connection: kb can read through it, and people with whom it is shared see the content. If its server
 * requires the owner to open a page first, the connection waits for that. Call it in a transaction.
 */
export async function activate(
  { secrets, audit, emit }: Pick<ServerDeps, "secrets" | "audit" | "emit">,
  tx: Store,
  actor: Actor,
  connection: ConnectionRecord,
  { own, expiresAt = null, action = "connection.created" }: Activation,
): Promise<void> {
  const { workspaceId } = actor;
  const workspace = tx.in(workspaceId);
  const { connectionId, serverId, way, visibility } = connection;
  if (own !== undefined) {
    await workspace.connections.putSecret(connectionId, {
      sealed: secrets.seal(workspaceId, connectionId, own),
      expiresAt,
    });
  }
  const isWaiting = connection.status !== "active";
  if (!isWaiting) await fillGroup(workspace, connection);
  await audit.record(tx, actor, actOn(connectionId, action, { serverId, way, visibility }));
  await emit(
    tx,
    workspaceId,
    isWaiting
      ? { type: "connection.needs_reauth", data: { connectionId, serverId, code: ELICITATION } }
      : { type: "connection.active", data: { connectionId, serverId } },
  );
}

/** The credentials with which a connection reads from now on. */
interface Activation {
  own?: ConnectionSecrets;
  expiresAt?: number | null;
  action?: "connection.created" | "connection.reconnected";
}

/**
 * Validates who may see the content of a connection; by default only its owner.
 *
 * @throws ApiError `unknown_member`, `unknown_group`
 */
export async function accessOf(
  workspace: Pick<WorkspaceStore, "members" | "groups">,
  access: ConnectionAccess | undefined,
): Promise<Access> {
  if (access === undefined) return { visibility: "private", memberIds: [], groupIds: [] };
  return { visibility: access.visibility, ...(await checkReaders(workspace, access)) };
}

/**
 * Opens a session and closes it. Returns the page that a person has to open first, if there is one.
 *
 * @throws ApiError `connection_failed`
 */
export async function tryConnection(
  deps: Pick<ServerDeps, "openMcp" | "log">,
  server: ProviderServerRecord,
  headers: Readonly<Record<string, string>>,
): Promise<{ isElicited: boolean; url?: string | undefined }> {
  const signal = AbortSignal.timeout(TEST_MS);
  try {
    const session = await deps.openMcp(
      makeTarget(server.url, async () => headers),
      signal,
    );
    await session.close();
    return { isElicited: false };
  } catch (error) {
    const problem = problemOf(error, "initialize", signal);
    if (!problem) throw error;
    const { step, code, message } = problem;
    deps.log.info({ serverId: server.serverId, step, code }, "a provider server refused a connection");
    if (code === ELICITATION) return { isElicited: true, url: problem.elicitationUrl };
    throw connectionFailed(message, { step, code, ...(code === "auth_required" && { field: "credentials.token" }) });
  }
}

/**
 * Checks that the person is still a member, and that the server hasn't changed since it was tested.
 *
 * @throws ApiError `not_found`, `connection_failed`
 */
export async function requireStill(tx: Store, actor: Actor, asked: ProviderServerRecord): Promise<void> {
  const { members, providerServers } = tx.in(actor.workspaceId);
  existing(await members.find(actor.userId));
  const today = await providerServers.find(asked.serverId);
  const isSame = today?.url === asked.url && today.authKind === asked.authKind;
  // The mapping is part of what the person agrees to.
  if (today?.isEnabled && isSame && isSameMapping(today, asked)) return;
  throw new ApiError("connection_failed", {
    message: `${asked.name} was changed while you were connecting. Try again.`,
  });
}

const OWNERS_VIEW =
  "Everyone you chose can now see what you see in this app, even if they can't see it in the app themselves. You can reduce access at any time.";

async function fillGroup(
  { access, members }: Pick<WorkspaceStore, "access" | "members">,
  connection: ConnectionRecord,
): Promise<void> {
  const owner = await members.find(connection.ownerUserId);
  const readers = readersOfConnection(connection, owner?.role);
  await access.setMembers(connectionPrincipal(connection.connectionId), readers, "kb");
}

function wayOf(actor: Actor, server: ProviderServerRecord, own: string | undefined, hasSecret: boolean): ConnectionWay {
  if (server.authKind === "none") {
    if (own === undefined) return "none";
    throw new ApiError("connection_failed", { message: `${server.name} takes no credentials.`, field: "credentials" });
  }
  if (own !== undefined) return "secret";
  // Only admins may share the content that the server's own secret gives access to.
  if (hasSecret && actsAsAdmin(actor)) return "server";
  throw new ApiError("connection_failed", {
    message: `${server.name} needs a token of yours.`,
    field: "credentials.token",
  });
}

function intentRequired({ name }: ProviderServerRecord): ApiError {
  return new ApiError("intent_required", {
    message: `${name} is connected in a browser.`,
    hint: "Connect it on the server's page, or with: kb servers connect",
  });
}

function onlyOwner(): ApiError {
  return forbidden("Only the owner of a connection can let more people see what it reads.");
}
