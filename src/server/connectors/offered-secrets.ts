import type { ConnectorAddress } from "#storage/records/webhooks.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

/** Waits for webhook secrets that an app generates and sends in an unsigned request. Source: S42. */
export type OfferedSecrets = ReturnType<typeof makeOfferedSecrets>;

/** How long an app can offer a secret, and how long a person can read the accepted secret; milliseconds. */
const WAIT_MS = 3_600_000;
/** The format of a secret: visible characters without spaces. */
const SECRET = /^[\x21-\x7e]{16,512}$/;

/**
 * When this process ends, the wait ends too, and the person requests the secret again. An attacker who knows the
 * address and is faster than the app can get their own secret accepted. The app doesn't have that secret, so the
 * person's next step at the app fails, and a new request replaces it.
 */
export function makeOfferedSecrets({
  webhookSecrets,
  now,
}: {
  webhookSecrets: Pick<WebhookSecrets, "take" | "open">;
  now: () => number;
}) {
  const waiting = new Map<string, ConnectorAddress & { providerId: string; until: number }>();
  function current(connectorId: string) {
    const found = waiting.get(connectorId);
    return found && found.until > now() ? found : undefined;
  }

  return {
    /** Waits for the secret of a connector whose previous secret has ended. */
    wait(at: ConnectorAddress & { providerId: string }): void {
      for (const [id, { until }] of waiting) if (until <= now()) waiting.delete(id);
      waiting.set(at.connectorId, { ...at, until: now() + WAIT_MS });
    },
    /** Whether a secret is awaited; after it was offered, also the secret, for as long as it can be read. */
    async find({
      workspaceId,
      connectorId,
    }: ConnectorAddress): Promise<{ until: number; secret: string | null } | undefined> {
      const found = current(connectorId);
      if (found?.workspaceId !== workspaceId) return undefined;
      return { until: found.until, secret: (await webhookSecrets.open(workspaceId, connectorId)) ?? null };
    },
    /** Accepts an unsigned offer. @returns whether a person waited for it, so that it is now the connector's secret */
    async offer(
      { providerId, connectorId }: { providerId: string; connectorId: string },
      secret: string,
    ): Promise<boolean> {
      const found = current(connectorId);
      if (found?.providerId !== providerId || !SECRET.test(secret)) return false;
      return webhookSecrets.take(found, secret, now());
    },
  };
}
