import type { ConnectorAddress } from "#storage/records/webhooks.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

/** Waits for webhook secrets that apps make and send unsigned. Source: S42. */
export type OfferedSecrets = ReturnType<typeof makeOfferedSecrets>;

/** How long an app can offer a secret, and a person can read the one that was taken. */
const WAIT_MS = 3_600_000;
/** The form of a secret: visible characters without spaces. */
const SECRET = /^[\x21-\x7e]{16,512}$/;

/**
 * Waiting ends with this process: then a person asks again. An attacker who knows the address and is faster than the
 * app gets a secret of theirs in, which the app does not know: the person's next step there fails, and asking again
 * ends it.
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
    /** Waits for the secret of a connector whose former one has ended. */
    wait(at: ConnectorAddress & { providerId: string }): void {
      for (const [id, { until }] of waiting) if (until <= now()) waiting.delete(id);
      waiting.set(at.connectorId, { ...at, until: now() + WAIT_MS });
    },
    /** Whether a secret is awaited; the secret once it was offered, for that long. */
    async find({
      workspaceId,
      connectorId,
    }: ConnectorAddress): Promise<{ until: number; secret: string | null } | undefined> {
      const found = current(connectorId);
      if (found?.workspaceId !== workspaceId) return undefined;
      return { until: found.until, secret: (await webhookSecrets.open(workspaceId, connectorId)) ?? null };
    },
    /** Takes an unsigned offer. Returns whether a person waited for it, so that it is the connector's secret now. */
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
