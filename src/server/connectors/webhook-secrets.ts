import type { Parts } from "#storage/records/parts.ts";
import { randomSecret } from "#core/secrets.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorAddress } from "#storage/records/webhooks.ts";
import type { Store } from "#storage/records/store.ts";
import { sealedIn } from "#storage/vault.ts";

/**
 * The secrets with which apps sign the notifications for one connector. They are sealed in the store, and shown once to
 * the person who made them.
 */
export type WebhookSecrets = ReturnType<typeof makeWebhookSecrets>;

export function makeWebhookSecrets({
  store,
  vault,
  randomBytes,
  log,
}: Pick<Parts, "store" | "randomBytes" | "log" | "vault">) {
  const nowhere = placeOf("", "");
  const decoy = vault.seal(nowhere, randomSecret(randomBytes));
  async function put(
    tx: Store,
    { workspaceId, connectorId }: ConnectorAddress,
    madeAt: number,
    secret = randomSecret(randomBytes),
  ): Promise<string> {
    const sealed = vault.seal(placeOf(workspaceId, connectorId), secret);
    await tx.in(workspaceId).connectors.putWebhook({ connectorId, sealed, madeAt });
    return secret;
  }

  return {
    /** Makes a new secret in place of the previous one, in the transaction of the change that causes it. */
    rotate: (tx: Store, { workspaceId }: Actor, connectorId: string, now: number): Promise<string> =>
      put(tx, { workspaceId, connectorId }, now),
    /** Returns the connector's secret; creates one if there is none. */
    ensure: (workspaceId: string, connectorId: string, now: number): Promise<{ secret: string; madeAt: number }> =>
      store.transaction(async (tx) => {
        const found = await tx.in(workspaceId).connectors.findWebhook(connectorId);
        if (!found) return { secret: await put(tx, { workspaceId, connectorId }, now), madeAt: now };
        return { secret: vault.open(placeOf(workspaceId, connectorId), found.sealed), madeAt: found.madeAt };
      }),
    /** Deletes the connector's secret, in the transaction of the change that causes it. */
    end: (tx: Store, { workspaceId }: Actor, connectorId: string) =>
      tx.in(workspaceId).connectors.deleteWebhook(connectorId),
    /** The connector's secret, if there is one. */
    async open(workspaceId: string, connectorId: string): Promise<string | undefined> {
      const found = await store.in(workspaceId).connectors.findWebhook(connectorId);
      return found && vault.open(placeOf(workspaceId, connectorId), found.sealed);
    },
    /**
     * Stores a secret that the app generated, if there is none yet and the connector isn't being deleted.
     *
     * @returns whether it did
     */
    take: (at: ConnectorAddress, secret: string, now: number): Promise<boolean> =>
      store.transaction(async (tx) => {
        const { connectors } = tx.in(at.workspaceId);
        const connector = await connectors.find(at.connectorId);
        if (!connector || connector.state === "deleting" || (await connectors.findWebhook(at.connectorId)))
          return false;
        await put(tx, at, now, secret);
        return true;
      }),
    /** Returns the secret and its owner. If there is none, returns a random secret after the same amount of work. */
    async find(providerId: string, connectorId: string): Promise<{ secret: string; whose?: ConnectorAddress }> {
      const found = await store.webhooks.find(connectorId);
      if (found?.providerId === providerId) {
        const { workspaceId, sealed } = found;
        try {
          return { secret: vault.open(placeOf(workspaceId, connectorId), sealed), whose: { workspaceId, connectorId } };
        } catch (error) {
          // To the outside, this looks like a connector without a secret.
          log.error({ connectorId, error }, "The secret of a webhook can't be read; make a new one");
        }
      }
      return { secret: vault.open(nowhere, decoy) };
    },
  };
}

const placeOf = sealedIn("connector_webhooks");
