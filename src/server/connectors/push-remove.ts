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
  const [outcome] =
    (await applyOps(parts, caller.workspaceId, connectorId, [{ op: "delete", externalId, subtree: false }])) ?? [];
  return { result: outcome === "removed" || outcome === "held" ? outcome : "absent" };
}
