import { defined } from "#core/defined.ts";
import { actOn } from "#storage/audit-act.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { makeId } from "#api/common.ts";
import { ApiError, existing } from "#api/errors.ts";
import type { ProviderServer, providerServerRoutes, ServerTest } from "#api/provider-servers.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { ProviderServerPatch, ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { Store } from "#storage/records/store.ts";
import { type ServerDeps, visibleConnections } from "./deps.ts";
import { afterTest } from "./health.ts";
import { inMemory, readPage } from "#server/http/pages.ts";
import { giveBack } from "./give-back.ts";
import { revokeConnection } from "./revoke.ts";
import { isSameServer, isWithin, parseAuth, parseServerUrl, placeOf, type ServerAuth } from "./target.ts";
import { testUnsaved } from "./tests.ts";
import { toServer } from "./view.ts";

/** Maximum number of servers in a workspace. */
const MOST_SERVERS = 100;

/** Lists the servers that the actor may see, the oldest first. @throws ApiError `invalid_cursor` */
export async function listServers(deps: ServerDeps, { actor, query }: MemberCall<typeof providerServerRoutes.list>) {
  const stored = await deps.store.in(actor.workspaceId).providerServers.list({ limit: MOST_SERVERS });
  const rows: ProviderServerRecord[] = [];
  for (const server of stored) {
    const isShown = server.isEnabled || actsAsAdmin(actor);
    if (isShown || (await visibleConnections(deps, actor, server.serverId)).length > 0) rows.push(server);
  }
  const all = inMemory(rows, ({ createdAt, serverId }) => ({ value: createdAt, id: serverId }));
  const list = { route: "GET /api/mcp-servers", kind: "server", ...all } as const;
  const { page, nextCursor } = await readPage(deps, actor, list, query);
  const servers: ProviderServer[] = [];
  for (const server of page) servers.push(await toServer(deps, actor, server));
  return { servers, nextCursor };
}

/**
 * Adds a server after it was tested.
 *
 * @throws ApiError `server_exists`, `server_check_failed` unless `force`, `server_config_invalid`, `quota_reached`
 */
export async function createServer(deps: ServerDeps, { actor, body }: MemberCall<typeof providerServerRoutes.create>) {
  const { store, clock, secrets, audit, randomBytes } = deps;
  const url = parseServerUrl(body.url);
  const { auth, secret } = parseAuth(body.auth);
  await requireRoom(store, actor, url);
  const test = await testUnsaved(deps, { actor, body: { url: body.url, auth: body.auth } });
  if (!test.ok && body.force !== true) throw checkFailed(test);
  const now = clock.now();
  const server: ProviderServerRecord = {
    serverId: makeId("server", randomBytes),
    name: body.name,
    url,
    slug: slugOf(body.name),
    ...auth,
    callback: makeCallback(deps),
    issuer: null,
    isEnabled: body.enabled ?? true,
    connectPolicy: body.connectPolicy ?? "members",
    apps: body.apps ?? null,
    mapping: null,
    mappedAt: null,
    mappedBy: null,
    health: "unknown",
    checkedAt: null,
    latencyMs: null,
    failures: 0,
    lastProblem: null,
    dueAt: null,
    serverInfo: null,
    protocolVersion: null,
    capabilities: null,
    createdAt: now,
    createdBy: actor.userId,
  };
  const stored = { ...server, ...afterTest(server, test, now, !test.ok) };
  await store.transaction(async (tx) => {
    await requireRoom(tx, actor, url);
    await tx.in(actor.workspaceId).providerServers.insert(stored);
    if (typeof secret === "string") await secrets.putServer(tx, actor.workspaceId, server.serverId, secret);
    const details = { url: placeOf(url), host: new URL(url).host, auth: auth.authKind, isForced: !test.ok };
    await audit.record(tx, actor, actOn(server.serverId, "server.created", details));
  });
  return { server: await toServer(deps, actor, stored), test };
}

/**
 * Changes a server. If it moves to another scheme, host or port, or to a path that isn't below the old one, every
 * secret is dropped unless the change includes it. While people have connections to it or are signing in, it can't be
 * moved at all. Source: S31.
 *
 * @throws ApiError `not_found`, `server_exists`, `server_has_connections`, `server_config_invalid`
 */
export async function updateServer(
  deps: ServerDeps,
  { actor, params: { id: serverId }, body }: MemberCall<typeof providerServerRoutes.update>,
) {
  const { store, clock, secrets, audit } = deps;
  const url = body.url === undefined ? undefined : parseServerUrl(body.url);
  const parsed = body.auth && parseAuth(body.auth);
  const changed = await store.transaction(async (tx) => {
    const workspace = tx.in(actor.workspaceId);
    const before = existing(await workspace.providerServers.find(serverId));
    if (url !== undefined && !isSameServer(url, before.url)) await requireRoom(tx, actor, url);
    const hasMoved = url !== undefined && !isWithin(before.url, url);
    const isOtherAuth = parsed !== undefined && !isSameAuth(before, parsed.auth);
    if (hasMoved || isOtherAuth) await requireUnconnected(tx, actor, before);
    const isGiven = typeof parsed?.secret === "string";
    const isDropped = hasMoved || isOtherAuth || parsed?.secret === null;
    if (isGiven || isDropped) {
      await secrets.putServer(tx, actor.workspaceId, serverId, parsed?.secret ?? null);
    }
    const isEnabled = body.enabled ?? before.isEnabled;
    const isTriedAgain = isEnabled && (isGiven || isDropped || url !== undefined || !before.isEnabled);
    const patch: ProviderServerPatch = {
      ...defined({ name: body.name, url }),
      ...(parsed && parsed.auth),
      ...((hasMoved || isOldCallback(before, parsed?.auth)) && { callback: makeCallback(deps) }),
      // A client from an admin is valid only at the authorization server where it was registered.
      ...((isGiven || isDropped) && { issuer: null }),
      ...defined({ connectPolicy: body.connectPolicy, apps: body.apps }),
      isEnabled,
      ...(isTriedAgain && { dueAt: clock.now() }),
      ...(!isEnabled && { dueAt: null }),
      // The server's health and description came from the previous address.
      ...(hasMoved && UNKNOWN),
    };
    await workspace.providerServers.update(serverId, patch);
    const details = {
      fields: Object.keys(body),
      hasMoved,
      ...(url !== undefined && { from: placeOf(before.url), to: placeOf(url) }),
      secret: isGiven ? "given" : isDropped ? "dropped" : "kept",
    };
    await audit.record(tx, actor, actOn(serverId, "server.changed", details));
    return { ...before, ...patch };
  });
  deps.signal();
  return { server: await toServer(deps, actor, changed) };
}

/**
 * Deletes a server: its connections are revoked, and the content read through them is deleted.
 *
 * @throws ApiError `not_found`
 */
export async function removeServer(
  deps: ServerDeps,
  { actor, params: { id: serverId } }: MemberCall<typeof providerServerRoutes.remove>,
) {
  const { store, audit } = deps;
  const before = existing(await store.in(actor.workspaceId).providerServers.find(serverId));
  const server = await toServer(deps, actor, before);
  const ended = await store.transaction(async (tx) => {
    const workspace = tx.in(actor.workspaceId);
    const connections = await workspace.connections.list({ serverId });
    const all = [];
    for (const connection of connections) {
      all.push(await revokeConnection(deps, tx, actor.workspaceId, connection, "server_deleted"));
    }
    await workspace.providerServers.remove(serverId);
    const details = { connections: connections.length };
    await audit.record(tx, actor, actOn(serverId, "server.deleted", details));
    return all;
  });
  deps.signal(ended.flatMap(({ cancelled }) => cancelled));
  giveBack(
    deps,
    ended.map(({ grant }) => grant),
  );
  return { server: { ...server, enabled: false } };
}

/** The callback is made before the client, whose registration contains it. Source: S30. */
function makeCallback({ randomBytes }: Pick<ServerDeps, "randomBytes">): string {
  return Buffer.from(randomBytes(12)).toString("base64url");
}

/** All servers once shared a callback address. It is replaced together with the client that was registered with it. */
function isOldCallback({ callback, clientId }: ProviderServerRecord, auth: ServerAuth | undefined): boolean {
  return callback === null && auth !== undefined && auth.clientId !== clientId;
}

const UNKNOWN = {
  health: "unknown",
  checkedAt: null,
  latencyMs: null,
  failures: 0,
  lastProblem: null,
  serverInfo: null,
  protocolVersion: null,
  capabilities: null,
} as const satisfies ProviderServerPatch;

function isSameAuth(before: ServerAuth, after: ServerAuth): boolean {
  const { authKind, headerName, clientId } = after;
  return before.authKind === authKind && before.headerName === headerName && before.clientId === clientId;
}

async function requireRoom(store: Store, actor: Actor, url: string): Promise<void> {
  const all = await store.in(actor.workspaceId).providerServers.list({ limit: MOST_SERVERS });
  const same = all.find((server) => isSameServer(server.url, url));
  if (same) {
    throw new ApiError("server_exists", { message: `"${same.name}" is this server.`, field: "url" });
  }
  if (all.length < MOST_SERVERS) return;
  throw new ApiError("quota_reached", { message: `A workspace has at most ${MOST_SERVERS} servers.` });
}

async function requireUnconnected(tx: Store, actor: Actor, server: ProviderServerRecord): Promise<void> {
  const connections = await tx.in(actor.workspaceId).connections.list({ serverId: server.serverId });
  const open = connections.filter(({ status }) => status !== "expired" && status !== "failed");
  if (open.length === 0) return;
  throw new ApiError("server_has_connections", {
    message: `People have connected ${server.name}, or are signing in. Their credentials are only for ${placeOf(server.url)} and paths below it.`,
    hint: "Add the new address as another server, or disconnect them first.",
  });
}

function checkFailed({ steps }: ServerTest): ApiError {
  const failed = steps.find(({ ok }) => !ok);
  return new ApiError("server_check_failed", {
    message: failed?.problem?.message ?? "The test failed.",
    hint: "Change the URL or auth, or add it anyway with --force (in the API: force: true).",
    details: { step: failed?.step, problem: failed?.problem?.code },
  });
}

/** Returns the name of a server's app in paths. */
function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  return slug === "" ? "app" : slug;
}
