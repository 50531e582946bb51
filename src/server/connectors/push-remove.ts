import type { ConnectorCaller } from "#server/ports/actor.ts";
import type { ConnectorParts } from "./parts.ts";
import { applyOps } from "./stored.ts";
import { requirePushable } from "./push-parts.ts";

/** Removes one pushed item. @throws ApiError `not_found`, `connector_state_conflict` */
export async function removePushed(
  parts: ConnectorParts,
  caller: ConnectorCaller,
  externalId: string,
): Promise<{ result: "removed" | "held" | "absent" }> {
  const { connectorId } = await requirePushable(parts, caller);
  const ops = [{ op: "delete", externalId, subtree: false }] as const;
  const outcome = (await applyOps(parts, caller.workspaceId, connectorId, ops))?.outcomes[0];
  return { result: outcome === "removed" || outcome === "held" ? outcome : "absent" };
}
