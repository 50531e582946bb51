import type { Sleep } from "#core/clock.ts";
import type { OneTime } from "#server/accounts/one-time.ts";
import type { Afterwards } from "#server/identity/mail/afterwards.ts";
import { makeRenewer } from "#server/accounts/renewal.ts";
import { VERSION } from "#api/version.ts";
import { MCP_PACE } from "#mcp-client/caps.ts";
import { makePace } from "#mcp-client/pace.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import { makeGuardedClient } from "#net/guarded-client.ts";
import { endConnector } from "#server/connectors/change.ts";
import type { ConnectorDeps } from "#server/connectors/deps.ts";
import type { Emit } from "#server/events/outbox.ts";
import type { OpenMcp, ServerDeps } from "#server/provider-servers/deps.ts";
import { type Discover, makeProviderOAuth } from "#server/provider-servers/oauth.ts";
import { makeSecretKeeper } from "#server/provider-servers/secrets.ts";
import { makeProviderSessions } from "#server/provider-servers/sessions.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import type { SourceHttpPool } from "#sources/http/pool.ts";
import { type Foundation, makeLimit } from "./foundation.ts";
import type { Identity } from "./identity.ts";

/** Opens sessions with provider servers. The MCP client is loaded on first use. */
export function makeMcpOpener({ guard, instanceId }: { guard: AddressGuard; instanceId: string }): OpenMcp {
  const client = makeGuardedClient({ guard, keepsConnections: false });
  const pace = makePace(MCP_PACE);
  return async (target, signal, isListening = false, caps = {}) => {
    const { openMcpSession } = await import("#mcp-client/session.ts");
    const clientInfo = { name: "kb", version: VERSION };
    const hop = { instanceId, before: [] };
    return openMcpSession(target, { client, signal, clientInfo, hop, isListening, caps, pace });
  };
}

/** Discovers, from a provider server's metadata, how to sign in there. The MCP client is loaded on first use. */
function makeDiscover(guard: AddressGuard, authorizationServers: readonly string[]): Discover {
  const client = makeGuardedClient({ guard, keepsConnections: false });
  return async (url, challenge, signal) => {
    const { discoverAuthorization } = await import("#mcp-client/authorization.ts");
    return discoverAuthorization({ url }, challenge, { client, signal, authorizationServers });
  };
}

/** Tests and connections per person and minute. Each sends a request to a server that a person names. */
const TRIES_PER_MINUTE = 20;

export type ProviderServers = ReturnType<typeof makeProviderServers>;

/** Builds the services for third-party MCP servers, and for reading through people's connections to these servers. */
export function makeProviderServers(
  { store, clock, log, randomBytes, vault, settings, addressGuard }: Foundation,
  { audit, cursors }: Pick<Identity, "audit" | "cursors">,
  adapters: {
    openMcp: OpenMcp;
    emit: Emit;
    http: SourceHttpPool;
    once: OneTime;
    sleep: Sleep;
    afterwards: Afterwards;
    syncs: ConnectorDeps["syncs"];
  },
) {
  const { openMcp, emit, syncs, http, once, sleep, afterwards } = adapters;
  const { baseUrl } = settings;
  const authorizationServers = (settings.mcpAuthorizationServers ?? []).map((place) => `https://${place}`);
  const serverDeps: ServerDeps = {
    store,
    clock,
    randomBytes,
    log,
    audit,
    cursors,
    secrets: makeSecretKeeper({ vault }),
    openMcp,
    discover: makeDiscover(addressGuard, authorizationServers),
    oauth: makeProviderOAuth({ http, baseUrl, authorizationServers, now: () => clock.now() }),
    once,
    afterwards,
    renewer: makeRenewer({ clock, randomBytes, sleep }),
    baseUrl,
    throttle: makeLimit({ clock, settings }, TRIES_PER_MINUTE, "tests of servers"),
    emit,
    endConnector: (tx, workspaceId, connector) => endConnector({ clock, syncs }, tx, workspaceId, connector),
    request: (tx, workspaceId, connector) =>
      requestSync(tx, workspaceId, connector, { trigger: "manual", now: clock.now(), randomBytes }),
    signal: syncs.signal,
  };
  return { serverDeps, sessions: makeProviderSessions(serverDeps) };
}
