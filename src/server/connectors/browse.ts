import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { ApiError, forbidden } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import type { Source } from "#sources/contract.ts";
import { requireMayConnect } from "./credentials.ts";
import { requireActs } from "./acts.ts";
import type { ConnectorDeps } from "./deps.ts";
import {
  makeContext,
  parseConfig,
  requireAccountPlace,
  requireUsable,
  credentialsOfActor,
  withAccountPlace,
} from "./sources.ts";

/**
 * Lists the children of a node in a source.
 *
 * @throws ApiError `provider_unknown`, `provider_unavailable`, `connector_config_invalid`, `forbidden`, and the
 *   source's own errors
 */
export async function browseSource(deps: ConnectorDeps, { actor, body }: MemberCall<typeof connectorRoutes.browse>) {
  const source = await requireUsable(deps, actor, body);
  if (!source.browse) throw nothingToChoose(source);
  const standing = await credentialsOfActor(deps, actor, source, body);
  const config = parseConfig(source, withAccountPlace(source, body.config, standing));
  requireMayConnect(actor, source, config, standing);
  requireAccountPlace(source, config, standing);
  const context = makeContext(deps, source, config, { id: "", name: "", ...standing });
  const { parent = null, query, cursor } = body;
  return source.browse(context, {
    parent,
    ...defined({ query, cursor }),
  });
}

/**
 * Lists the children of a node in a connector's source, with the connector's settings and credentials. The list shows
 * everything that the person who gave the credentials may read, so no one else can browse, not even an admin.
 * Source: S5.
 *
 * @throws ApiError `not_found`, `forbidden`, `provider_unavailable`, and the source's own errors
 */
export async function browseConnector(
  deps: ConnectorDeps,
  {
    actor,
    params: { id: connectorId },
    body: { parent = null, query, cursor },
  }: MemberCall<typeof connectorRoutes.browseOwn>,
) {
  const connector = await requireActs(deps, actor, connectorId, ["browse"]);
  const { workspaceId, userId } = actor;
  const giver = await deps.credentials.giverOf(workspaceId, connector);
  if (giver !== undefined && giver !== userId) {
    throw forbidden(
      "Someone else gave this connector's credentials, and only they can browse its source with them.",
      "Give it credentials of your own first.",
    );
  }
  const { providerId, config, name, connectionId } = connector;
  if (connectionId !== null) await deps.connections.requireOwn(actor, connectionId);
  const source = await requireUsable(deps, actor, { providerId });
  if (!source.browse) throw nothingToChoose(source);
  const standing = await deps.credentials.credentialsOf(workspaceId, connector);
  requireMayConnect(actor, source, parseConfig(source, config), standing);
  const context = makeContext(deps, source, config, { id: connectorId, name, ...standing });
  return source.browse(context, { parent, ...defined({ query, cursor }) });
}

function nothingToChoose({ spec }: Source): ApiError {
  return new ApiError("provider_unavailable", { message: `${spec.name} has nothing to choose from.` });
}
