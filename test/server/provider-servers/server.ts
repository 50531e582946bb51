import { z } from "zod";
import type { McpSession, McpTarget, McpTool, McpToolResult } from "#mcp-client/contract.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import type { OpenMcp } from "#server/provider-servers/deps.ts";
import type { Source } from "#sources/contract.ts";
import { scripted } from "../../scripted.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer, type TestServerOptions, type TestUser } from "../../helpers.ts";
import { fakeExtractor, item, listing } from "../sync/harness.ts";

/** A server of others: what it wants, and what it was asked with. */
export interface FakeMcp {
  /** What `authorization`, or another header, must be; undefined = nothing. */
  accepts?: (headers: Readonly<Record<string, string>>) => boolean;
  problem?: McpProblem;
  /** What happens while it is asked. */
  meanwhile?: () => Promise<unknown>;
  /** Headers of every request. */
  seen: Record<string, string>[];
  tools?: McpTool[];
  /** What a tool gives, by who asks. */
  call?: (
    name: string,
    args: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>>,
  ) => McpToolResult | Promise<McpToolResult>;
}

export const URL_A = "https://mcp.a.test/mcp";
export const URL_B = "https://mcp.b.test/mcp";

/** Servers of others by URL, in place of the client. */
export function makeWorld(servers: Record<string, FakeMcp>) {
  return async (target: McpTarget, signal: AbortSignal): Promise<McpSession> => {
    const server = servers[target.url];
    if (!server) throw new McpProblem({ step: "connect", code: "unreachable" });
    const ask = async () => {
      signal.throwIfAborted();
      const headers = { ...(await target.headers()) };
      server.seen.push(headers);
      await server.meanwhile?.();
      if (server.problem) throw server.problem;
      if (server.accepts && !server.accepts(headers)) {
        throw new McpProblem({ step: "initialize", code: "auth_required", challenge: { scope: "read" }, status: 401 });
      }
    };
    await ask();
    const empty = async () => {
      await ask();
      return { items: [], leftOut: 0 };
    };
    return {
      serverInfo: { name: "fake", version: "1" },
      protocolVersion: "2025-11-25",
      capabilities: { tools: true, resources: true, subscribe: false, listChanged: false, completions: false },
      async listTools() {
        await ask();
        return { items: server.tools ?? [], leftOut: 0 };
      },
      listResources: empty,
      listResourceTemplates: empty,
      readResource: async () => [],
      async callTool(name, args) {
        await ask();
        return (await server.call?.(name, args, await target.headers())) ?? { isError: false, content: [] };
      },
      complete: async () => ({ values: [], hasMore: false }),
      ping: ask,
      subscribe: ask,
      onListChanged: () => undefined,
      onUpdated: () => undefined,
      onEnded: () => undefined,
      close: async () => undefined,
    };
  };
}

/** A source that reads through a connection: one item for everybody who passes its gates. */
const connectionSource: Source = {
  spec: {
    providerId: "behind",
    name: "Behind",
    kinds: ["file"],
    auth: [{ type: "connection" }],
    config: z.strictObject({}),
    acl: "connector",
  },
  check: async () => ({ ok: true }),
  sessions: scripted(async function* (context) {
    yield* listing(() => [item("a.md", "alpha")])(context);
  }),
};

/** The app, an admin, two members and somebody elsewhere, and servers of others that are fakes. */
export async function makeProviderServer(
  options: TestServerOptions & { servers?: Record<string, FakeMcp>; openMcp?: OpenMcp } = {},
) {
  const servers = options.servers ?? {
    [URL_A]: { accepts: ({ authorization }) => authorization?.startsWith("Bearer good") === true, seen: [] },
    [URL_B]: { seen: [] },
  };
  const behind = { ...connectionSource };
  const sources = [behind];
  const kb = await makeServer({ ...options, settings: { rateLimits: "off", ...options.settings } }, (core, database) =>
    composeFeatures(core, database, {
      sources: { find: async (id) => sources.find(({ spec }) => spec.providerId === id), list: async () => sources },
      extractor: fakeExtractor,
      openMcp: options.openMcp ?? makeWorld(servers),
    }),
  );
  const owner = await kb.addOwner();
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const anna = await kb.addMember(owner.workspaceId, "member");
  const ben = await kb.addMember(owner.workspaceId, "member");
  const stranger = await kb.addOwner("Other");
  const addServer = async (body: Record<string, unknown> = {}) => {
    const wanted = { name: "Notes", url: URL_A, auth: { kind: "bearer" }, ...body };
    const { status, json, text } = await kb.as(admin).post("/api/mcp-servers", wanted);
    if (status !== 201) throw new Error(text);
    // Of the contract.
    return json.server as { id: string; apps: null };
  };
  const connect = async (user: TestUser, serverId: string, body: Record<string, unknown> = {}) =>
    kb.as(user).post(`/api/mcp-servers/${serverId}/connections`, {
      app: "notes",
      credentials: { token: `good-${user.userId}` },
      ...body,
    });
  return {
    ...kb,
    servers,
    behind,
    owner,
    admin,
    anna,
    ben,
    stranger,
    worker: kb.deps.worker,
    addServer,
    connect,
    connectionsOf: async (user: TestUser, serverId: string) =>
      (await kb.as(user).get(`/api/mcp-servers/${serverId}/connections`)).json.connections,
    /** Everything in the database as one text. */
    async everything(): Promise<string> {
      const tables = await kb.database.read.introspection.getTables();
      const rows: unknown[] = [];
      for (const { name } of tables) {
        // Names of the database itself.
        rows.push(
          await kb.database.read
            .selectFrom(name as "items")
            .selectAll()
            .execute(),
        );
      }
      return JSON.stringify(rows);
    },
  };
}
