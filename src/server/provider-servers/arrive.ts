import type { Connection, FoundConnection } from "#api/connections.ts";
import { isApiError } from "#api/errors.ts";
import { hashSecret } from "#core/secrets.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import { type ProviderAnswer, readAnswer, withQuery } from "#server/accounts/address.ts";
import { FLOW_MS, type OpenedFlow } from "#server/accounts/one-time.ts";
import { resumeConnectors } from "#server/accounts/reauth.ts";
import { GrantRefused } from "#server/accounts/token-endpoint.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { Store } from "#storage/records/store.ts";
import { requireConnectable } from "./apps.ts";
import { activate, makeConnection, requireStill, tryConnection } from "./connections.ts";
import type { ServerDeps } from "./deps.ts";
import { failPending } from "./fail.ts";
import { type AwayFlow, contentOf, type FoundFlow } from "./flows.ts";
import { CONNECT_PAGE, endOf } from "./intents.ts";
import { linkInvalid } from "./link-invalid.ts";
import type { ConnectionSecrets } from "./secrets.ts";
import { keepSigningIn, requireShown } from "./signing-in.ts";
import { signWith } from "./target.ts";
import { toConnection } from "./view.ts";

/**
 * Handles the browser's return from the provider. The page that it redirects to reports errors. The provider's own
 * error text is never shown. Tokens are requested only in the session and the browser that were sent to the provider.
 *
 * @param actor the person whose session the browser has
 * @param back the query, and the last segment of the callback's path
 * @param browserSecret the secret in the browser's cookie
 * @returns a page of this server
 */
export async function arriveIntent(
  deps: ServerDeps,
  actor: Actor | undefined,
  back: { query: string; callback?: string },
  browserSecret: string | undefined,
): Promise<string> {
  const answer = readAnswer(back.query);
  const flow = await deps.once.find("intent_away", answer.state);
  if (!flow) return lost();
  const content = contentOf("intent_away", flow);
  // If another person sends the callback, the flow isn't used up, and its owner can still come back.
  if (!actor || !isSameBrowser(flow, content, actor, browserSecret)) return lost();
  if (!(await deps.once.take("intent_away", answer.state))) return lost();
  const end = async (status: "failed" | "cancelled", reason: string) => {
    await failPending(deps, actor.workspaceId, flow.providerId, reason);
    return endOf(flow, content.intentId, status, reason);
  };
  if (answer.isRefused) return end("cancelled", "denied");
  const isFromThere = isIssuer(content, answer) && content.client.callback === back.callback;
  if (answer.code === undefined || !isFromThere) return end("failed", "sign_in_failed");
  try {
    const server = await keepSigningIn(deps, actor.workspaceId, flow.providerId, content);
    const found = await redeem(deps, server, content, answer.code);
    return await judge(deps, actor, flow, found);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    deps.log.warn({ serverId: content.serverId, reason }, "a sign-in at a provider server failed");
    return end("failed", reason);
  }
}

/** Returns the person found at the provider, for the confirmation page. @throws ApiError `link_invalid` */
export async function describeFoundConnection(
  deps: ServerDeps,
  actor: Actor,
  id: string,
): Promise<{ found: FoundConnection }> {
  const flow = await deps.once.find("intent_found", id);
  if (!flow || !isOwn(flow, actor)) throw linkInvalid();
  const { account, scopes, again, access, serverId, shown } = contentOf("intent_found", flow);
  const { connections, providerServers } = deps.store.in(actor.workspaceId);
  const server = await providerServers.find(serverId);
  const connection = await connections.find(flow.providerId);
  if (!server || !connection) throw linkInvalid();
  const { visibility } = again ? (access ?? PRIVATE) : connection;
  return {
    found: {
      serverId,
      serverName: server.name,
      serverHost: new URL(shown.url).host,
      account,
      scopes: [...scopes],
      isNewInstead: again,
      access: { visibility },
    },
  };
}

/** Revokes the tokens of an account that the person didn't confirm in time. */
export async function endLapsedConnection(deps: Pick<ServerDeps, "oauth" | "log">, flow: OpenedFlow): Promise<void> {
  const { client, secrets } = contentOf("intent_found", flow);
  if (client.authorization.revocationEndpoint === undefined) return;
  const isRevoked = await deps.oauth.revoke(client, secrets);
  if (!isRevoked) deps.log.warn({ connectionId: flow.providerId }, "tokens could not be revoked at a provider");
}

/**
 * Records whether the person confirms that the account is theirs.
 *
 * @throws ApiError `link_invalid`, `connection_failed`, `server_disabled`
 */
export async function decideFoundConnection(
  deps: ServerDeps,
  actor: Actor,
  id: string,
  isAccepted: boolean,
): Promise<{ connection: Connection | null; returnTo: string }> {
  const known = await deps.once.find("intent_found", id);
  // A flow of another person keeps its tokens.
  const flow = known && isOwn(known, actor) ? await deps.once.take("intent_found", id) : undefined;
  if (!flow) throw linkInvalid();
  const content = contentOf("intent_found", flow);
  const giveBack = async () => {
    await deps.oauth.revoke(content.client, content.secrets);
    await failPending(deps, actor.workspaceId, flow.providerId, "denied");
  };
  if (!isAccepted) {
    await giveBack();
    return { connection: null, returnTo: endOf(flow, content.intentId, "cancelled", "denied") };
  }
  try {
    const { connection, server } = await keep(deps, actor, flow, content);
    return {
      connection: await toConnection(deps, actor, server, connection),
      returnTo: endOf(flow, content.intentId, "connected"),
    };
  } catch (error) {
    await giveBack();
    throw error;
  }
}

const PRIVATE = { visibility: "private", memberIds: [], groupIds: [] } as const;

function isSameBrowser(
  flow: OpenedFlow,
  { browserHash }: AwayFlow,
  actor: Actor,
  browserSecret: string | undefined,
): boolean {
  return isOwn(flow, actor) && browserSecret !== undefined && hashSecret(browserSecret) === browserHash;
}

/** Whether the flow belongs to this session. */
function isOwn({ workspaceId, userId, sessionId }: OpenedFlow, actor: Actor): boolean {
  return workspaceId === actor.workspaceId && userId === actor.userId && sessionId === actor.credential.id;
}

/**
 * Checks the issuer of the response. An issuer that promises to identify itself must do so. An issuer that identifies
 * itself must be the one to which the person was sent. Source: RFC 9207.
 */
function isIssuer({ found }: AwayFlow, { issuer }: ProviderAnswer): boolean {
  return issuer === undefined ? !found.sendsIssuer : issuer === found.issuer;
}

/** Exchanges a code for tokens, and checks that they are accepted by the server that the person was shown. */
async function redeem(
  deps: ServerDeps,
  server: ProviderServerRecord,
  content: AwayFlow,
  code: string,
): Promise<FoundFlow> {
  const { client, verifier, browserHash: _browserHash, found: _found, ...intent } = content;
  const granted = await deps.oauth.redeem(client, code, verifier);
  const { accessToken: token, refreshToken } = granted.secrets;
  const isOwnClient = server.clientId !== client.authorization.clientId;
  const secrets: ConnectionSecrets = {
    token,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(isOwnClient && client.clientSecret !== undefined && { clientSecret: client.clientSecret }),
  };
  try {
    await tryConnection(deps, server, signWith(server, token));
  } catch (error) {
    await deps.oauth.revoke(client, secrets);
    throw error;
  }
  return {
    ...intent,
    client,
    secrets,
    expiresAt: granted.expiresAt,
    scopes: [...(granted.scopes ?? content.scopes)],
    account: deps.oauth.accountOf(client, granted.idToken) ?? null,
  };
}

/**
 * Reconnects the same account at once, and refuses a different one. In all other cases the person is asked to confirm
 * the account.
 */
async function judge(deps: ServerDeps, actor: Actor, flow: OpenedFlow, found: FoundFlow): Promise<string> {
  const { connections } = deps.store.in(actor.workspaceId);
  const connection = await connections.find(flow.providerId);
  const standing = connection && found.again ? standingOf(connection, found) : "unknown";
  if (standing === "other") {
    await deps.oauth.revoke(found.client, found.secrets);
    return endOf(flow, found.intentId, "failed", "other_account");
  }
  if (standing === "same") {
    try {
      await keep(deps, actor, flow, found);
    } catch (error) {
      await deps.oauth.revoke(found.client, found.secrets);
      throw error;
    }
    return endOf(flow, found.intentId, "connected");
  }
  if (!found.again) await connections.update(flow.providerId, { pendingUntil: deps.clock.now() + FLOW_MS });
  const { workspaceId, userId, sessionId, providerId, returnTo } = flow;
  const at = { workspaceId, userId, sessionId, providerId, returnTo };
  return `${CONNECT_PAGE}/found#found=${await deps.once.begin("intent_found", { ...at, content: found })}`;
}

/**
 * Whether the account that signed in again is the same, according to the same authorization server. `unknown` if the
 * server doesn't identify the account.
 */
function standingOf(
  { accountId, authorization }: Pick<ConnectionRecord, "accountId" | "authorization">,
  { account, client }: FoundFlow,
): "same" | "other" | "unknown" {
  if (accountId === null || account === null) return "unknown";
  if (authorization?.issuer !== client.authorization.issuer) return "unknown";
  return account.id === accountId ? "same" : "other";
}

/** Stores the account in the pending connection, or in the connection of the same account, otherwise in a new one. */
async function keep(
  deps: ServerDeps,
  actor: Actor,
  flow: OpenedFlow,
  content: FoundFlow,
): Promise<{ connection: ConnectionRecord; server: ProviderServerRecord }> {
  const { workspaceId } = actor;
  const kept = await deps.store.transaction(async (tx) => {
    const workspace = tx.in(workspaceId);
    const server = await workspace.providerServers.find(content.serverId);
    const before = await workspace.connections.find(flow.providerId);
    if (!server || !before || before.status === "revoked") throw linkInvalid();
    requireConnectable(actor, server, before.app);
    await requireStill(tx, actor, server);
    requireShown(server, content.shown);
    const patch = {
      status: "active",
      statusReason: null,
      accountId: content.account?.id ?? null,
      accountLabel: content.account?.label ?? null,
      scopes: content.scopes,
      authorization: content.client.authorization,
      pendingUntil: null,
      lastCheckedAt: deps.clock.now(),
    } as const;
    const tokens = { own: content.secrets, expiresAt: content.expiresAt };
    if (!content.again) {
      if (before.status !== "pending") throw linkInvalid();
      const connection = { ...before, ...patch };
      await workspace.connections.update(before.connectionId, patch);
      await activate(deps, tx, actor, connection, tokens);
      return { connection, server };
    }
    if (standingOf(before, content) === "same")
      return { connection: await resume(deps, tx, actor, before, patch, tokens), server };
    const access = content.access ?? PRIVATE;
    const { name } = before;
    const connection = makeConnection(deps, actor, server, { ...access, ...patch, way: "oauth", name });
    await workspace.connections.insert(connection);
    await activate(deps, tx, actor, connection, tokens);
    return { connection, server };
  });
  deps.signal();
  return kept;
}

/** Reconnects the same account. Content that was read through it becomes visible again, and its connectors resume. */
export async function resume(
  deps: ServerDeps,
  tx: Store,
  actor: Actor,
  before: ConnectionRecord,
  patch: Partial<ConnectionRecord>,
  tokens: { own?: ConnectionSecrets; expiresAt?: number | null },
): Promise<ConnectionRecord> {
  const { connections, connectors } = tx.in(actor.workspaceId);
  const connection = { ...before, ...patch };
  await connections.update(before.connectionId, patch);
  await activate(deps, tx, actor, connection, { ...tokens, action: "connection.reconnected" });
  await resumeConnectors(
    tx,
    deps.request,
    actor.workspaceId,
    await connectors.listOn({ connectionId: before.connectionId }),
  );
  return connection;
}

/** Returns the page for a link that is no longer valid. */
function lost(): string {
  return withQuery(CONNECT_PAGE, { status: "failed", reason: "expired" });
}

/** The code of the reason why the connection failed. Undefined for errors that aren't the provider's fault. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof GrantRefused) return "sign_in_failed";
  if (error instanceof McpProblem) return error.code;
  if (!isApiError(error)) return undefined;
  const { problem } = (error.details ?? {}) as { problem?: unknown };
  if (error.code === "connection_failed" && typeof problem === "string") return problem;
  return error.class === "internal" ? undefined : "sign_in_failed";
}
