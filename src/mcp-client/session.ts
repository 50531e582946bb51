import { defined } from "#core/defined.ts";
import { canParseUrl } from "#api/parse-url.ts";
import type { Client, jsonSchemaValidator, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { z } from "zod";
import { isLoop } from "#core/hops.ts";
import { MCP_CAPS, type McpCaps } from "./caps.ts";
import type { McpPage, McpSession, McpSessionOptions, McpTarget, McpTool } from "./contract.ts";
import { type Exchange, exchanges, makeExchange } from "./exchange.ts";
import { elicitationUrl, problemOf } from "./failures.ts";
import { makeMcpFetch } from "./fetch.ts";
import { makeNotices } from "./notices.ts";
import { makePace, type Pace } from "./pace.ts";
import { type ParamHeader, paramHeaders, paramHeadersOf } from "./param-headers.ts";
import { McpProblem, type McpStep } from "./problem.ts";
import { makeResuming } from "./resuming.ts";
import {
  CallResult,
  CompletionResult,
  readBlock,
  readCapabilities,
  readContent,
  readList,
  readResource,
  ReadResult,
  readServerInfo,
  readTemplate,
  readTool,
  ResourcesPage,
  TemplatesPage,
  ToolsPage,
} from "./read.ts";

/** Time limit for ending a session at the server. */
const CLOSE_MS = 2_000;
const MAX_COMPLETIONS = 100;
const MAX_SUBSCRIPTIONS = 1_000;

/**
 * Opens a session over streamable HTTP, of any revision from 2024-11-05 to 2026-07-28. The older transport, before
 * 2025-03-26, with an endpoint for events and another for messages, isn't supported.
 *
 * @throws McpProblem; the signal's reason; errors of the target's `headers()`
 */
export async function openMcpSession(target: McpTarget, options: McpSessionOptions): Promise<McpSession> {
  const { hop, signal } = options;
  signal.throwIfAborted();
  if (isLoop([...hop.before], hop.instanceId)) throw new McpProblem({ step: "connect", code: "loop" });
  if (!canParseUrl(target.url)) throw new McpProblem({ step: "resolve", code: "address_not_allowed" });
  const caps: McpCaps = { ...MCP_CAPS, ...options.caps };
  const ending = new AbortController();
  const sessionSignal = AbortSignal.any([signal, ending.signal]);
  const notices = makeNotices();
  const connecting = { ...options, caps, sessionSignal, notices, pace: makePace(caps.pace, options.pace) };
  let connection = await connect(target, connecting);
  /** Parameter headers by tool name, from the last list. */
  const headersByTool = new Map<string, ParamHeader[]>();

  /** Reads a tool. Returns undefined if the newest revision forbids calling it. */
  function readCallable(entry: unknown): McpTool | undefined {
    const tool = readTool(entry, caps);
    if (tool === undefined || connection.client.getProtocolEra() !== "modern") return tool;
    const headers = paramHeadersOf(tool.inputSchema);
    if (headers !== undefined && !headersByTool.has(tool.name)) headersByTool.set(tool.name, headers);
    return headers && tool;
  }

  let renewing: Promise<void> | undefined;

  /** Opens a new session when the server has forgotten the old one. All requests that find it forgotten share the new session. */
  function renew(forgotten: Connection): Promise<void> {
    if (connection !== forgotten) return Promise.resolve();
    renewing ??= (async () => {
      await forgotten.client.close().catch(() => {});
      connection = await connect(target, connecting);
    })().finally(() => (renewing = undefined));
    return renewing;
  }

  /**
   * Whether an error means that the server has forgotten the session: from the response to this request, or because another request's response closed
   * the session.
   */
  function isForgotten(asked: Connection, error: unknown): boolean {
    // A new session would lose the subscriptions of a session with notifications.
    if (options.isListening || asked.transport.sessionId === undefined) return false;
    if (!(error instanceof McpProblem)) return false;
    const isReplaced = renewing !== undefined || connection !== asked;
    return error.status === 404 || (isReplaced && error.code === "unreachable");
  }

  /** Sends a request once, and again in a new session if the server has forgotten this one. */
  async function ask<Result>(
    step: McpStep,
    run: (client: Client, signal: AbortSignal) => Promise<Result>,
    withinMs = caps.requestMs,
  ): Promise<Result> {
    // If the session couldn't be reopened, the request that needed it reports the failure.
    await renewing?.catch(() => {});
    const asked = connection;
    try {
      return await inExchange(step, sessionSignal, withinMs, (one) => run(asked.client, one.signal));
    } catch (error) {
      if (sessionSignal.aborted || !isForgotten(asked, error)) throw error;
      await renew(asked);
      const renewed = connection;
      return inExchange(step, sessionSignal, withinMs, (one) => run(renewed.client, one.signal));
    }
  }

  function request<Schema extends z.ZodType>(
    step: McpStep,
    method: string,
    params: Record<string, unknown>,
    schema: Schema,
    { headers = {}, withinMs = caps.requestMs }: { headers?: Record<string, string>; withinMs?: number } = {},
  ): Promise<z.output<Schema>> {
    const asking = async (client: Client, one: AbortSignal) => {
      const answer: unknown = await client.request({ method, params }, schema, {
        signal: one,
        timeout: caps.requestMs + 1_000,
        headers,
      });
      // The library has parsed the answer with this schema. Its type for the result is zod's output type under another name.
      return answer as z.output<Schema>;
    };
    return ask(step, asking, Math.max(1, Math.min(withinMs, caps.requestMs)));
  }

  async function page<Item>(
    step: McpStep,
    entries: readonly unknown[],
    nextCursor: string | undefined,
    read: (entry: unknown) => Item | undefined,
  ): Promise<McpPage<Item>> {
    if (entries.length > caps.entries) throw new McpProblem({ step, code: "too_many" });
    return { ...readList(entries, read), ...defined({ nextCursor }) };
  }

  const session: McpSession = {
    serverInfo: readServerInfo(connection.client.getServerVersion()),
    protocolVersion: connection.client.getNegotiatedProtocolVersion() ?? "",
    capabilities: readCapabilities(connection.client.getServerCapabilities()),

    async listTools() {
      const found = { items: [] as ReturnType<typeof readTool>[], leftOut: 0 };
      const seen = new Set<string>();
      headersByTool.clear();
      let cursor: string | undefined;
      const until = performance.now() + caps.toolsMs;
      for (let pages = 0; ; pages++) {
        const answer = await request("tools", "tools/list", { ...defined({ cursor }) }, ToolsPage);
        const { items, leftOut } = await page("tools", answer.tools, undefined, readCallable);
        // If two tools have the same name, the first is kept, as in a call.
        const fresh = items.filter(({ name }) => !seen.has(name) && seen.add(name));
        found.items.push(...fresh);
        found.leftOut += leftOut + items.length - fresh.length;
        cursor = answer.nextCursor;
        if (cursor === undefined) break;
        if (performance.now() >= until) throw new McpProblem({ step: "tools", code: "timeout" });
        if (found.items.length + found.leftOut > caps.tools || pages >= caps.tools) {
          throw new McpProblem({ step: "tools", code: "too_many" });
        }
      }
      if (found.items.length > caps.tools) throw new McpProblem({ step: "tools", code: "too_many" });
      return { items: found.items.filter((tool) => tool !== undefined), leftOut: found.leftOut };
    },

    async listResources(cursor) {
      const params = { ...defined({ cursor }) };
      const { resources, nextCursor } = await request("resources", "resources/list", params, ResourcesPage);
      return page("resources", resources, nextCursor, readResource);
    },

    async listResourceTemplates(cursor) {
      const params = { ...defined({ cursor }) };
      const answer = await request("templates", "resources/templates/list", params, TemplatesPage);
      return page("templates", answer.resourceTemplates, answer.nextCursor, readTemplate);
    },

    async readResource(uri) {
      const { contents } = await request("read", "resources/read", { uri }, ReadResult);
      return readList(contents.slice(0, caps.entries), readContent).items;
    },

    async callTool(name, args) {
      const { content, structuredContent, isError } = await request(
        "call",
        "tools/call",
        { name, arguments: args },
        CallResult,
        { headers: paramHeaders(headersByTool.get(name) ?? [], args) },
      );
      return {
        isError,
        content: content.slice(0, caps.entries).map(readBlock),
        ...defined({ structured: structuredContent }),
      };
    },

    async complete(uriTemplate, argument, options) {
      const params = { ref: { type: "ref/resource", uri: uriTemplate }, argument };
      const { completion } = await request("complete", "completion/complete", params, CompletionResult, options);
      const values = completion.values.slice(0, MAX_COMPLETIONS);
      return { values, hasMore: completion.hasMore || values.length < completion.values.length };
    },

    async ping() {
      // The newest revision has no ping, so discovery is used instead.
      await ask("ping", (client, one) =>
        client.getProtocolEra() === "modern" ? client.discover({ signal: one }) : client.ping({ signal: one }),
      );
    },

    async subscribe(uri) {
      if (!notices.add(uri, MAX_SUBSCRIPTIONS)) throw new McpProblem({ step: "subscribe", code: "too_many" });
      if (connection.client.getProtocolEra() === "modern") await connection.listen();
      else await ask("subscribe", (client, one) => client.subscribeResource({ uri }, { signal: one }));
    },
    onListChanged: (listener) => notices.onListChanged(listener),
    onUpdated: (listener) => notices.onUpdated(listener),
    onEnded: (listener) => notices.onEnded(listener),

    async close() {
      if (ending.signal.aborted) return;
      // Closing has its own time limit, because most sessions are closed after the signal of their request has aborted.
      const { signal: goodbye } = new AbortController();
      await inExchange("connect", goodbye, CLOSE_MS, () => connection.transport.terminateSession()).catch(() => {});
      ending.abort(new McpProblem({ step: "connect", code: "unreachable" }));
      await connection.client.close().catch(() => {});
    },
  };
  return session;
}

interface Connecting extends McpSessionOptions {
  caps: McpCaps;
  sessionSignal: AbortSignal;
  notices: ReturnType<typeof makeNotices>;
  pace: Pace;
}

interface Connection {
  client: Client;
  transport: StreamableHTTPClientTransport;
  /** Requests notifications from a server of the newest revision, again after each subscription. */
  listen(): Promise<void>;
}

/** Offers the newest revision first. If the server's response is anything else, the older revisions are used. */
async function connect(target: McpTarget, connecting: Connecting): Promise<Connection> {
  const startedAt = performance.now();
  const timeLeft = () => Math.max(1, connecting.caps.openMs - (performance.now() - startedAt));
  try {
    return await connectAs("auto", target, connecting, timeLeft());
  } catch (error) {
    const isOld = error instanceof McpProblem && MAYBE_OLD.has(error.code);
    if (!isOld || connecting.sessionSignal.aborted) throw error;
    return connectAs("legacy", target, connecting, timeLeft());
  }
}

/** The problems reported by a server that doesn't know the newest revision's first request, and fails on it. */
const MAYBE_OLD: ReadonlySet<string> = new Set(["server_error", "bad_answer", "not_mcp", "protocol_unsupported"]);

async function connectAs(
  mode: "auto" | "legacy",
  target: McpTarget,
  { client: guarded, caps, sessionSignal, clientInfo, hop, isListening = false, notices, pace }: Connecting,
  timeoutMs: number,
): Promise<Connection> {
  const mcp = await import("@modelcontextprotocol/client");
  const listening = isListening ? makeExchange("listen", sessionSignal, 0, Infinity) : undefined;
  listening?.signal.addEventListener("abort", () => listening.problem && notices.end(listening.problem), {
    once: true,
  });
  const transport = new mcp.StreamableHTTPClientTransport(new URL(target.url), {
    fetch: makeMcpFetch({
      target,
      client: guarded,
      caps,
      userAgent: `${clientInfo.name}/${clientInfo.version}`,
      hops: [...hop.before, hop.instanceId],
      pace,
      ...(listening && { listening }),
    }),
    reconnectionScheduler: makeResuming(),
  });
  const client = new mcp.Client(clientInfo, {
    capabilities: { elicitation: { url: {} } },
    versionNegotiation: { mode },
    // A server's schemas are data: none of them is compiled.
    jsonSchemaValidator: ACCEPT_ANYTHING,
    inputRequired: { autoFulfill: true, maxRounds: 1 },
  });
  // The server requires a person, so the caller gets a problem.
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const url = elicitationUrl(params);
    exchanges.getStore()?.fail({ code: "elicitation_required", ...defined({ elicitationUrl: url }) });
    return { action: "cancel" };
  });
  notices.attach(client);
  await inExchange("initialize", sessionSignal, timeoutMs, (exchange) =>
    client.connect(transport, { signal: exchange.signal, timeout: timeoutMs + 1_000 }),
  );
  return {
    client,
    transport,
    // The exchange has no deadline and isn't ended: the stream belongs to it until the session is closed.
    async listen() {
      const exchange = makeExchange("listen", sessionSignal, 0);
      await exchanges
        .run(exchange, () => notices.listen(client, caps.requestMs, () => exchange.fail({ code: "unreachable" })))
        .catch((error: unknown) => {
          throw problemOf(error, exchange);
        });
    },
  };
}

const ACCEPT_ANYTHING: jsonSchemaValidator = {
  // `never` fits any type that the caller expects; the value isn't used.
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Runs a request. Rejects with `problemOf` as soon as the exchange has ended, even if the library still waits. */
async function inExchange<Result>(
  step: McpStep,
  signal: AbortSignal,
  deadlineMs: number,
  run: (exchange: Exchange) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const exchange = makeExchange(step, signal, deadlineMs);
  let stopWaiting = () => {};
  const ended = new Promise<never>((_resolve, reject) => {
    stopWaiting = () => reject(exchange.signal.reason);
    exchange.signal.addEventListener("abort", stopWaiting, { once: true });
  });
  ended.catch(() => {});
  try {
    return await Promise.race([exchanges.run(exchange, () => run(exchange)), ended]);
  } catch (error) {
    throw problemOf(error, exchange);
  } finally {
    exchange.signal.removeEventListener("abort", stopWaiting);
    exchange.end();
  }
}
