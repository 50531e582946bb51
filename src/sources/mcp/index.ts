import { rememberScope } from "#sources/file-scope/scope.ts";
import { ApiError } from "#api/errors.ts";
import { type CheckOutcome, runCheck } from "#sources/check.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { Batching } from "#sources/session.ts";
import { McpConfig } from "./config.ts";
import { readById, resourceId } from "./entries.ts";
import { asking, toFailure } from "./failures.ts";
import { isInScope, mcpSessions, openSession, requireAgreement, usableMapping } from "./sync.ts";

/**
 * Makes the source for a connection to a provider server: its resources, and the lists of its tools that an admin
 * mapped. MCP transfers no permissions, so all items are readable by the connection's readers.
 */
export function makeMcpSource({ batching = {} }: { batching?: Partial<Batching> } = {}): Source<McpConfig> {
  const compiled = rememberScope();
  const turns = makeTurns();
  return {
    spec: {
      providerId: "mcp",
      name: "MCP server",
      kinds: ["file"],
      auth: [{ type: "connection" }],
      config: McpConfig,
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "connector",
    },
    check: checkServer,
    sessions: { ...mcpSessions, batching },
    async fetchContent(ctx, { externalId }) {
      if (!/^(?:resource|tool):./s.test(externalId)) throw notFound();
      if (externalId.startsWith("tool:")) requireAgreement(ctx);
      return turns.run(ctx, () => readOne(ctx, externalId));
    },
    // The place is that of the connection, which never changes.
    placeOf: () => "",
    inScope: (scope, { externalId }) => isInScope(compiled(scope), externalId),
    watch: async (ctx, _scope, listener) => {
      if (ctx.mcp === undefined || !ctx.config.resources) return undefined;
      const session = await openSession(ctx, ctx.signal, true);
      const { listChanged, subscribe } = session.capabilities;
      if (!listChanged && !subscribe) {
        await session.close();
        return undefined;
      }
      let ended: ApiError | undefined;
      let hasBegun = false;
      session.onEnded((problem) => {
        ended = toFailure(problem);
        void session.close();
        if (hasBegun) listener.ended(ended);
      });
      session.onListChanged(() => listener.notify({ t: "anything" }));
      session.onUpdated((uri) => listener.notify({ t: "items", changed: [resourceId(uri)], gone: [] }));
      try {
        if (subscribe) await asking(() => subscribeToFirst(session, ctx));
      } catch (error) {
        // No other code can close this session. It would stay open next to the session of the next try.
        await session.close();
        throw ended ?? error;
      }
      if (ended !== undefined) throw ended;
      hasBegun = true;
      return { stop: () => session.close() };
    },
  };
}

async function readOne(ctx: SourceContext<McpConfig>, externalId: string) {
  const session = await openSession(ctx, ctx.signal);
  try {
    const mapping = externalId.startsWith("tool:") ? await usableMapping(ctx, session) : undefined;
    const content = await readById(session, externalId, mapping);
    if (content === undefined) throw notFound();
    const bytes = content.bytes ?? Buffer.from(content.text, "utf8");
    const fileName = externalId.slice(externalId.lastIndexOf("/") + 1).slice(0, 200);
    return { bytes, fileName, ...(content.mimeType && { mimeType: content.mimeType }) };
  } finally {
    await session.close();
  }
}

/**
 * Runs the reads of a run one after another. A response arrives in one piece, as base64 in JSON, so several concurrent
 * reads would need much memory.
 */
function makeTurns() {
  const last = new WeakMap<object, Promise<unknown>>();
  return {
    // Contexts of one run have the same connector object.
    run<Result>({ connector }: SourceContext<McpConfig>, read: () => Promise<Result>): Promise<Result> {
      const result = (last.get(connector) ?? Promise.resolve()).then(read);
      last.set(
        connector,
        result.catch(() => undefined),
      );
      return result;
    },
  };
}

/**
 * The most resources that a watch subscribes to: the first ones that the server lists. Scheduled runs find changes of
 * the others.
 */
const MAX_WATCHED = 200;

/** The time limit for subscribing. If the server is slow, subscriptions that were accepted by then stay. */
const SUBSCRIBING_MS = 60_000;

async function subscribeToFirst(
  session: Awaited<ReturnType<typeof openSession>>,
  { now }: Pick<SourceContext<McpConfig>, "now">,
): Promise<void> {
  const until = now() + SUBSCRIBING_MS;
  const { items } = await session.listResources();
  for (const { uri } of items.slice(0, MAX_WATCHED)) {
    if (now() >= until) return;
    await session.subscribe(uri);
  }
}

function checkServer(ctx: SourceContext<McpConfig>): Promise<CheckOutcome> {
  return runCheck(ctx, {}, async () => {
    requireAgreement(ctx);
    const session = await openSession(ctx, ctx.signal);
    try {
      const mapping = await usableMapping(ctx, session);
      const { resources } = session.capabilities;
      if (mapping?.list !== undefined || (resources && ctx.config.resources)) return { warnings: [] };
      return { problem: { code: "connector_check_failed", message: NOTHING, field: "resources" } };
    } finally {
      await session.close();
    }
  });
}

const NOTHING =
  "There is nothing to read: the server has no resources, or they are turned off, and none of its tools is mapped to list.";

function notFound(): ApiError {
  return new ApiError("source_not_found", { message: "The server doesn't have this." });
}
