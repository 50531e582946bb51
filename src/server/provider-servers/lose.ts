import { actOn } from "#storage/audit-act.ts";
import type { McpChallenge } from "#mcp-client/problem.ts";
import { stopConnectors } from "#server/accounts/reauth.ts";
import { connectionPrincipal } from "#storage/access/item-clocks.ts";
import type { ServerDeps } from "./deps.ts";

const LOST = "Its connection has to be reconnected.";

/** The code of the reason why a connection stopped working. It is never the server's own text. */
type LossReason = "refused" | "secret_missing" | "issuer_changed" | "other_account" | "elicitation_required";

/** Maximum number of additional scopes that a server may request. */
const MOST_WANTED = 50;

/**
 * Records that the server wants more scopes than the person granted. The connection continues with what it may read,
 * and shows the missing scopes. Signing in again requests them. Source: RFC 6750 §3.1, MCP 2025-11-25 (step-up).
 */
export async function noteWanted(
  { store }: Pick<ServerDeps, "store">,
  workspaceId: string,
  connectionId: string,
  { error, scope }: McpChallenge,
): Promise<void> {
  if (error !== "insufficient_scope" || scope === undefined) return;
  await store.transaction(async (tx) => {
    const { connections } = tx.in(workspaceId);
    const connection = await connections.find(connectionId);
    const { authorization } = connection ?? {};
    if (connection?.status !== "active" || !authorization) return;
    const wanted = [...new Set([...(authorization.wanted ?? []), ...scope.split(" ")])].slice(0, MOST_WANTED);
    const statusReason = "insufficient_scope";
    if (connection.statusReason === statusReason && wanted.length === authorization.wanted?.length) return;
    await connections.update(connectionId, { statusReason, authorization: { ...authorization, wanted } });
  });
}

/** Marks a connection as lost. It and its connectors wait for its owner, and the content that they read is hidden. */
export async function loseConnection(
  { store, clock, audit, emit }: Pick<ServerDeps, "store" | "clock" | "audit" | "emit">,
  workspaceId: string,
  connectionId: string,
  reason: LossReason,
): Promise<void> {
  await store.transaction(async (tx) => {
    const { connections, connectors, access } = tx.in(workspaceId);
    const connection = await connections.find(connectionId);
    if (connection?.status !== "active") return;
    const { serverId } = connection;
    await connections.update(connectionId, {
      status: "needs_reauth",
      statusReason: reason,
      lastCheckedAt: clock.now(),
    });
    // Hides content that was read through the connection until its owner has signed in there again.
    await access.setMembers(connectionPrincipal(connectionId), [], "kb");
    await stopConnectors(tx, clock, workspaceId, await connectors.listOn({ connectionId }), LOST);
    await audit.recordSystem(tx, workspaceId, actOn(connectionId, "connection.lost", { reason }));
    await emit(tx, workspaceId, { type: "connection.needs_reauth", data: { connectionId, serverId, code: reason } });
  });
}
