import type { RandomBytes } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import { randomSecret } from "#core/secrets.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorAddress } from "#storage/records/webhooks.ts";
import type { Store } from "#storage/store.ts";
import type { SealedPlace, Vault } from "#storage/vault.ts";

/** What apps sign their notifications of one connector with: sealed in the store, shown to who made it, once. */
export interface WebhookSecrets {
  /** A new one in place of the one before, in the transaction of its reason. */
  rotate(tx: Store, actor: Actor, connectorId: string, now: number): Promise<string>;
  /** The one that it has, or a new one. */
  ensure(workspaceId: string, connectorId: string, now: number): Promise<{ secret: string; madeAt: number }>;
  /** Whose it is, and the secret. Where there is none, a secret that nobody has, after the same work. */
  find(providerId: string, connectorId: string): Promise<{ secret: string; whose?: ConnectorAddress }>;
}

/** Makes the keeper of them. */
export function makeWebhookSecrets({
  store,
  vault,
  randomBytes,
  log,
}: {
  store: Store;
  vault: Vault;
  randomBytes: RandomBytes;
  log: Log;
}): WebhookSecrets {
  const nowhere = placeOf("", "");
  const decoy = vault.seal(nowhere, randomSecret(randomBytes));
  async function put(tx: Store, workspaceId: string, connectorId: string, madeAt: number): Promise<string> {
    const secret = randomSecret(randomBytes);
    const sealed = vault.seal(placeOf(workspaceId, connectorId), secret);
    await tx.in(workspaceId).connectors.putWebhook({ connectorId, sealed, madeAt });
    return secret;
  }

  return {
    rotate: (tx, actor, connectorId, now) => put(tx, actor.workspaceId, connectorId, now),
    ensure: (workspaceId, connectorId, now) =>
      store.transaction(async (tx) => {
        const found = await tx.in(workspaceId).connectors.findWebhook(connectorId);
        if (!found) return { secret: await put(tx, workspaceId, connectorId, now), madeAt: now };
        return { secret: vault.open(placeOf(workspaceId, connectorId), found.sealed), madeAt: found.madeAt };
      }),
    async find(providerId, connectorId) {
      const found = await store.webhooks.find(connectorId);
      if (found?.providerId === providerId) {
        const { workspaceId, sealed } = found;
        try {
          return { secret: vault.open(placeOf(workspaceId, connectorId), sealed), whose: { workspaceId, connectorId } };
        } catch (error) {
          // For everybody outside it is as if there were none.
          log.error({ connectorId, error }, "The secret of a webhook can't be read; make a new one");
        }
      }
      return { secret: vault.open(nowhere, decoy) };
    },
  };
}

function placeOf(workspaceId: string, connectorId: string): SealedPlace {
  return { table: "connector_webhooks", row: [workspaceId, connectorId], column: "sealed" };
}
