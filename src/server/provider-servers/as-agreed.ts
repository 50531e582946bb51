import { ApiError } from "#api/errors.ts";
import { agreementRequired, findCall } from "#mcp-client/agreement.ts";
import type { McpList, McpSession, McpTool } from "#mcp-client/contract.ts";
import { parseMapping } from "#mcp-client/mapping.ts";
import { noteChanging } from "./agreements.ts";
import type { ServerDeps } from "./deps.ts";

/**
 * Wraps a session so that it only calls tools that are currently mapped, that the connection's owner agreed to, and
 * that haven't changed since. Each call checks this, so a change also affects work in progress.
 *
 * Source: S65.
 */
export function asAgreed(
  deps: Pick<ServerDeps, "store" | "clock" | "request">,
  session: McpSession,
  { workspaceId, connectionId }: { workspaceId: string; connectionId: string },
): McpSession {
  let known: Promise<McpList<McpTool>> | undefined;
  const listTools = () => (known = session.listTools());

  async function requireAgreed(name: string, args: Readonly<Record<string, unknown>>): Promise<void> {
    const { connections, providerServers } = deps.store.in(workspaceId);
    const { items: tools } = await (known ?? listTools());
    const connection = await connections.find(connectionId);
    const server = connection && (await providerServers.find(connection.serverId));
    const mapping = parseMapping(server?.mapping);
    const found = findCall({ mapping, agreed: parseMapping(connection?.agreed), tools }, name, args);
    if (found === "agreed") return;
    if (found === "changed") throw changed();
    if (server) await noteChanging(deps, workspaceId, server.serverId, name);
    throw agreementRequired();
  }

  return {
    ...session,
    listTools,
    async callTool(name, args) {
      await requireAgreed(name, args);
      return session.callTool(name, args);
    },
  };
}

/** A run uses only the mapping with which it started. */
function changed(): ApiError {
  return new ApiError("source_unavailable", {
    message: "The tool has changed, or its mapping has.",
    hint: "Sync again. If it fails again, an admin has to map the server's tools again.",
  });
}
