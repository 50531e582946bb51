import type { MemberCall } from "#server/http/mount.ts";
import type { ConnectionIntent, connectionRoutes, OpenedIntent } from "#api/connections.ts";
import { makeId } from "#api/common.ts";
import { ApiError, existing, forbidden } from "#api/errors.ts";
import { safeReturnTo } from "#api/return-to.ts";
import { isoOf } from "#core/instant.ts";
import { hashSecret, randomSecret } from "#core/secrets.ts";
import type { McpAuthorization } from "#mcp-client/authorization.ts";
import { type McpChallenge, McpProblem } from "#mcp-client/problem.ts";
import { withQuery } from "#server/accounts/address.ts";
import { FLOW_MS, type OpenedFlow } from "#server/accounts/one-time.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import { requireConnectable } from "./apps.ts";
import { accessOf, makeConnection, requireStill } from "./connections.ts";
import { requireConnection, requireEnabled, requireServer, type ServerDeps } from "./deps.ts";
import { ELICITATION, findElicitation, isElicited } from "./elicitation.ts";
import { connectionFailed, failPending } from "./fail.ts";
import { type AwayFlow, contentOf, type IntentFlow, type PageFlow } from "./flows.ts";
import { linkInvalid } from "./link-invalid.ts";
import type { RegisteredClient } from "./oauth.ts";
import { keepSigningIn } from "./signing-in.ts";
import { makeTarget } from "./target.ts";
import { problemOf, TEST_MS } from "./test-run.ts";

/** The page that shows what will be connected, and the account that was found. Source: S30. */
export const CONNECT_PAGE = "/connect";

/** Maximum number of connections that wait for a person to sign in. */
const MOST_PENDING = 20;

/**
 * Starts to connect an app in a browser. It doesn't redirect yet: the returned address is a page of this server. The
 * address works once, for 10 minutes, and only in a browser in which the same person is signed in.
 *
 * @throws ApiError `not_found`, `app_unknown`, `intent_not_needed`, `connection_failed` with step and code,
 *   `server_disabled`, `forbidden`, `unknown_member`, `unknown_group`, `rate_limited`
 */
export async function createIntent(
  deps: ServerDeps,
  { actor, params: { id: serverId }, body }: MemberCall<typeof connectionRoutes.intend>,
) {
  const { store, clock } = deps;
  const workspace = store.in(actor.workspaceId);
  const server = await requireServer(deps, actor, serverId);
  requireConnectable(actor, server, body.app);
  const again = body.reconnect === undefined ? undefined : await requireOwn(deps, actor, serverId, body.reconnect);
  if (again && isElicited(again)) return intendPage(deps, actor, again, body.returnTo);
  if (server.authKind !== "oauth") throw notNeeded(server);
  const access = await accessOf(workspace, body.access);
  await requireRoom(deps, actor);
  deps.throttle.take(actor.userId);
  const found = await findSignIn(deps, server);
  const pendingUntil = clock.now() + FLOW_MS;
  const connection =
    again ??
    makeConnection(deps, actor, server, {
      ...access,
      way: "oauth",
      name: body.name,
      status: "pending",
      pendingUntil,
      lastCheckedAt: null,
    });
  await store.transaction(async (tx) => {
    await requireStill(tx, actor, server);
    if (!again) await tx.in(actor.workspaceId).connections.insert(connection);
  });
  const intentId = makeId("intent", deps.randomBytes);
  const content: IntentFlow = {
    intentId,
    serverId,
    found,
    shown: { url: server.url, authKind: server.authKind, clientId: server.clientId },
    scopes: [...new Set([...(again?.scopes ?? []), ...(again?.authorization?.wanted ?? []), ...found.scopes])],
    again: again !== undefined,
    ...(body.access && { access }),
  };
  return begin(deps, actor, connection, content, body.returnTo);
}

/** Makes an intent for the page that the owner of a connection has to open at the server's request. */
async function intendPage(
  deps: ServerDeps,
  actor: Actor,
  connection: ConnectionRecord,
  returnTo: string | undefined,
): Promise<{ intent: ConnectionIntent }> {
  const page = await findElicitation(deps, connection.connectionId);
  if (page === undefined) {
    throw connectionFailed("kb no longer knows the page that the server wants you to open. Test the connection.", {
      step: "auth",
      code: ELICITATION,
    });
  }
  const intentId = makeId("intent", deps.randomBytes);
  const content: PageFlow = { intentId, serverId: connection.serverId, page, scopes: [], again: true };
  return begin(deps, actor, connection, content, returnTo);
}

async function begin(
  { once, clock, baseUrl }: ServerDeps,
  { workspaceId, userId }: Actor,
  { connectionId, serverId }: ConnectionRecord,
  content: IntentFlow | PageFlow,
  returnTo: string | undefined,
): Promise<{ intent: ConnectionIntent }> {
  const secret = await once.begin("intent", {
    workspaceId,
    userId,
    sessionId: "",
    providerId: connectionId,
    returnTo: returnTo === undefined ? `/workspace/servers/${serverId}` : safeReturnTo(returnTo),
    content,
  });
  return {
    intent: {
      id: content.intentId,
      connectionId,
      status: "pending",
      redirectUrl: `${baseUrl}${CONNECT_PAGE}#intent=${secret}`,
      expiresAt: isoOf(clock.now() + FLOW_MS),
    },
  };
}

/**
 * Returns what an intent would connect, for the confirmation page.
 *
 * @throws ApiError `link_invalid`, `forbidden` for another person
 */
export async function readIntent(deps: ServerDeps, actor: Actor, secret: string): Promise<{ intent: OpenedIntent }> {
  const { flow, content, connection, server } = await requireIntent(deps, actor, secret);
  return {
    intent: {
      id: content.intentId,
      kind: "page" in content ? "elicitation" : "sign_in",
      serverId: server.serverId,
      serverName: server.name,
      serverHost: new URL("page" in content ? server.url : content.shown.url).host,
      opensHost: new URL("page" in content ? content.page : content.found.authorizationEndpoint).host,
      app: connection.app,
      name: connection.name,
      scopes: [...content.scopes],
      isReconnect: content.again,
      returnTo: flow.returnTo,
      expiresAt: isoOf(flow.expiresAt),
    },
  };
}

/**
 * Opens an intent. From then on it belongs to this session, and to the browser that gets the secret in a cookie.
 *
 * @throws ApiError `link_invalid`, `forbidden` for another person, `server_disabled`, `connection_failed`
 */
export async function openIntent(
  deps: ServerDeps,
  actor: Actor,
  secret: string,
): Promise<{ url: string; browserSecret?: string }> {
  const { once, oauth, randomBytes } = deps;
  const { connection, server, content } = await requireIntent(deps, actor, secret);
  requireEnabled(server);
  const flow = await once.take("intent", secret);
  if (!flow) throw linkInvalid();
  if ("page" in content) return { url: content.page };
  try {
    await keepSigningIn(deps, actor.workspaceId, connection.connectionId, content);
    const client = await registerAt(deps, actor, server, content.found);
    const [verifier, browserSecret] = [randomSecret(randomBytes), randomSecret(randomBytes)];
    const away: AwayFlow = { ...content, client, verifier, browserHash: hashSecret(browserSecret) };
    const { workspaceId, userId, providerId, returnTo } = flow;
    const sessionId = actor.credential.id;
    const state = await once.begin("intent_away", {
      workspaceId,
      userId,
      sessionId,
      providerId,
      returnTo,
      content: away,
    });
    return { url: oauth.addressOf(content.found, client, { scopes: content.scopes, state, verifier }), browserSecret };
  } catch (error) {
    await failPending(deps, actor.workspaceId, connection.connectionId, "sign_in_failed");
    throw error;
  }
}

interface KnownIntent {
  flow: OpenedFlow;
  content: IntentFlow | PageFlow;
  connection: ConnectionRecord;
  server: ProviderServerRecord;
}

async function requireIntent({ store, once }: ServerDeps, actor: Actor, secret: string): Promise<KnownIntent> {
  const flow = await once.find("intent", secret);
  if (!flow) throw linkInvalid();
  if (flow.userId !== actor.userId || flow.workspaceId !== actor.workspaceId) {
    throw forbidden(
      "This link is only for the person who started to connect the app, in the workspace where they started.",
      "Sign in as that person, or start again from your own account.",
    );
  }
  const { connections, providerServers } = store.in(flow.workspaceId);
  const content = contentOf("intent", flow);
  const connection = await connections.find(flow.providerId);
  const server = await providerServers.find(content.serverId);
  if (!connection || !server || connection.status === "revoked") throw linkInvalid();
  return { flow, content, connection, server };
}

/**
 * Finds the actor's own connection, to which they have signed in before.
 *
 * @throws ApiError `not_found`, `forbidden`, `connection_failed`
 */
async function requireOwn(
  deps: ServerDeps,
  actor: Actor,
  serverId: string,
  connectionId: string,
): Promise<ConnectionRecord> {
  const connection = await requireConnection(deps, actor, serverId, connectionId);
  if (connection.ownerUserId !== actor.userId) {
    throw forbidden("Only the connection's owner can connect it again.");
  }
  if (isElicited(connection)) return connection;
  if (connection.way === "oauth" && (connection.status === "active" || connection.status === "needs_reauth")) {
    return connection;
  }
  throw new ApiError("connection_failed", {
    message: "This connection can't be connected again. Make a new one.",
    field: "reconnect",
  });
}

async function requireRoom({ store, clock }: ServerDeps, { workspaceId, userId }: Actor): Promise<void> {
  const mine = await store.in(workspaceId).connections.list({ ownerUserId: userId });
  const open = mine.filter(({ status, pendingUntil }) => status === "pending" && (pendingUntil ?? 0) > clock.now());
  if (open.length < MOST_PENDING) return;
  throw new ApiError("rate_limited", {
    message: "Too many of your connections are waiting for you to sign in. Finish one, or wait 10 minutes.",
    retryAfterMs: FLOW_MS,
  });
}

/** Discovers how to sign in at a server at the moment. @throws ApiError `connection_failed` */
async function findSignIn(deps: ServerDeps, server: ProviderServerRecord): Promise<McpAuthorization> {
  const signal = AbortSignal.timeout(TEST_MS);
  try {
    const found = await deps.discover(server.url, await challengeOf(deps, server, signal), signal);
    // The scope is added only to other scopes. Alone it would replace them all.
    const asksWho = found.supportsOpenId && found.scopes.length > 0 && !found.scopes.includes("openid");
    return asksWho ? { ...found, scopes: [...found.scopes, "openid"] } : found;
  } catch (error) {
    const problem = problemOf(error, "auth", signal);
    if (!problem) throw error;
    const { step, code, message, metadata } = problem;
    deps.log.info({ serverId: server.serverId, step, code, metadata }, "sign-in at a provider server can't start");
    throw connectionFailed(message, { step, code });
  }
}

/**
 * Returns the server's challenge to an unauthenticated client. Empty if the server only challenges individual requests.
 */
async function challengeOf(
  { openMcp }: ServerDeps,
  { url }: ProviderServerRecord,
  signal: AbortSignal,
): Promise<McpChallenge> {
  try {
    const session = await openMcp(
      makeTarget(url, async () => ({})),
      signal,
    );
    await session.close();
    return {};
  } catch (error) {
    if (error instanceof McpProblem && error.code === "auth_required") return error.challenge ?? {};
    throw error;
  }
}

/**
 * Registers kb at an authorization server. A client that an admin registered is for the first server named, and its
 * secret is sent to no other. Source: S31.
 */
async function registerAt(
  { store, secrets, oauth }: ServerDeps,
  { workspaceId }: Actor,
  { serverId, clientId, callback }: ProviderServerRecord,
  found: McpAuthorization,
): Promise<RegisteredClient> {
  if (clientId === null) return oauth.register(found, { clientId, secret: undefined, callback });
  await store.transaction(async (tx) => {
    const { providerServers } = tx.in(workspaceId);
    const today = existing(await providerServers.find(serverId));
    if (today.issuer === null) await providerServers.update(serverId, { issuer: found.issuer });
    else if (today.issuer !== found.issuer) {
      throw connectionFailed("The server names a different authorization server than the one kb is registered at.", {
        step: "auth",
        code: "issuer_changed",
      });
    }
  });
  return oauth.register(found, { clientId, secret: await secrets.ofServer(store, workspaceId, serverId), callback });
}

/** Returns the page on which the flow ends, with the codes of the contract. */
export function endOf(
  { returnTo }: Pick<OpenedFlow, "returnTo">,
  intentId: string,
  status: "connected" | "failed" | "cancelled",
  reason?: string,
): string {
  return withQuery(returnTo, { intent: intentId, status, ...(reason !== undefined && { reason }) });
}

function notNeeded({ name }: ProviderServerRecord): ApiError {
  return new ApiError("intent_not_needed", {
    message: `${name} is connected without a browser.`,
    hint: "Connect it without an intent, on the page of the server or with kb servers connect.",
  });
}
