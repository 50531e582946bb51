import { actOn } from "#storage/audit-act.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import type { MappingFault, PreviewBody, providerServerRoutes, ServerTools } from "#api/provider-servers.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import type { McpSession } from "#mcp-client/contract.ts";
import { faultsOfMapping, parseMapping, pinMapping, previewTool, type ToolMapping } from "#mcp-client/mapping.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import { readFields } from "#mcp-client/schema.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import { namesOf } from "./agreed-tools.ts";
import { putMapping } from "./agreements.ts";
import { requireEnabled, requireServer, type ServerDeps } from "./deps.ts";
import { triedOf } from "./headers.ts";
import { makeProviderSessions } from "./sessions.ts";

/** The longest time that an admin waits, in milliseconds. */
const ASK_MS = 20_000;

/** Lists the tools that a server has now, and their mapping. Only admins may call it. */
export function listTools(
  deps: ServerDeps,
  { actor, params: { id: serverId }, query: { connectionId } }: MemberCall<typeof providerServerRoutes.tools>,
) {
  return asking(deps, actor, { serverId, connectionId }, (session, server) =>
    toolsOf(session, parseMapping(server.mapping)),
  );
}

/** Calls a tool once, at an admin's request. */
export function previewMapping(
  deps: ServerDeps,
  { actor, params: { id: serverId }, body }: MemberCall<typeof providerServerRoutes.preview>,
) {
  const { role, value, connectionId, ...mapped } = body;
  return asking(deps, actor, { serverId, connectionId }, async (session) => {
    await recordPreview(deps, actor, serverId, { role, connectionId, ...mapped });
    const { hits, text } = await previewTool(session, role, mapped, value);
    const entries = hits?.map(({ updatedAt, ...hit }) => ({
      ...hit,
      ...(updatedAt !== undefined && { updatedAt: isoOf(updatedAt) }),
    }));
    return defined({ entries, text });
  });
}

/**
 * Stores which tools are used for reading, pinned to their current definition.
 *
 * @throws ApiError `server_config_invalid`
 */
export function setMapping(
  deps: ServerDeps,
  {
    actor,
    params: { id: serverId },
    body: { mapping: wanted, connectionId },
  }: MemberCall<typeof providerServerRoutes.map>,
) {
  return asking(deps, actor, { serverId, connectionId }, async (session, server) => {
    const { items } = await session.listTools();
    const pinned = pinMapping(wanted ?? {}, items);
    if ("faults" in pinned) throw doesNotFit(pinned.faults);
    const mapping = parseMapping(pinned.mapping);
    await deps.store.transaction(async (tx) => {
      const before = await tx.in(actor.workspaceId).providerServers.find(serverId);
      if (before?.url !== server.url) throw noSuchThing();
      await putMapping(deps, tx, actor.workspaceId, { serverId, mapping, actor });
      const details = { tools: namesOf(mapping), before: namesOf(parseMapping(before.mapping)) };
      const action = mapping === undefined ? "server.unmapped" : "server.mapped";
      await deps.audit.record(tx, actor, actOn(serverId, action, details));
    });
    deps.signal();
    return toolsOf(session, mapping);
  });
}

/** A preview is recorded as the admin's action, whatever the tool does. Source: S53. */
async function recordPreview(
  { store, audit }: ServerDeps,
  actor: Actor,
  serverId: string,
  { role, tool, args, argument, connectionId }: Omit<PreviewBody, "value">,
): Promise<void> {
  const details = { role, tool, args: Object.keys(args), ...defined({ argument, connectionId }) };
  const act = actOn(serverId, "server.tool_previewed", details);
  await store.transaction((tx) => audit.record(tx, actor, act));
}

async function toolsOf(session: McpSession, mapping: ToolMapping | undefined): Promise<ServerTools> {
  const { items, leftOut } = await session.listTools();
  return {
    tools: items.map(({ name, title, description, isReadOnly, inputSchema }) => ({
      name,
      isReadOnly,
      ...defined({ title, description }),
      arguments: readFields(inputSchema),
    })),
    leftOut,
    mapping: mapping === undefined ? null : withoutPins(mapping),
    faults: mapping === undefined ? [] : faultsOfMapping(mapping, items),
  };
}

function withoutPins({ list, search, fetch }: ToolMapping): NonNullable<ServerTools["mapping"]> {
  const shown = (one: ToolMapping["list"]) =>
    one && { tool: one.tool, args: one.args, ...defined({ argument: one.argument }) };
  return defined({ list: shown(list), search: shown(search), fetch: shown(fetch) });
}

/**
 * Sends one request to a server: through one of the actor's own connections, otherwise with the server's own
 * credentials.
 *
 * @throws ApiError `not_found`, `server_disabled`, `server_check_failed`, `rate_limited`
 */
async function asking<Result>(
  deps: ServerDeps,
  actor: Actor,
  { serverId, connectionId }: { serverId: string; connectionId: string | undefined },
  ask: (session: McpSession, server: ProviderServerRecord) => Promise<Result>,
): Promise<Result> {
  const server = await requireServer(deps, actor, serverId);
  requireEnabled(server);
  deps.throttle.take(actor.userId);
  const signal = AbortSignal.timeout(ASK_MS);
  try {
    const session =
      connectionId === undefined
        ? await deps.openMcp((await triedOf(deps, actor.workspaceId, server)).target, signal)
        : await ofConnection(deps, actor, { serverId, connectionId, signal });
    try {
      return await ask(session, server);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (!(error instanceof McpProblem)) throw error;
    const { step, code, message } = error;
    throw new ApiError("server_check_failed", { message, details: { step, problem: code }, cause: error });
  }
}

async function ofConnection(
  deps: ServerDeps,
  actor: Actor,
  { serverId, connectionId, signal }: { serverId: string; connectionId: string; signal: AbortSignal },
): Promise<McpSession> {
  const connection = await deps.store.in(actor.workspaceId).connections.find(connectionId);
  // A connection to another server can't be used here.
  const wanted = connection?.serverId === serverId ? connectionId : "";
  return makeProviderSessions(deps).sessionFor(actor.workspaceId, wanted, { signal, actor, isOwnersAct: true });
}

function doesNotFit(faults: readonly MappingFault[]): ApiError {
  const [first] = faults;
  const tool = JSON.stringify(first?.tool ?? "");
  const messages = {
    tool_gone: `The server has no tool ${tool}.`,
    tool_changed: `The tool ${tool} has changed.`,
    argument_missing: `The tool ${tool} needs more arguments. Give them in args, and the one for the query or ID in argument.`,
    argument_unknown: `The tool ${tool} has no argument of that name.`,
  };
  return new ApiError("server_config_invalid", {
    message: messages[first?.reason ?? "tool_gone"],
    field: `mapping.${first?.role ?? "list"}`,
    details: { faults },
  });
}
