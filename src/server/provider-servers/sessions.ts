import { ApiError, isApiError, noSuchThing, existing } from "#api/errors.ts";
import type { McpCaps } from "#mcp-client/caps.ts";
import type { McpSession } from "#mcp-client/contract.ts";
import { parseMapping, type ToolMapping } from "#mcp-client/mapping.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import { asAgreed } from "./as-agreed.ts";
import { requireEnabled, type ServerDeps } from "./deps.ts";
import { waitForElicitation } from "./elicitation.ts";
import { headersOf } from "./headers.ts";
import { loseConnection, noteWanted } from "./lose.ts";
import { ownerMaySign, requireMaySign } from "./signing.ts";
import { makeTarget } from "./target.ts";
import { renewRefused, type TokenDeps } from "./tokens.ts";

/** Options of a session. */
export interface SessionWish {
  signal: AbortSignal;
  /**
   * The caller, since only its owner may use a connection. Absent for a sync, whose connector has the same owner as the
   * connection.
   */
  actor?: Actor;
  /** Whether the owner tries a tool manually. Then any tool is allowed. */
  isOwnersAct?: boolean;
  /** Whether the session receives the server's notifications. */
  isListening?: boolean;
  caps?: Partial<McpCaps>;
}

/** A connection to a server with a mapped search tool. */
export interface SearchableConnection {
  connectionId: string;
  serverName: string;
  /** Whether the owner has to agree to the mapping first. */
  isWaiting: boolean;
  mapping: ToolMapping & { search: NonNullable<ToolMapping["search"]> };
}

/** The functions with which a source reads through a connection. */
interface ConnectionWay {
  open(options: { signal: AbortSignal; isListening?: boolean }): Promise<McpSession>;
  mapping: ToolMapping | undefined;
  isWaiting: boolean;
}

/** Makes the sessions with which the rest of this server reads through people's connections. */
export function makeProviderSessions(deps: TokenDeps & Pick<ServerDeps, "openMcp" | "once" | "request">) {
  const { store, clock } = deps;

  async function lose(workspaceId: string, connectionId: string, error: unknown): Promise<void> {
    if (isApiError(error, "source_unauthorized")) {
      await loseConnection(deps, workspaceId, connectionId, "secret_missing");
    } else if (error instanceof McpProblem && error.code === "auth_required") {
      await loseConnection(deps, workspaceId, connectionId, "refused");
    } else if (error instanceof McpProblem && error.code === "elicitation_required") {
      await waitForElicitation(deps, workspaceId, connectionId, error.elicitationUrl);
    } else if (error instanceof McpProblem && error.code === "forbidden") {
      await noteWanted(deps, workspaceId, connectionId, error.challenge ?? {});
    }
  }

  return {
    /**
     * Opens a session on behalf of the owner of a connection. Each request is signed separately, so after a revocation
     * none is. If the server no longer accepts the connection, it becomes `needs_reauth`.
     *
     * @throws McpProblem; ApiError `not_found` if the connection isn't the actor's, `source_unauthorized`,
     *   `server_disabled`
     */
    async sessionFor(workspaceId: string, connectionId: string, wish: SessionWish): Promise<McpSession> {
      const workspace = store.in(workspaceId);
      const connection = existing(await workspace.connections.find(connectionId));
      const server = existing(await workspace.providerServers.find(connection.serverId));
      if (wish.actor && wish.actor.userId !== connection.ownerUserId) throw noSuchThing();
      requireEnabled(server);
      await noteUse(connection, workspaceId);
      let signed: Readonly<Record<string, string>> = {};
      const target = makeTarget(
        server.url,
        async () => (signed = await headersOf(deps, workspaceId, server, connectionId)),
      );
      const ask = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        try {
          return await (connection.way === "oauth" ? renewedOnce(work) : work());
        } catch (error) {
          await lose(workspaceId, connectionId, error);
          throw error;
        }
      };
      // A token can end before its expiry. In that case it is renewed, and the request is repeated.
      const renewedOnce = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        try {
          return await work();
        } catch (error) {
          const stale = /^Bearer (.+)$/.exec(signed["authorization"] ?? "")?.[1];
          if (!(error instanceof McpProblem) || error.code !== "auth_required" || stale === undefined) throw error;
          const challenge = error.challenge ?? {};
          await renewRefused(deps, workspaceId, { connectionId, server, stale, challenge });
          return work();
        }
      };
      const session = watched(await ask(() => deps.openMcp(target, wish.signal, wish.isListening, wish.caps)), ask);
      return wish.isOwnersAct ? session : asAgreed(deps, session, { workspaceId, connectionId });
    },

    /** Returns the person's own connections through which kb can read now. */
    async connectionsUsableBy({ workspaceId, userId }: Pick<Actor, "workspaceId" | "userId">) {
      const workspace = store.in(workspaceId);
      const { connections, providerServers } = workspace;
      const usable: ConnectionRecord[] = [];
      for (const connection of await connections.list({ ownerUserId: userId })) {
        const server = await providerServers.find(connection.serverId);
        const isOn = connection.status === "active" && server?.isEnabled;
        if (isOn && (await ownerMaySign(workspace, connection))) usable.push(connection);
      }
      return usable;
    },

    /** Returns the person's own connections that a live search can query, the oldest first. */
    async searchableBy(actor: Pick<Actor, "workspaceId" | "userId">): Promise<SearchableConnection[]> {
      const workspace = store.in(actor.workspaceId);
      const { connections, providerServers } = workspace;
      const own = await connections.list({ ownerUserId: actor.userId });
      const active = own.filter(({ status }) => status === "active");
      const found = await Promise.all(
        active.map(async (connection): Promise<SearchableConnection[]> => {
          const { connectionId, serverId, waitingSince } = connection;
          if (!(await ownerMaySign(workspace, connection))) return [];
          const server = await providerServers.find(serverId);
          const mapping = server?.isEnabled ? parseMapping(server.mapping) : undefined;
          if (!server || mapping?.search === undefined) return [];
          const isWaiting = waitingSince !== null;
          const { search } = mapping;
          return [{ connectionId, serverName: server.name, isWaiting, mapping: { ...mapping, search } }];
        }),
      );
      return found.flat();
    },

    /** Returns the mapping of the server's tools; null if it has none. */
    async mappingOf(workspaceId: string, serverId: string): Promise<unknown> {
      return (await store.in(workspaceId).providerServers.find(serverId))?.mapping ?? null;
    },

    /** Returns the functions with which a source reads through a connection, on behalf of the connection's owner. */
    async wayOf(workspaceId: string, connectionId: string): Promise<ConnectionWay> {
      const connection = await store.in(workspaceId).connections.find(connectionId);
      const mapping = connection && (await this.mappingOf(workspaceId, connection.serverId));
      return {
        mapping: parseMapping(mapping),
        isWaiting: connection !== undefined && connection.waitingSince !== null,
        open: ({ signal, isListening = false }) => this.sessionFor(workspaceId, connectionId, { signal, isListening }),
      };
    },

    /**
     * Finds the person's own connection as the base of a connector, which only its owner may use. Source: S5.
     *
     * @throws ApiError `connector_config_invalid`, also for a connection that they may only see; `forbidden` for one
     *   with the server's own secret if they aren't an admin
     */
    async requireOwn({ workspaceId, userId }: Actor, connectionId: string, from = store): Promise<ConnectionRecord> {
      const connection = await from.in(workspaceId).connections.find(connectionId);
      if (connection?.ownerUserId !== userId || connection.status === "revoked") {
        throw new ApiError("connector_config_invalid", {
          message: "You have no connection with this ID.",
          hint: "Only the owner of a connection can build connectors on it.",
          field: "connectionId",
        });
      }
      await requireMaySign(from.in(workspaceId), connection);
      if (connection.status === "active") return connection;
      throw new ApiError("connector_config_invalid", {
        message: "The connection isn't active. Connect it again first.",
        field: "connectionId",
      });
    },
  };

  async function noteUse({ connectionId, lastUsedAt }: ConnectionRecord, workspaceId: string): Promise<void> {
    if (lastUsedAt !== null && clock.now() - lastUsedAt < NOTE_EVERY_MS) return;
    await store.in(workspaceId).connections.update(connectionId, { lastUsedAt: clock.now() });
  }
}

const NOTE_EVERY_MS = 5 * 60_000;

/** Wraps a session so that each request goes through `ask`. */
function watched(session: McpSession, ask: <Result>(work: () => Promise<Result>) => Promise<Result>): McpSession {
  const asked =
    <Args extends unknown[], Result>(question: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      ask(() => question(...args));
  return {
    serverInfo: session.serverInfo,
    protocolVersion: session.protocolVersion,
    capabilities: session.capabilities,
    listTools: asked(() => session.listTools()),
    listResources: asked((cursor) => session.listResources(cursor)),
    listResourceTemplates: asked((cursor) => session.listResourceTemplates(cursor)),
    readResource: asked((uri) => session.readResource(uri)),
    callTool: asked((name, args) => session.callTool(name, args)),
    complete: asked((uriTemplate, argument, options) => session.complete(uriTemplate, argument, options)),
    ping: asked(() => session.ping()),
    subscribe: asked((uri) => session.subscribe(uri)),
    onListChanged: (listener) => session.onListChanged(listener),
    onUpdated: (listener) => session.onUpdated(listener),
    onEnded: (listener) => session.onEnded(listener),
    close: () => session.close(),
  };
}
