import { ApiError } from "#api/errors.ts";
import { isChildId } from "#core/child-ids.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import type { ConnectorDeps } from "./deps.ts";
import { applyOps } from "./stored.ts";
import { requirePushable } from "./push-deps.ts";

/** Removes one pushed item. @throws ApiError `not_found`, `connector_state_conflict`, `invalid_request` */
export async function removePushed(
  deps: ConnectorDeps,
  caller: ConnectorCaller,
  externalId: string,
): Promise<{ result: "removed" | "held" | "absent" }> {
  const { connectorId } = await requirePushable(deps, caller);
  if (isChildId(externalId)) {
    const message = "This file is inside another file. Remove the outer file, or send it again without this one.";
    throw new ApiError("invalid_request", { message, field: "externalId" });
  }
  const ops = [{ type: "delete", externalId, subtree: false }] as const;
  const outcome = (await applyOps(deps, caller.workspaceId, connectorId, ops))?.outcomes[0];
  return { result: outcome === "removed" || outcome === "held" ? outcome : "absent" };
}
