import { createHmac } from "node:crypto";
import { normalizeBaseUrl } from "#core/base-url.ts";
import type { RandomBytes } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import { formatPrincipal, type Principal } from "#core/principals.ts";
import { randomSecret } from "#core/secrets.ts";
import type { Source } from "#sources/contract.ts";
import type { WebhookChange, WebhookDelivery, WebhookRequest } from "#sources/webhook.ts";
import type { ConnectorAddress } from "#storage/records/webhooks.ts";
import type { Store } from "#storage/records/store.ts";
import { requestChangedPeople } from "#server/sync/schedule/identity-requests.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import { runForWebhook } from "#server/sync/schedule/run-for-changes.ts";

/** Receives notifications from apps and requests the runs for them. */
export interface WebhookReceiver {
  /**
   * Handles a notification for one connector, or for the installation that it names.
   *
   * @returns the response that the app expects, if any; undefined when it is not correctly signed, for whatever reason
   */
  receive(
    to: { providerId: string; connectorId?: string },
    request: Omit<WebhookRequest, "receivedAt">,
  ): Promise<{ reply?: WebhookDelivery["reply"] } | undefined>;
}

export interface WebhookReceiverOptions {
  store: Store;
  findSource(providerId: string): Promise<Source | undefined> | Source | undefined;
  /** Returns a connector's secret; a random secret if there is no such connector. */
  secretOf(providerId: string, connectorId: string): Promise<{ secret: string; whose?: ConnectorAddress }>;
  /** Stores a secret that an app generated, if a person is waiting for it. */
  takeSecret(to: { providerId: string; connectorId: string }, secret: string): Promise<boolean>;
  /** The secrets of apps that have one webhook for all their connectors. */
  appSecrets: Readonly<Record<string, string>>;
  now: () => number;
  randomBytes: RandomBytes;
  log: Log;
}

/** Notifications that arrive within this time after the first one share its run. */
const TOGETHER_MS = 5_000;
/** The number of deliveries that are remembered, in some 2 MB. Replaying an older delivery costs one more run. */
const MAX_DELIVERIES = 10_000;
/** A request that offers a secret contains nothing else, so it is small. */
const MAX_OFFER_BYTES = 1024;

/**
 * Makes the receiver of webhooks. Anyone may send anything to it. Until the signature is verified, it doesn't parse the
 * body, logs nothing and calls no provider, and every failure does the same work: one lookup of a secret and one
 * verification. A verified request queues a run that starts in 5 seconds, which later requests join. The run is queued
 * before the response, so nothing is lost if this process ends.
 */
export function makeWebhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const { store, findSource, secretOf, takeSecret, appSecrets, now, randomBytes, log } = options;
  const nobodysSecret = randomSecret(randomBytes);
  const delivered = new Set<string>();

  async function secretFor({ providerId, connectorId }: { providerId: string; connectorId?: string }) {
    if (connectorId !== undefined) {
      const { secret, whose } = await secretOf(providerId, connectorId);
      return { secret, isKnown: whose !== undefined, whose };
    }
    const secret = Object.hasOwn(appSecrets, providerId) ? appSecrets[providerId] : undefined;
    return { secret: secret ?? nobodysSecret, isKnown: secret !== undefined, whose: undefined };
  }

  async function targetsOf(source: Source, target: WebhookDelivery["target"]): Promise<ConnectorAddress[]> {
    const baseUrl = target && normalizeBaseUrl(target.instance);
    if (baseUrl === undefined) return [];
    const targets: ConnectorAddress[] = [];
    for (const at of await store.webhooks.listActive(source.spec.providerId)) {
      const { connectors, instances } = store.in(at.workspaceId);
      const connector = await connectors.find(at.connectorId);
      const config = source.spec.config.safeParse(connector?.config);
      if (!config.success || normalizeBaseUrl(source.baseUrlOf?.(config.data) ?? "") !== baseUrl) continue;
      const { installationOf } = source.webhook ?? {};
      const installation = installationOf ? installationOf(config.data) : await instances.tenantOf(at.connectorId);
      if (installation === target?.installation) targets.push(at);
    }
    return targets;
  }

  async function wake(source: Source, at: ConnectorAddress, changes: readonly WebhookChange[]): Promise<void> {
    const changedPeople = source.syncIdentities ? changedPeopleIn(at, changes) : { groups: [], isAll: false };
    await store.transaction(async (tx) => {
      const connector = await tx.in(at.workspaceId).connectors.find(at.connectorId);
      if (connector?.state !== "active") return;
      const common = { trigger: "webhook", now: now(), notBefore: now() + TOGETHER_MS, randomBytes } as const;
      const run = source.sessions && runForWebhook(connector, changes);
      if (run) await requestSync(tx, at.workspaceId, connector, { ...common, ...run });
      await requestChangedPeople(tx, at.workspaceId, connector, { ...changedPeople, now: now(), randomBytes });
    });
  }

  /**
   * Whether the secret in the request was stored. Only a request for one connector can offer a secret, and only people
   * who can see the connector know its address.
   */
  async function isTaken(
    source: Source | undefined,
    { providerId, connectorId }: { providerId: string; connectorId?: string },
    request: Pick<WebhookRequest, "headers" | "rawBody">,
  ): Promise<boolean> {
    if (connectorId === undefined || request.rawBody.length > MAX_OFFER_BYTES) return false;
    const offered = offeredBy(source, request);
    return offered !== undefined && (await takeSecret({ providerId, connectorId }, offered));
  }

  return {
    async receive(to, { headers, rawBody }) {
      const source = await findSource(to.providerId);
      const { secret, isKnown, whose } = await secretFor(to);
      const verified = verify(source, secret, { headers, rawBody, receivedAt: now() });
      if (verified === "refused" && (await isTaken(source, to, { headers, rawBody }))) {
        log.info(to, "An app sent its webhook's secret");
        return {};
      }
      if (!isKnown || !source || verified === "refused") return undefined;
      const { delivery, changes, target, reply } = verified;
      const name = delivery && JSON.stringify([to.providerId, to.connectorId, delivery]);
      if (name === undefined || !delivered.has(name)) {
        const targets = whose ? [whose] : await targetsOf(source, target);
        for (const at of changes.length > 0 ? targets : []) await wake(source, at, changes);
        log.debug({ ...to, changes: changes.length, connectors: targets.length }, "a webhook was accepted");
        if (name !== undefined) remember(name);
      }
      return reply ? { reply } : {};
    },
  };

  function remember(name: string): void {
    delivered.add(name);
    for (const oldest of delivered) {
      if (delivered.size <= MAX_DELIVERIES) break;
      delivered.delete(oldest);
    }
  }
}

/**
 * Verifies the signature. An error in the source's code is a refusal and isn't reported, because its message may
 * contain the body.
 */
function verify(source: Source | undefined, secret: string, request: WebhookRequest): WebhookDelivery | "refused" {
  if (!source?.webhook) {
    // Takes about as long as a source's verification.
    createHmac("sha256", secret).update(request.rawBody).digest();
    return "refused";
  }
  try {
    return source.webhook.verify(secret, request);
  } catch {
    return "refused";
  }
}

/** Returns the secret that a request offers; undefined if the source's code fails. */
function offeredBy(
  source: Source | undefined,
  request: Pick<WebhookRequest, "headers" | "rawBody">,
): string | undefined {
  try {
    return source?.webhook?.offeredSecret?.(request);
  } catch {
    return undefined;
  }
}

/** Returns the people and groups to read. Ids that can't be groups are left out. */
function changedPeopleIn({ connectorId }: ConnectorAddress, changes: readonly WebhookChange[]) {
  const ids = changes.flatMap((change) => (change.t === "groups" ? change.ids : []));
  const groups = ids.flatMap((id): Principal[] => {
    try {
      return [formatPrincipal({ type: "source_group", connectorId, id })];
    } catch {
      return [];
    }
  });
  return { groups, isAll: changes.some(({ t }) => t === "people") };
}
