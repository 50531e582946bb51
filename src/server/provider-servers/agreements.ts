import { actOn } from "#storage/audit-act.ts";
import type { connectionRoutes } from "#api/connections.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { ApiError, existing, forbidden } from "#api/errors.ts";
import { agreedTo, carriedOver, changingIn, nameOfMapping, rolesToAgree } from "#mcp-client/agreement.ts";
import { parseMapping, type ToolMapping } from "#mcp-client/mapping.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { Store } from "#storage/records/store.ts";
import { namesOf } from "./agreed-tools.ts";
import { requireConnection, requireServer, type ServerDeps } from "./deps.ts";
import { toConnection } from "./view.ts";

type Deps = Pick<ServerDeps, "store" | "clock" | "request">;

/**
 * Stores the mapping of a server's tools, and asks the owners of connections to agree if they haven't yet. For the
 * connections of the admin who maps the tools, the mapping itself is the agreement. Call it in a transaction.
 * Source: S65.
 *
 * @param actor who mapped the tools; absent if kb itself discovered a change of a tool
 */
export async function putMapping(
  deps: Deps,
  tx: Store,
  workspaceId: string,
  { serverId, mapping, actor }: { serverId: string; mapping: ToolMapping | undefined; actor?: Actor },
): Promise<void> {
  const { providerServers, connections } = tx.in(workspaceId);
  const now = deps.clock.now();
  const by = actor && { mappedAt: now, mappedBy: actor.userId };
  await providerServers.update(serverId, { mapping: mapping ?? null, ...by });
  for (const connection of await connections.list({ serverId })) {
    const before = parseMapping(connection.agreed);
    const isOwn = actor?.userId === connection.ownerUserId;
    const agreed =
      isOwn && mapping
        ? agreedTo(mapping, before)
        : carriedOver(mapping, before, { isPrivate: connection.visibility === "private" });
    await settle(deps, tx, workspaceId, { connection, mapping, agreed });
  }
}

/**
 * Corrects the mapping of a tool that isn't declared read-only but that an earlier version of kb mapped: no owner
 * agreed to that.
 */
export async function noteChanging(deps: Deps, workspaceId: string, serverId: string, tool: string): Promise<void> {
  await deps.store.transaction(async (tx) => {
    const server = await tx.in(workspaceId).providerServers.find(serverId);
    const mapping = server && changingIn(parseMapping(server.mapping), tool);
    if (mapping) await putMapping(deps, tx, workspaceId, { serverId, mapping });
  });
}

/**
 * Records that the owner of a connection agrees to the mapping that they were shown.
 *
 * @throws ApiError `not_found`, `forbidden` for anyone else, `conflict` if the mapping has changed in the meantime
 */
export async function agree(
  deps: ServerDeps,
  { actor, params: { id: serverId, connectionId }, body: { agreement } }: MemberCall<typeof connectionRoutes.agree>,
) {
  const server = await requireServer(deps, actor, serverId);
  const after = await deps.store.transaction(async (tx) => {
    const connection = await requireConnection({ store: tx }, actor, serverId, connectionId);
    if (connection.ownerUserId !== actor.userId) {
      throw forbidden("Only the owner of a connection can agree to the tools that kb calls with it.");
    }
    const { workspaceId } = actor;
    const today = existing(await tx.in(workspaceId).providerServers.find(serverId));
    const mapping = parseMapping(today.mapping);
    if (mapping === undefined || nameOfMapping(mapping) !== agreement) throw changedMeanwhile();
    const agreed = agreedTo(mapping, parseMapping(connection.agreed));
    await deps.audit.record(tx, actor, actOn(connectionId, "connection.agreed", { serverId, tools: namesOf(mapping) }));
    return settle(deps, tx, workspaceId, { connection, mapping, agreed });
  });
  deps.signal();
  return { connection: await toConnection(deps, actor, server, after) };
}

async function settle(
  deps: Deps,
  tx: Store,
  workspaceId: string,
  {
    connection,
    mapping,
    agreed,
  }: { connection: ConnectionRecord; mapping?: ToolMapping | undefined; agreed?: ToolMapping | undefined },
): Promise<ConnectionRecord> {
  const { connections, connectors } = tx.in(workspaceId);
  const isWaiting = rolesToAgree(mapping, agreed).length > 0;
  const waitingSince = isWaiting ? (connection.waitingSince ?? deps.clock.now()) : null;
  const patch = { agreed: agreed ?? null, waitingSince };
  await connections.update(connection.connectionId, patch);
  if (connection.waitingSince !== null && !isWaiting) {
    for (const one of await connectors.listOn({ connectionId: connection.connectionId })) {
      if (one.state === "active" || one.state === "error") await deps.request(tx, workspaceId, one);
    }
  }
  return { ...connection, ...patch };
}

function changedMeanwhile(): ApiError {
  return new ApiError("conflict", {
    message: "The mapping of the server's tools changed since you looked at it.",
    hint: "Review it again, then agree.",
  });
}
