import { actOn } from "#storage/audit-act.ts";
import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { ApiError } from "#api/errors.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import type { Actor } from "#storage/access/actor.ts";
import { requireActs } from "./acts.ts";
import { type ConnectorDeps, requireManaged, requireSource } from "./deps.ts";

/** @throws ApiError `not_found`, `connector_state_conflict` if the source has no webhook */
export async function showWebhook(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId } }: MemberCall<typeof connectorRoutes.webhook>,
) {
  const connector = await requireManaged(deps.store, actor, connectorId);
  await requireWebhook(deps, connector.providerId);
  return { webhook: await addressOf(deps, actor, connector) };
}

/**
 * Makes a new secret and ends the previous one. Returns null if the app generates secrets; then kb waits for one.
 *
 * @throws ApiError as `showWebhook`
 */
export async function rotateWebhook(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId } }: MemberCall<typeof connectorRoutes.rotateWebhook>,
) {
  const connector = await requireActs(deps, actor, connectorId, ["webhook"]);
  const { providerId } = connector;
  const isOffered = (await requireWebhook(deps, providerId)).offeredSecret !== undefined;
  const secret = await deps.store.transaction(async (tx) => {
    await deps.audit.record(tx, actor, actOn(connectorId, "connector.webhook_rotated", {}));
    if (!isOffered) return deps.webhookSecrets.rotate(tx, actor, connectorId, deps.clock.now());
    await deps.webhookSecrets.end(tx, actor, connectorId);
    return null;
  });
  if (isOffered) deps.offeredSecrets.wait({ workspaceId: actor.workspaceId, connectorId, providerId });
  return { webhook: await addressOf(deps, actor, connector), secret };
}

/** The URL to which an app sends notifications of changes in one connector. */
export function webhookUrl(baseUrl: string, providerId: string, connectorId: string): string {
  return `${baseUrl}/hooks/${providerId}/${connectorId}`;
}

async function addressOf(
  { store, baseUrl, sources, offeredSecrets }: ConnectorDeps,
  actor: Actor,
  { providerId, connectorId }: { providerId: string; connectorId: string },
) {
  const { connectors, webhookSubscriptions } = store.in(actor.workspaceId);
  const made = await connectors.findWebhook(connectorId);
  const found = await webhookSubscriptions.find(connectorId);
  const isThere = found && (found.data !== null || found.problem !== null);
  const { webhook } = await requireSource(sources, providerId);
  const offered = await offeredSecrets.find({ workspaceId: actor.workspaceId, connectorId });
  return {
    url: webhookUrl(baseUrl, providerId, connectorId),
    secretCreatedAt: isoOrNull(made?.madeAt ?? null),
    secretFrom: webhook?.offeredSecret ? ("app" as const) : ("kb" as const),
    offered: offered ? { until: isoOf(offered.until), secret: offered.secret } : null,
    subscription: isThere ? { expiresAt: isoOrNull(found.expiresAt), problem: found.problem } : null,
  };
}

async function requireWebhook({ sources }: ConnectorDeps, providerId: string) {
  const { spec, webhook } = await requireSource(sources, providerId);
  if (webhook) return webhook;
  throw new ApiError("connector_state_conflict", {
    message: `${spec.name} connectors have no webhook: kb finds changes on the connector's schedule.`,
  });
}
